/* Inside the SIP user agent: calls that tell a one-time code (sip_call_code). Each belongs to a thread that waits until
 * its telephone rings, and then to the agent's thread alone. */
#pragma once
#include <pthread.h>
#include <re/re.h>

#include "base/mailbox.h"
#include "call/call.h"
#include "media/tick.h"
#include "sip/sip.h"

struct sip_agent;
struct sip_code_call;
struct sip_stack;

#define SIP_CODE_CALLS_MAX 8 /* at once */

struct sip_codes {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closed;                 /* the agent stops */
    int64_t hour_ms;             /* calls are counted since then, */
    int64_t hour_calls;          /* against sms.calls_per_hour */
    struct sip_code_call *calls; /* SIP_CODE_CALLS_MAX */
    struct tick_entry tick;      /* while there are calls; of the agent's thread, like all else below */
    bool ticking;
};

void sip_codes_init(struct sip_agent *a);
/* Has the words prepared, if codes are to be spoken. Needs the agent's speech. */
void sip_codes_start(struct sip_agent *a);
/* Ends the calls of a stack at once; NULL: all of them, and no further ones are placed. */
void sip_codes_end(struct sip_agent *a, const struct sip_stack *s);
/* Frees all. After the loop has ended. */
void sip_codes_done(struct sip_agent *a);
