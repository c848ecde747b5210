/* Inside the SIP user agent: its calls, and the dialogs of them and of the legs to residents, by Call-ID. */
#pragma once
#include <re/re.h>

struct sip_call;

struct sip_dialogs {
    struct list calls;  /* sip_call */
    unsigned count;     /* length of calls */
    unsigned unproven;  /* calls without proof: sip/admit.h */
    struct list ended;  /* ended and about to be freed */
    struct hash *by_id; /* sip_call by Call-ID */
    struct hash *legs;  /* sip_leg by Call-ID */
    unsigned serial;    /* of the last call, for the log */
};

/* Returns 0 or errno. */
int sip_dialogs_init(struct sip_dialogs *d);
/* Frees the calls that have ended. */
void sip_dialogs_flush(struct sip_dialogs *d);
void sip_dialogs_done(struct sip_dialogs *d);
/* A call has begun. */
void sip_dialogs_enter(struct sip_dialogs *d, struct sip_call *c);
/* It has ended. The list of the ended ones keeps it until it is freed. */
void sip_dialogs_leave(struct sip_dialogs *d, struct sip_call *c);
