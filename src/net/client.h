/* HTTP requests to other servers, with libcurl: no redirects, no proxies, no cookies; TLS 1.2 or later, certificates
 * verified. Time and the size of answers are limited. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum net_exchange {
    NET_ANSWERED, /* a complete answer arrived, of any status */
    NET_NOT_SENT, /* the peer cannot have received the request: host not found, no connection, TLS failed */
    NET_UNKNOWN   /* the peer may have received it: time-out, broken connection, answer too long or malformed */
};

struct net_header {
    const char *name;
    struct str value;
};

struct net_call {
    const char *method; /* "GET" */
    struct str url;     /* http or https */
    const struct net_header *headers;
    size_t header_count;
    struct str user, password; /* Basic authentication; STR_NONE without */
    struct str body;           /* STR_NONE without */
    bool repeatable;           /* may be sent twice, whatever the method: it carries an idempotency key */
    long timeout_ms;           /* for everything: name, connection, TLS, the whole answer */
    size_t answer_max;         /* bytes of a body */
    bool guarded;              /* to https and public addresses (net/guard.h) alone; a pool has such calls or others */
    const char *ca;            /* PEM file with the trusted authorities; NULL: the system's */
};

struct net_answer {
    long status;
    struct str body;          /* in the arena; NUL-terminated */
    struct str type;          /* the media type, without parameters; STR_NONE without one */
    struct str cache_control; /* all lines, joined by commas; STR_NONE without one */
};

/* A connection pool. Any thread may use it, for one call at a time. */
struct net_client;

enum err net_client_new(struct net_client **ret) CHECKED;
void net_client_free(struct net_client *c);
/* Blocks until the exchange is over. ret_answer is set when NET_ANSWERED. */
enum net_exchange net_client_call(struct net_client *c, const struct net_call *call, struct arena *a,
                                  struct net_answer *ret_answer);
