/* Inside the SIP user agent: callers that sign in, and registrations (PHONE-4 to PHONE-7). */
#pragma once
#include "sip/attempts.h"
#include "sip/digest.h"

struct sip_agent;
struct sip_stack;

struct sip_boxes {
    struct list sign_ins; /* requests whose password is being checked */
    unsigned sign_in_count;
    struct sip_nonces nonces;
    struct sip_attempts attempts;
};

/* Returns 0 or errno. */
int sip_box_init(struct sip_agent *a);
/* Takes a REGISTER, or an INVITE whose caller must sign in: challenges it, or checks its password in the store and then
 * answers it or begins the call. False: the caller need not sign in. */
bool sip_box_take(struct sip_stack *s, const struct sip_msg *msg);
/* Drops all that is pending, at the end. */
void sip_box_done(struct sip_agent *a);
