/* Inside the SIP user agent: bounds of the records and of the repeated responses that strangers can cause. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/metric.h"
#include "base/refusals.h"

/* Zero at first. Times come from tick_now_ms(). */
struct sip_limits {
    unsigned repeated; /* refusals that libre repeats, since repeated_ms */
    int64_t repeated_ms;
    struct refusals refused; /* INVITEs */
    struct refusals full;    /* seconds without a descriptor */
    unsigned told;           /* calls that were never established, since told_ms */
    int64_t told_ms;
};

/* Whether one more refusal may be repeated until it is acknowledged, as RFC 3261 requires. Each costs memory for 32 s,
 * and its source may be forged: in a flood the others are sent once. */
bool sip_limits_may_repeat(struct sip_limits *l);
/* Limits the records of calls that were never established: anybody can cause them. False: it leaves no record and no
 * line. call_log() lets fewer lines pass. */
bool sip_limits_may_tell(struct sip_limits *l);
/* Counts an INVITE that was refused for lack of a place. */
void sip_limits_refused(struct sip_limits *l, enum metric_label_REFUSAL limit);
/* Logs their numbers. To be called about once a second. */
void sip_limits_tell(struct sip_limits *l);
