/* One row per route. Routing, all checks, validation of bodies and queries, and the documents are derived from it. A
 * new route is one row and one handler. */
#pragma once
#include "api/request.h"

struct http_content;

enum route_credential {
    CRED_NONE,        /* public */
    CRED_KEY,         /* any API key */
    CRED_WEB_SESSION, /* a website session of the owner, or of `people`, else 403 WEB_SESSION_REQUIRED */
    CRED_OWNER,       /* not an invited member's key, else `parent_error` */
    CRED_PARENT,      /* not a key bound to one building, else `parent_error` */
    CRED_LOOPBACK,    /* the sandbox: loopback peers only, no key */
    CRED_CONTROL      /* the control socket only; 404 elsewhere */
};

/* The members whose website sessions may ask, by their role. */
enum route_people {
    PEOPLE_NONE, /* the owner alone */
    PEOPLE_RESIDENT = 1u << MEMBER_RESIDENT,
    PEOPLE_MANAGER = 1u << MEMBER_MANAGER,
    PEOPLE_ALL = PEOPLE_RESIDENT | PEOPLE_MANAGER
};

enum route_limit {
    LIMIT_NONE,
    LIMIT_KEY,   /* per API key: requests_active or requests_free */
    LIMIT_PLANS, /* per address: plans_per_ip */
    LIMIT_AUTH,  /* per address: auth_per_ip (AUTH_RATE_LIMIT); with a key also LIMIT_KEY */
    LIMIT_OTP,   /* LIMIT_AUTH, then per address: otp_per_ip (OTP_RATE_LIMIT) */
    LIMIT_GUEST, /* per address: guest_per_ip */
    LIMIT_OAUTH  /* per address: oauth_per_ip */
};

enum route_building {
    BUILDING_NONE,     /* the header is ignored */
    BUILDING_HEADER,   /* X-Service-Building-Id selects */
    BUILDING_PATH,     /* {buildingId} selects; the header, if sent, must agree */
    BUILDING_FORBIDDEN /* the header must not be sent: INVALID_BUILDING_CONTEXT */
};

enum route_need { NEED_NOT, NEED_OPTIONAL, NEED_REQUIRED };

enum route_match {
    MATCH_NONE,
    MATCH_GRANT /* "7", else VERSION_REQUIRED */,
    MATCH_SETTINGS /* "64 hex", else SETTINGS_VERSION_REQUIRED */
};

enum route_run {
    RUN_HERE,    /* on the loop thread, without the store */
    RUN_READ,    /* in a read session */
    RUN_WRITE,   /* in a write transaction; the reply follows its commit */
    RUN_BLOCKING /* on a blocking worker: may wait for a provider; opens its own transactions; q->tx.db is NULL */
};

enum route_flag {
    ROUTE_ETAG = 1,          /* the reply has an ETag */
    ROUTE_CACHEABLE = 2,     /* Cache-Control: public, max-age=60 instead of no-store */
    ROUTE_CORS = 4,          /* Access-Control-Allow-Origin: * */
    ROUTE_RECHECKS_KEY = 8,  /* re-check the key in the write transaction: a just-revoked key must not do this */
    ROUTE_PAGE = 16,         /* a web page: strict Content-Security-Policy, left out of OpenAPI documents */
    ROUTE_URGENT = 32,       /* of RUN_WRITE: somebody waits at a door; see struct store_task */
    ROUTE_SITE = 64,         /* also served to the website's pages, below /app */
    ROUTE_SITE_ONLY = 128,   /* served only there; the row's path lacks the /app */
    ROUTE_SECRET_PATH = 256, /* of a page: its address is a secret, which no referrer and no search engine may tell */
    ROUTE_EARLIER = 512,     /* exists only for accounts of the earlier revision (EARLIER-9); else 404 */
    ROUTE_SUBSCRIBED = 1024  /* needs an active subscription, else SUBSCRIPTION_REQUIRED */
};

/* The part of a row that only documents tell; they add the meaning of its other columns. No request depends on it. */
struct route_doc {
    const char *tag; /* group: "Access grants" */
    const char *summary;
    const char *description;  /* Markdown; NULL: none */
    const char *body_example; /* JSON; NULL: none */
    int status;               /* of success */
    int other_status;         /* another success status (replay), or 0 */
    int pending_status;       /* 202 if the operation may still be running, or 0 */
    unsigned flags;           /* of enum doc_flag */
    const enum err *errors;   /* ROUTE_ERRORS(…): in addition to the gate's */
};

enum doc_flag {
    DOC_LOCATION = 1,  /* a 201 reply has a Location */
    DOC_REPLAY = 2,    /* a replay answers 200 with Idempotency-Replayed: true */
    DOC_EXTENSION = 4, /* x-extension: true */
    DOC_NO_TOOL = 8    /* no tool for assistants: another one does the same */
};

#define ROUTE_DOC(group, answered, text, ...)                                                                          \
    {                                                                                                                  \
        .tag = (group), .status = (answered), .summary = (text), __VA_ARGS__                                           \
    }
#define ROUTE_ERRORS(...) ((const enum err[]){__VA_ARGS__, ERR_NONE})

struct route {
    const char *operation_id; /* operationId, "createUnlock" */
    enum http_method method;
    /* "/v1/unlock/{id}". The first parameter must be {id} (INVALID_ID), {buildingId} (INVALID_BUILDING) or {text}. A
     * second one is an ID of another name (INVALID_ID); there is no third. openapi_parameters.c has the names. */
    const char *path;

    /* ---- the gate ---- */
    enum route_credential credential;
    enum err parent_error; /* of CRED_OWNER and CRED_PARENT */
    uint32_t scopes;       /* bits; all are required */
    unsigned people; /* bits of enum route_people. Sessions of other members get INSUFFICIENT_SCOPE, or 404 of a page.
                        Agent keys of members are admitted by their scopes */
    enum route_limit limit;
    enum route_building building;
    enum route_need idempotency;
    enum err (*receipt)(struct request *q); /* of a row with Idempotency-Key: looks up the key's earlier use in this
                                               account or building. ERR_NOT_FOUND: unused; ERR_IDEMPOTENCY_CONFLICT:
                                               used with another body. Called if the body's fields are invalid, or
                                               by a door that makes keys, when the body is not read yet */
    enum route_match match;

    /* ---- reading ---- */
    const struct shape *query; /* its fields have their own errors */
    const struct shape *body;  /* NULL: a body is ignored */
    enum err body_error;       /* of fields without their own error */
    bool body_optional;        /* an empty body reads as {} */
    size_t body_max;           /* bytes; 0: HTTP_MAX_BODY */

    /* ---- answering ---- */
    enum route_run run;
    bool (*lengthy)(const void *query); /* of RUN_READ: true if this query may take long and must not run on the loop
                                           thread. NULL: never */
    /* Checks who sent the complete request, before all other checks of it: a provider's signature. On the loop thread,
     * without the store. May set q->body, and may make q the request of another row (service_become). NULL: not
     * checked. */
    enum err (*verify)(struct request *q);
    enum err (*handler)(struct request *q, struct reply *p);
    const void *handler_data; /* for a handler that several rows share */
    /* Of RUN_WRITE: called once, on the loop thread, when the handler's changes are committed and the reply is not yet
     * sent. NULL: not called. */
    void (*committed)(struct request *q);
    /* Of RUN_WRITE: answers in place of the handler, whose transaction the store has refused: in a read transaction, or
     * without the store (q->tx.db is NULL), on the loop thread. The latter first if the store took long, and in any
     * case if it cannot be read either. An error is replied. After `verify`, but perhaps without the other checks.
     * NULL: the error of the store is replied. */
    enum err (*unstored)(struct request *q, struct reply *p);
    /* Of a page for residents: it is read with the browser's cookie, and this is the reply to a browser that is not
     * signed in. NULL: no such page. */
    enum err (*signed_out)(struct request *q, struct reply *p);
    const char *text;                   /* a constant response instead of a handler */
    const struct http_content *content; /* the same, compressed when the service was built */
    const struct shape *reply;          /* NULL: no JSON body */
    const char *media;                  /* media type of a text reply, if `reply` is NULL; NULL: no body */
    unsigned flags;
    bool personal;        /* of CRED_CONTROL: tells of one person, so that reading it is a line of the log, too */
    enum err store_error; /* error if the store fails: FETCH_FAILED …; ERR_NONE: INTERNAL_ERROR */
    const struct route *earlier; /* takes its place for accounts of the earlier revision, after authentication, or, of
                                    CRED_NONE, for bodies that it alone takes; has the same method, path, limit and run,
                                    and needs a key if it does; with CRED_NONE also the struct of the body. NULL: it
                                    serves them, too */

    struct route_doc doc;
};

/* A row: ROUTE("readThing", GET, "/v1/things/{id}", .run = RUN_READ, …, .doc = ROUTE_DOC("Things", 200, "Read it")) */
#define ROUTE(id, verb, at, ...)                                                                                       \
    {                                                                                                                  \
        .operation_id = (id), .method = HTTP_##verb, .path = (at), __VA_ARGS__                                         \
    }

static inline bool route_needs_key(const struct route *route)
{
    return route->credential >= CRED_KEY && route->credential <= CRED_PARENT;
}

struct route_set {
    const struct route *rows;
    size_t count;
};
#define ROUTE_SET(table)                                                                                               \
    {                                                                                                                  \
        (table), sizeof(table) / sizeof *(table)                                                                       \
    }
