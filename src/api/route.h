/* One row per route. Routing, every check in the order of decisions section 1, body and query validation and the
 * OpenAPI document are all derived from it; a new route is one row and one handler. */
#pragma once
#include "api/request.h"

enum route_credential {
    CRED_NONE,        /* public */
    CRED_KEY,         /* any API key */
    CRED_WEB_SESSION, /* a website session, else 403 WEB_SESSION_REQUIRED */
    CRED_OWNER,       /* not an invited member's, else `parent_error` */
    CRED_PARENT,      /* not bound to one building, else `parent_error` */
    CRED_LOOPBACK,    /* the sandbox: loopback peers only, no key */
    CRED_CONTROL      /* the control socket only; elsewhere the path does not exist */
};

enum route_limit {
    LIMIT_NONE,
    LIMIT_KEY,   /* per API key: requests_active or requests_free */
    LIMIT_PLANS, /* per address: plans_per_ip */
    LIMIT_AUTH,  /* per address: auth_per_ip (AUTH_RATE_LIMIT); with a key also LIMIT_KEY */
    LIMIT_OTP    /* LIMIT_AUTH, then per address: otp_per_ip (OTP_RATE_LIMIT) */
};

enum route_building {
    BUILDING_NONE,     /* the header is ignored */
    BUILDING_HEADER,   /* X-Service-Building-Id selects */
    BUILDING_PATH,     /* {buildingId} selects; the header, if sent, must agree */
    BUILDING_FORBIDDEN /* the header is refused: INVALID_BUILDING_CONTEXT */
};

enum route_need { NEED_NOT, NEED_OPTIONAL, NEED_REQUIRED };

enum route_match { MATCH_NONE, MATCH_GRANT /* "7": VERSION_REQUIRED */, MATCH_SETTINGS /* "64 hex" */ };

enum route_run {
    RUN_HERE,    /* needs no store: runs on the loop thread */
    RUN_READ,    /* in a read session */
    RUN_WRITE,   /* in a write transaction; the reply leaves after its commit */
    RUN_BLOCKING /* on a blocking worker: may wait for a provider; opens its own transactions; q->tx.db is NULL */
};

enum route_flag {
    ROUTE_ETAG = 1,       /* the reply carries ETag */
    ROUTE_LOCATION = 2,   /* a created (201) reply carries Location */
    ROUTE_REPLAY = 4,     /* a replay answers 200 with Idempotency-Replayed: true */
    ROUTE_CACHEABLE = 8,  /* Cache-Control: public, max-age=60 in place of no-store */
    ROUTE_CORS = 16,      /* Access-Control-Allow-Origin: * */
    ROUTE_EXTENSION = 32, /* x-extension: true */
    ROUTE_RECHECKS_KEY =
        64, /* the key is checked again in the write transaction: what one that was revoked meanwhile must not do */
    ROUTE_PAGE = 128 /* for a browser: carries a strict Content-Security-Policy, and stands in no OpenAPI document */
};

#define ROUTE_ERRORS(...) ((const enum err[]){__VA_ARGS__, ERR_NONE})

struct route {
    const char *operation_id; /* operationId, "createUnlock" */
    const char *summary;
    const char *description; /* what the summary leaves open, for the document (Markdown); the document adds what the
                                other columns mean. NULL: nothing */
    const char *tag;         /* groups the document: "Access grants" */
    enum http_method method;
    const char *path; /* "/v1/unlock/{id}": the first parameter is {id} (INVALID_ID), {buildingId} (INVALID_BUILDING) or
                         {text}; a second one, and there are no more, is an ID of any name (INVALID_ID) */
    enum route_credential credential;
    enum err parent_error; /* of CRED_PARENT */
    uint32_t scopes;       /* all of these bits */
    enum route_limit limit;
    enum route_building building;
    enum route_need idempotency;
    enum err (*receipt)(struct request *q); /* of a row with Idempotency-Key: what that was used for with this account
                                               or building. ERR_NOT_FOUND: nothing; ERR_IDEMPOTENCY_CONFLICT: another
                                               body. Asked only for a body whose fields are wrong */
    enum route_match match;
    const struct shape *query; /* its fields' own errors */
    const struct shape *body;  /* NULL: a body is ignored */
    enum err body_error;       /* of a field without its own */
    bool body_optional;        /* no body at all reads as {} */
    size_t body_max;           /* bytes; 0: HTTP_MAX_BODY */
    const char *body_example;  /* JSON, for the document; NULL: none */
    enum route_run run;
    bool (*lengthy)(const void *query); /* of RUN_READ: whether this one may take long, so that it must not run on the
                                           loop thread. NULL: none does */
    enum err (*handler)(struct request *q, struct reply *p);
    const char *text;          /* instead of a handler: what is always answered */
    int status;                /* of success */
    int other_status;          /* a second success status (replay), or 0 */
    int pending_status;        /* of what has not ended yet: 202, or 0 */
    const struct shape *reply; /* NULL: no JSON body */
    const char *media;         /* without `reply`: the media type of a ready text; NULL: no body */
    unsigned flags;
    const enum err *errors; /* ROUTE_ERRORS(…): documented, besides those the gate derives from this row */
    enum err store_error;   /* what a failing store answers: FETCH_FAILED …; ERR_NONE: INTERNAL_ERROR */
};

struct route_set {
    const struct route *rows;
    size_t count;
};
#define ROUTE_SET(table)                                                                                               \
    {                                                                                                                  \
        (table), sizeof(table) / sizeof *(table)                                                                       \
    }
