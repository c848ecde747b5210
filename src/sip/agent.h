/* Inside the SIP user agent: the state that its files share. */
#pragma once
#include <pthread.h>
#include <re/re.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/mailbox.h"
#include "base/metric.h"
#include "call/log.h"
#include "media/tick.h"
#include "sip/attempts.h"
#include "sip/code.h"
#include "sip/command.h"
#include "sip/digest.h"
#include "sip/greeting.h"
#include "sip/local.h"
#include "sip/peers.h"
#include "sip/sip.h"
#include "sip/source.h"
#include "sip/tls.h"
#include "sip/trunk.h"

struct known;
struct sip_stack;
struct sip_trace;
struct speech;
struct spoken;
struct webrtc;

/* The stages of a stop (sip/drain.h). */
enum sip_drain {
    SIP_DRAIN_SERVES, /* or the agent does not stop */
    SIP_DRAIN_REFUSES,
    SIP_DRAIN_TELLS,
    SIP_DRAIN_ENDS
};

struct sip_agent {
    const struct config *config;
    struct store *store;
    struct trunk_board *board;
    pthread_t thread;
    sem_t started;
    enum err start_error;
    char why[200];
    char address[64];
    bool winding_down; /* of the owner's thread */

    /* of the agent's thread */
    struct sip_peers peers;
    struct sip_trunks trunks;
    struct sip_tls tls;
    struct sip_trace *trace; /* NULL: none */
    struct sip_local local;
    struct list stacks;            /* sip_stack, at least one */
    struct sip *sip;               /* of the first of them, which is for requests of ours */
    struct sipsess_sock *sessions; /* of it */
    struct mailbox box;
    struct tick *tick;
    struct speech *speech;         /* NULL: signal tones */
    struct greeting_wishes wishes; /* of other threads */
    struct sip_codes codes;        /* calls that tell codes */
    struct sip_commands commands;  /* of residents, to calls */
    struct spoken *spoken;         /* NULL: no spoken codes */
    struct webrtc *webrtc;         /* residents' browsers; NULL: the port could not be bound */
    struct list calls;             /* sip_call */
    unsigned call_count;           /* of them */
    struct list ended;             /* ended and about to be freed */
    unsigned unproven;             /* calls: sip/admit.h */
    struct list sign_ins;          /* requests whose password is being checked */
    unsigned sign_in_count;
    struct sip_nonces nonces;
    struct sip_attempts attempts;
    struct sip_sources sources;
    struct hash *dialogs; /* sip_call by Call-ID */
    struct hash *legs;    /* sip_leg by Call-ID */
    unsigned serial;      /* of calls, for the log */
    unsigned asking;      /* pending decisions */
    unsigned refusals;    /* since refusals_ms, repeated by libre */
    int64_t refusals_ms;
    unsigned limited[METRIC_REFUSAL_VALUES]; /* INVITEs refused, since the last line in the log */
    int64_t limited_ms;
    unsigned lines; /* of calls that were never established, since lines_ms */
    int64_t lines_ms;
    unsigned
        outgoing; /* libre's sessions for calls of ours: some outlive their leg until a CANCEL or BYE is answered */
    struct known *known;
    bool stopping;
    enum sip_drain drain;
    int64_t drain_ms;                     /* when it ends */
    void (*settled)(struct sip_agent *a); /* stopping, and no call or decision is left */
    bool leaving, left; /* after the last call: waiting for those and for the trunks; no longer waiting */
    struct mail stop, reload;
    atomic_bool reloading; /* reload was posted */
    struct tmr stop_timer, leave_timer, pulse_timer, keys_timer;
    _Atomic int64_t turned_us;      /* when the loop last turned, */
    _Atomic unsigned calls_at_turn; /* and call_count then */
    int64_t stop_wait_ms;
};

/* Stopping: whether no new call is taken, and no telephone rings any more. */
static inline bool sip_agent_refuses(const struct sip_agent *a)
{
    return a->leaving || a->drain >= SIP_DRAIN_REFUSES;
}
static inline bool sip_agent_closes(const struct sip_agent *a)
{
    return a->drain >= SIP_DRAIN_TELLS;
}

/* A call ended, a decision came, or something that a leaving agent waits for is done. Ends the loop of a stopping agent
 * after the last one. */
void sip_agent_settled(struct sip_agent *a);

/* A header of each 503: this node cannot serve now, another one may (RFC 3261, 21.5.4). */
#define SIP_RETRY_AFTER "Retry-After: 5\r\n"

/* Refuses a request without state: a repetition is handled as a new request. `header` is "" or ends with CRLF. */
void sip_refuse(struct sip_agent *a, const struct sip_msg *msg, uint16_t status, const char *reason,
                const char *header);
/* Counts an INVITE that was refused for lack of a place. */
void sip_agent_limited(struct sip_agent *a, enum metric_label_REFUSAL limit);
/* Logs their numbers, at most once in ten seconds. To be called about once a second. */
void sip_agent_tell_limited(struct sip_agent *a);
/* "udp", "tcp", "tls" */
const char *sip_agent_transport(enum sip_transp tp);
/* Fills the record of a call from its INVITE. */
void sip_agent_record(struct call_record *r, const struct sip_msg *msg, const struct uri *dialled);
/* Limits the log lines of calls that were never established: anybody can cause them. False: suppress the line. */
bool sip_agent_may_tell(struct sip_agent *a);

/* Begins the call of an admitted INVITE. `caller`: the number of a caller that signed in, "" if it has none: then the
 * INVITE has it; NULL: the caller did not sign in. */
void sip_call_invite(struct sip_stack *s, const struct sip_msg *msg, const char *caller);
/* Answers an INFO or a BYE to a call that was not acknowledged yet; false if it is none. */
bool sip_call_take_early(struct sip_stack *s, const struct sip_msg *msg);
/* Whether a request with our tag belongs to a call. If the call was not acknowledged yet, this makes it a session,
 * which receives the request. */
bool sip_call_knows(struct sip_agent *a, const struct sip_msg *msg);
/* Answers an UPDATE. */
void sip_call_update(struct sip_stack *s, const struct sip_msg *msg);
/* Ends the calls of a stack at once; NULL: all of them. */
void sip_call_end_all(struct sip_agent *a, const struct sip_stack *s);
