/* A client of a provider's REST API: URL-encoded forms out, JSON objects in.
 *
 * Requests and responses hold addresses, telephone numbers, codes and credentials, and must never reach a log. */
#pragma once
#include "base/json.h"
#include "net/client.h"

#define REST_ANSWER_MAX (1u << 20) /* bytes of a response; a longer one is NET_UNKNOWN */

struct rest {
    struct net_client *client;
    struct str root;           /* "https://api.stripe.com" */
    struct str user, password; /* Basic authentication; STR_NONE without */
    long timeout_ms;           /* of one call */
};

struct rest_field {
    const char *name; /* needs no escaping: "line_items[0][price]" */
    struct str value;
};

struct rest_request {
    const char *method;               /* "GET", "POST", "DELETE" */
    struct str path;                  /* below the root: "/v1/checkout/sessions" */
    const struct net_header *headers; /* besides Content-Type */
    size_t header_count;
    const struct rest_field *fields; /* the query of a GET, the form of a POST */
    size_t field_count;
    bool repeatable; /* a POST that may be sent twice: it carries an idempotency key */
};

struct rest_answer {
    enum net_exchange exchange;
    long status;  /* 0 unless exchange is NET_ANSWERED */
    json_t *body; /* the caller must release it (json_decref); NULL if the body is not a JSON object */
};

/* Sends the request and reads the response. Any thread; blocks. */
struct rest_answer rest_call(const struct rest *r, const struct rest_request *request, struct arena *a);

/* The same for a response of any type, such as a file. ret is set when NET_ANSWERED. */
enum net_exchange rest_exchange(const struct rest *r, const struct rest_request *request, struct arena *a,
                                struct net_answer *ret);

/* For the log: "answer", "not_sent", "no_answer". */
const char *rest_reason(enum net_exchange exchange);

/* A member that is a string, borrowed from the object; STR_NONE for anything else. */
struct str rest_text(const json_t *object, const char *name);
