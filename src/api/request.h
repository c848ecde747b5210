/* One API request between the gate and its handler, and the reply it gives.
 *
 * Everything in it lives in the request's arena. A handler that runs inside a write transaction may run more than once:
 * it writes its results only through `struct reply`, which is cleared before each run. */
#pragma once
#include "api/limit.h"
#include "base/crypto.h"
#include "base/schema.h"
#include "domain/principal.h"
#include "domain/work.h"
#include "http/server.h"

struct route;
struct service;

struct reply_header {
    const char *name;
    struct str value;
};

#define REPLY_MAX_HEADERS 8

struct reply {
    int status;                /* 0 until a reply_ function set it */
    enum err kept_error;       /* of reply_error_keep */
    const struct shape *shape; /* of `body`; rendered on the loop thread */
    const void *body;
    struct str raw; /* instead of shape and body: ready text of the route's media type */
    bool constant;  /* raw outlives the server (api/constant.h) */
    struct reply_header headers[REPLY_MAX_HEADERS];
    size_t header_count;
};

struct request {
    struct http_request *http;
    struct service *service;
    const struct route *route;
    struct work work;                    /* of a task's transactions, while tx.db is NULL */
    struct tx tx;                        /* arena, config, now; db while a handler runs; why */
    char request_id[29];                 /* "req_" and 24 hex */
    struct principal who;                /* valid unless the route is public */
    struct id building_id;               /* the selected building, where the route selects one */
    int64_t building_number;             /* its number, as in struct grant_place; 0: not known here */
    bool building_linked;                /* it is not the account's primary one */
    struct id path_id;                   /* {id}, lower case */
    struct id item_id;                   /* the path's second parameter, lower case */
    struct str path_text;                /* the path's first parameter as sent (decoded) */
    struct str item_text;                /* its second one */
    struct str idempotency_key;          /* STR_NONE without one */
    int64_t match_version;               /* MATCH_GRANT */
    struct str match_token;              /* MATCH_SETTINGS: 64 lower-case hex */
    void *query;                         /* the route's query struct, read */
    void *body;                          /* the route's body struct, read */
    unsigned char body_hash[SHA256_LEN]; /* SHA-256 of the canonical body, where idempotency applies */
    struct str subject; /* what an operator's command is about, for the log: IDs and words, never a secret or a name */
    struct reply reply;
    struct limit_state limits; /* the tightest limit taken; limit 0: none */
    enum err limits_result;
    bool limits_taken;
    bool handed;            /* a blocking worker has it */
    bool key_used;          /* this use of the key is to be recorded: the first in its minute */
    uint64_t keys_epoch;    /* read before the snapshot that authenticates; see api/gate.h */
    struct store_task task; /* while a store thread has the request */
    struct str allow;       /* of a 405 */
    enum err result;        /* the gate's: what the checks and the handler came to */
    int64_t began_us;       /* monotonic: when its head was complete */
    unsigned loop;
};

/* Success with a JSON body of the route's reply shape. `body` must live in the arena or longer. */
static inline enum err reply_ok(struct reply *p, int status, const struct shape *shape, const void *body)
{
    p->status = status;
    p->shape = shape;
    p->body = body;
    return ERR_NONE;
}

/* An error answer that keeps what the transaction did (a wrong one-time code must count): the handler returns the
 * result of this, ERR_NONE. An error that is returned instead rolls the transaction back. */
enum err reply_error_keep(struct reply *p, enum err e) CHECKED;

void reply_header(struct reply *p, const char *name, struct str value);
/* An ETag of a decimal version, quoted. */
void reply_version(struct request *q, struct reply *p, int64_t version);
