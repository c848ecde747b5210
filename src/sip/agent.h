/* Inside the SIP user agent: the state that its files share. */
#pragma once
#include <pthread.h>
#include <re/re.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/mailbox.h"
#include "call/log.h"
#include "media/tick.h"
#include "sip/box.h"
#include "sip/code.h"
#include "sip/command.h"
#include "sip/dialogs.h"
#include "sip/drain.h"
#include "sip/greeting.h"
#include "sip/limits.h"
#include "sip/local.h"
#include "sip/part.h"
#include "sip/peers.h"
#include "sip/pulse.h"
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

struct sip_agent {
    const struct config *config;
    struct store *store;
    struct trunk_board *board;
    struct known *known;
    struct { /* the agent's thread, and how its start went */
        pthread_t id;
        sem_t started;
        enum err error;
        char why[200];
    } thread;
    struct mail reload;
    atomic_bool reloading;         /* reload was posted */
    struct greeting_wishes wishes; /* of other threads */

    /* of the agent's thread */
    struct mailbox box;
    struct tick *tick;
    struct sip_trace *trace;             /* NULL: none */
    struct list stacks;                  /* sip_stack, at least one */
    struct sip *sip;                     /* of the first of them, which is for requests of ours */
    struct speech *speech;               /* NULL: signal tones */
    struct spoken *spoken;               /* NULL: no spoken codes */
    struct webrtc *webrtc;               /* residents' browsers; NULL: the port could not be bound */
    const struct sip_part *const *parts; /* of each call: SIP_PARTS of them, in the order of enum sip_place */
    struct tmr keys_timer;               /* sip/listener_keys.c */
    struct sip_peers peers;
    struct sip_trunks trunks;
    struct sip_tls tls;
    struct sip_local local;
    struct sip_codes codes;       /* calls that tell codes */
    struct sip_commands commands; /* of residents, to calls */
    struct sip_boxes boxes;
    struct sip_sources sources;
    struct sip_dialogs dialogs;
    struct sip_limits limits;
    int descriptors; /* libre takes lower ones only */
    struct sip_pulse pulse;
    struct sip_drain drain;
};

/* A call ended, a decision came, or something that a leaving agent waits for is done. Ends the loop of a stopping agent
 * after the last one. */
void sip_agent_settled(struct sip_agent *a);

/* A header of each 503: this node cannot serve now, another one may (RFC 3261, 21.5.4). */
#define SIP_RETRY_AFTER "Retry-After: 5\r\n"

/* Refuses a request without state: a repetition is handled as a new request. `header` is "" or ends with CRLF. */
void sip_refuse(struct sip_agent *a, const struct sip_msg *msg, uint16_t status, const char *reason,
                const char *header);
/* "udp", "tcp", "tls" */
const char *sip_agent_transport(enum sip_transp tp);
/* Fills the record of a call from its INVITE. */
void sip_agent_record(struct call_record *r, const struct sip_msg *msg, const struct uri *dialled);
