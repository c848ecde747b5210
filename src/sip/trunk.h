/* Inside the SIP user agent: the trunks, which are SIP providers and PBXs that take outgoing calls (docs/telephony.md).
 * A peer of the configuration with a server is a trunk. */
#pragma once
#include <re/re.h>

#include "base/arena.h"
#include "base/config.h"
#include "media/crypto.h"
#include "sip/resolve.h"

#define SIP_ROUTE_URI     384
#define SIP_ROUTE_HEADERS 1536
#define SIP_TRUNK_ERROR   160

struct sip_agent;
struct sip_stack;

enum sip_trunk_state {
    SIP_TRUNK_TRYING, /* no result yet */
    SIP_TRUNK_UP,
    SIP_TRUNK_FAILING, /* its server answers, but a call failed a short time ago: the last choice */
    SIP_TRUNK_DOWN
};

struct sip_trunk {
    struct sip_agent *agent;
    const struct config_peer *peer;
    const char *password; /* in the arena of sip_trunks; NULL: no user */
    unsigned calls;       /* outgoing, now */

    enum sip_trunk_state state;
    int64_t since_us; /* of the state; the service's clock */
    char error[SIP_TRUNK_ERROR], tls_error[SIP_TRUNK_ERROR];
    int64_t failing_until_ms; /* monotonic, as are all below */

    struct sip_resolve resolve;
    int64_t resolve_ms; /* next look-up */
    struct sip_target targets[SIP_TARGETS_MAX];
    size_t target_count, target, tried; /* the target in use; how many failed in this round */

    struct tmr timer; /* the next request, or the end of the wait for a response */
    struct sip_request *request;
    struct sip_auth *auth;
    bool registering; /* the request is a REGISTER */
    bool registered;
    bool leaving; /* the request ends the registration, and is the last one */
    char call_id[20], tag[20];
    uint32_t cseq, expires_s;
    unsigned repeated;  /* the request, with credentials or a longer expiry */
    unsigned refusals;  /* of the registration, in a row */
    int64_t refresh_ms; /* the registration is renewed then; 0: at once */
};

struct sip_trunks {
    struct arena arena;
    struct sip_trunk list[CONFIG_PEERS_MAX];
    size_t count;
    struct dnsc *dnsc;          /* NULL: names are not found */
    struct tmr publish, forget; /* forget: of sip/tls.c */
};

/* How to place one call: arguments of sipsess_connect(). */
struct sip_route {
    char uri[SIP_ROUTE_URI];         /* of the request and of To */
    char outbound[SIP_ROUTE_URI];    /* the only member of the route set, or "" for an empty one */
    char from[SIP_ROUTE_URI];        /* From */
    char cuser[SIP_ROUTE_URI];       /* Contact, as libre takes it: the user part, or a URI */
    char headers[SIP_ROUTE_HEADERS]; /* lines that end with CRLF, or "" */
    sip_auth_h *auth;
    void *auth_arg; /* no reference needed: it lives as long as the agent */
    struct sip_stack *stack;
    enum media_srtp srtp; /* of our offer */
    struct sip_trunk *trunk;
};

/* Reads the trunks' secrets and the name servers. Fails with ERR_USAGE and writes a reason. */
enum err sip_trunks_init(struct sip_agent *a, char *why, size_t why_size) CHECKED;
/* Registers at the trunks and asks whether they are up, from now on. Needs a->sip with its transports. */
void sip_trunks_start(struct sip_agent *a);
/* Ends the registrations; sip_agent_settled() is called when one has ended. */
void sip_trunks_leave(struct sip_agent *a);
bool sip_trunks_leaving(const struct sip_agent *a);
/* Must precede the end of a->sip. */
void sip_trunks_done(struct sip_agent *a);

/* The next way to call `number` (E.164, or the digits of an extension): trunks in the order of the configuration that
 * are up and below their limit of calls, then those whose last call failed. *tried is 0 for the first way and then as
 * left by the one before. `as` is the number that calls, such as the building's; `original` the number that was
 * diverted, or NULL. False if there is no further way. Place the call before control returns to the loop. */
bool sip_trunk_route(struct sip_agent *a, unsigned *tried, const char *number, const char *as, const char *original,
                     struct sip_route *ret);
/* Lets the same trunk be the next way once more. */
void sip_trunk_again(const struct sip_agent *a, unsigned *tried, const struct sip_trunk *t);
/* Counts a call of the trunk, from the INVITE until its end. */
void sip_trunk_enter(struct sip_trunk *t);
void sip_trunk_leave(struct sip_trunk *t);
/* Reports the end of an attempt to place a call: `error` (errno) without an answer, otherwise its final status. Returns
 * whether another trunk may succeed: no answer, a refused password, 408 or 5xx, after which the trunk is the last
 * choice for a while, or a redirection, which is not followed. */
bool sip_trunk_result(struct sip_agent *a, struct sip_trunk *t, int error, int status);
