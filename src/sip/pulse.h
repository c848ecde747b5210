/* Inside the SIP user agent: the work of each second, and the signs of life for other threads (sip_pulse). */
#pragma once
#include <re/re.h>
#include <stdatomic.h>
#include <stdint.h>

struct sip_agent;

struct sip_pulse {
    struct tmr timer;
    _Atomic int64_t turned_us; /* when the loop last turned, monotonic, */
    _Atomic unsigned calls;    /* and the number of calls then */
};

void sip_pulse_start(struct sip_agent *a);
void sip_pulse_stop(struct sip_agent *a);
