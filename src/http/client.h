/* Requests to others, through libcurl: no redirects, no proxies, no cookies; TLS 1.2 or later, certificates checked.
 * Answers are bounded, and so is the time for all of it. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum http_exchange {
    HTTP_ANSWERED, /* a whole answer came, of whatever status */
    HTTP_NOT_SENT, /* the peer cannot have seen the request: no such host, no connection, TLS refused */
    HTTP_UNKNOWN   /* it may have seen it: a time-out, a broken connection, an answer too long or malformed */
};

struct http_header_line {
    const char *name;
    struct str value;
};

struct http_call {
    const char *method; /* "GET" */
    struct str url;     /* http or https */
    const struct http_header_line *headers;
    size_t header_count;
    struct str user, password; /* Basic authentication; STR_NONE without */
    struct str body;           /* STR_NONE without */
    long timeout_ms;           /* for everything: names, connection, TLS, the whole answer */
    size_t answer_max;         /* bytes of a body */
};

struct http_answer {
    long status;
    struct str body; /* in the arena; NUL-terminated behind its length */
    struct str type; /* the media type, without parameters; STR_NONE without one */
};

/* One connection pool, used by any thread, one call at a time each. */
struct http_client;

enum err http_client_new(struct http_client **ret) CHECKED;
void http_client_free(struct http_client *c);
/* Blocks until the exchange is over. ret_answer is set when HTTP_ANSWERED. */
enum http_exchange http_client_call(struct http_client *c, const struct http_call *call, struct arena *a,
                                    struct http_answer *ret_answer);
