/* Inside the SIP user agent: the trunks, which are SIP providers and PBXs that take outgoing calls (docs/telephony.md).
 * A peer of the configuration with a server is a trunk. */
#pragma once
#include <re/re.h>

#include "base/arena.h"
#include "base/config.h"

#define SIP_ROUTE_URI     384
#define SIP_ROUTE_HEADERS 1536

struct sip_agent;

struct sip_trunk {
    const struct config_peer *peer;
    const char *password; /* in the arena of sip_trunks; NULL: no user */
    unsigned calls;       /* outgoing, now */
};

struct sip_trunks {
    struct arena arena;
    struct sip_trunk list[CONFIG_PEERS_MAX];
    size_t count;
};

/* How to place one call: arguments of sipsess_connect(). */
struct sip_route {
    char uri[SIP_ROUTE_URI];         /* of the request and of To */
    char outbound[SIP_ROUTE_URI];    /* the only member of the route set, or "" for an empty one */
    char from[SIP_ROUTE_URI];        /* From */
    char cuser[SIP_ROUTE_URI];       /* user part of Contact */
    char headers[SIP_ROUTE_HEADERS]; /* lines that end with CRLF, or "" */
    sip_auth_h *auth;
    void *auth_arg; /* no reference needed: it lives as long as the agent */
    bool srtp;      /* offer SRTP */
    bool rtp;       /* offer RTP: false if the trunk requires SRTP */
    struct sip_trunk *trunk;
};

/* Reads the trunks' secrets. Fails with ERR_USAGE and writes a reason. sip_trunks_done() in any case. */
enum err sip_trunks_init(struct sip_agent *a, char *why, size_t why_size) CHECKED;
void sip_trunks_done(struct sip_agent *a);

/* The next way to call `number` (E.164, or the digits of an extension): trunks in the order of the configuration that
 * are up and below their limit of calls. *at is 0 for the first way and is moved on. `as` is the number that calls,
 * such as the building's; `original` the number that was diverted, or NULL. False if there is no further way. Place the
 * call before control returns to the loop. */
bool sip_trunk_route(struct sip_agent *a, unsigned *at, const char *number, const char *as, const char *original,
                     struct sip_route *ret);
/* Counts a call of the trunk, from the INVITE until its end. */
void sip_trunk_enter(struct sip_trunk *t);
void sip_trunk_leave(struct sip_trunk *t);
/* Reports the end of an attempt to place a call: `error` (errno) without an answer, otherwise its final status. Returns
 * whether another trunk may succeed: no answer, 408 or 5xx. */
bool sip_trunk_result(struct sip_agent *a, struct sip_trunk *t, int error, int status);
