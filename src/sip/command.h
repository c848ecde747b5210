/* Inside the SIP user agent: commands of residents to calls (domain/call_command.h). */
#pragma once
#include <pthread.h>

#include "sip/sip.h"

struct sip_agent;

struct sip_commands {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closed; /* the loop has ended */
};

void sip_commands_init(struct sip_agent *a);
/* On the agent's thread, after the loop has ended: later commands find no call. */
void sip_commands_close(struct sip_agent *a);
void sip_commands_done(struct sip_agent *a);
