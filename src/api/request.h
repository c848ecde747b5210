/* One API request between the gate and its handler, and its reply.
 *
 * All of it lives in the request's arena. A handler inside a write transaction may run more than once, so it must write
 * its results only through `struct reply`, which is cleared before each run. */
#pragma once
#include "api/limit.h"
#include "base/crypto.h"
#include "base/schema.h"
#include "domain/principal.h"
#include "domain/work.h"
#include "http/server.h"

struct door;
struct journal;
struct key_assumption;
struct parts;
struct route;
struct service;

struct request;

struct reply_header {
    const char *name;
    struct str value;
};

#define REPLY_MAX_HEADERS 8

struct reply {
    int status;                /* 0 until a reply_ function sets it */
    enum err kept_error;       /* set by reply_error_keep */
    const struct shape *shape; /* of `body`; rendered on the loop thread */
    const void *body;
    struct str raw;    /* used instead of shape and body: a complete text of the route's media type */
    const char *media; /* of raw; NULL: the route's */
    bool constant;     /* raw outlives the server (api/constant.h) */
    bool page;         /* raw is a web page, though the route is not ROUTE_PAGE */
    bool immutable;    /* the address names this content for ever */
    /* Sends the reply in place of http_respond, with a head that has all fields but the server's own: a stream. On
     * the loop thread. NULL: not a stream. */
    void (*begin)(struct request *q, struct str head);
    const void *begin_with;
    int64_t max_age_s; /* caches may keep a success for so long; 0: not at all, unless the route says so */
    struct reply_header headers[REPLY_MAX_HEADERS];
    size_t header_count;
};

struct request {
    struct http_request *http;
    struct service *service;
    const struct parts *parts;
    struct journal *journal; /* of error responses; NULL if disabled */
    const struct door *door; /* by which it came in */
    void *entry;             /* the door's own state */
    const struct route *route;
    const struct route *asked;           /* the current revision's, before the gate took an earlier one */
    struct work work;                    /* for the transactions of a blocking handler, while tx.db is NULL */
    struct tx tx;                        /* arena, config, now; db while a handler runs; why */
    char request_id[29];                 /* "req_" and 24 hex */
    struct principal who;                /* not set on public routes */
    struct id building_id;               /* the selected building, if the route selects one */
    int64_t building_number;             /* its number, as in struct grant_place; 0: not known here */
    bool building_linked;                /* true if it is not the account's primary building */
    struct id path_id;                   /* {id}, lower case */
    struct id item_id;                   /* the path's second parameter, lower case */
    struct str path_text;                /* the path's first parameter as sent (decoded) */
    struct str item_text;                /* the path's second parameter */
    struct str idempotency_key;          /* STR_NONE if not sent */
    bool receipt_ended;                  /* set by the row's receipt: what the key has made is of no use any more */
    int64_t match_version;               /* MATCH_GRANT */
    struct str match_token;              /* MATCH_SETTINGS: 64 lower-case hex */
    void *query;                         /* the query struct of the route, filled in */
    void *body;                          /* the body struct of the route, filled in */
    unsigned char body_hash[SHA256_LEN]; /* SHA-256 of the canonical body; set only with an Idempotency-Key */
    struct str subject; /* of an operator's command, for the log: IDs, words, virtual numbers and names of call boxes;
                           never a secret, or the name, address or phone of a person */
    struct reply reply;
    struct {                         /* api/gate.c */
        struct limit_state tightest; /* of the limits taken; limit 0: none was taken */
        enum err result;
        bool taken;
    } limits;
    struct {                             /* how the key was read: api/gate_auth.c */
        struct key_assumption *recalled; /* from the cache, for the store to confirm; or NULL */
        bool assumed;                    /* this run assumes it */
        bool confirmed;                  /* `who` was read from the store */
        bool used;                       /* record this use of the key: it is the first in its minute */
        uint64_t epoch;                  /* read before the snapshot that authenticates; see api/gate.h */
    } key;
    _Atomic bool handed;    /* a blocking worker has it */
    bool unstored;          /* the store has refused it, and route->unstored was asked */
    struct store_task task; /* while a store thread has the request */
    struct str allow;       /* of a 405 */
    enum err result;        /* result of the checks or the handler */
    int64_t began_us;       /* monotonic: when the head was complete */
    unsigned loop;
    unsigned operation; /* of the route, as a value of the label of the metrics */
};

/* Replies with a JSON body of the route's shape. `body` must live at least as long as the arena. */
static inline enum err reply_ok(struct reply *p, int status, const struct shape *shape, const void *body)
{
    p->status = status;
    p->shape = shape;
    p->body = body;
    return ERR_NONE;
}

/* The same with a copy of the body in the request's arena. */
static inline enum err reply_copy(struct request *q, struct reply *p, int status, const struct shape *shape,
                                  const void *body)
{
    return reply_ok(p, status, shape, memcpy(arena_alloc(q->tx.arena, shape->size), body, shape->size));
}

/* Replies with an error and still commits the transaction (a wrong one-time code must count). The handler returns this
 * function's result, ERR_NONE. To roll back, it returns the error instead. */
enum err reply_error_keep(struct reply *p, enum err e) CHECKED;

void reply_header(struct reply *p, const char *name, struct str value);
/* STR_NONE without a header of that name. */
struct str reply_header_value(const struct reply *p, const char *name);
/* Adds an ETag: the quoted decimal version. */
void reply_version(struct request *q, struct reply *p, int64_t version);
