/* Inside the SIP user agent: what its thread shares among sip.c and sip_call.c. */
#pragma once
#include <pthread.h>
#include <re/re.h>
#include <semaphore.h>

#include "base/mailbox.h"
#include "voice/sip.h"
#include "voice/sip_peers.h"
#include "voice/tick.h"

struct sip_agent {
    const struct config *config;
    struct store *store;
    pthread_t thread;
    sem_t started;
    enum err start_error;
    char why[200];
    char address[64];
    bool winding_down; /* of the owner's thread */

    /* of the agent's thread */
    struct sip_peers peers;
    struct sip *sip;
    struct sipsess_sock *sessions;
    struct sip_lsnr *guard, *rest, *responses;
    char probe[20];            /* Call-ID of the filter's request to ourselves, until it came */
    struct udp_sock *udp;      /* the SIP socket, once known */
    struct udp_helper *filter; /* on it */
    struct mailbox box;
    struct tick *tick;
    struct list calls;   /* sip_call */
    unsigned call_count; /* of them */
    struct list ended;   /* those that are over and about to be freed */
    struct list waiting; /* those that nobody has acknowledged yet, oldest first */
    unsigned waiting_count;
    struct hash *sources; /* sip_source by address */
    struct hash *dialogs; /* sip_call by Call-ID */
    unsigned serial;      /* of calls, for the log */
    unsigned asking;      /* decisions the store still owes */
    unsigned refusals;    /* since refusals_ms, that libre repeats */
    int64_t refusals_ms;
    unsigned dropped; /* calls, since the last line in the log */
    int64_t dropped_ms;
    unsigned lines; /* about calls that did not come about, since lines_ms */
    int64_t lines_ms;
    bool stopping;
    struct mail stop;
    struct tmr stop_timer;
    int64_t stop_wait_ms;
};

/* A call is over, or a decision came in: the thread may be waiting for it to stop. */
void sip_agent_settled(struct sip_agent *a);

/* An INVITE outside a dialog, past the guard. */
void sip_call_invite(struct sip_agent *a, const struct sip_msg *msg);
/* Whether a request with a tag of ours is one of a call's. If that was waiting to be acknowledged, it is now a session,
 * to which the request is to go. */
bool sip_call_knows(struct sip_agent *a, const struct sip_msg *msg);
/* Ends every call at once. */
void sip_call_end_all(struct sip_agent *a);
