/* Calls to Stripe's REST API (https://docs.stripe.com/api), over providers/rest.h. */
#pragma once
#include "base/config.h"
#include "providers/outcome.h"
#include "providers/rest.h"

/* The version of the API that this code is written for, whatever the account's default is. */
#define STRIPE_VERSION "2026-08-26.dahlia"

#define STRIPE_FIELDS_MAX 16

struct stripe_client;

/* Uses the account of the configuration (stripe.*). ret_why as in config_load. */
enum err stripe_client_new(const struct config *c, struct stripe_client **ret, char **ret_why) CHECKED;
void stripe_client_free(struct stripe_client *s);

struct stripe_request {
    const char *call;                            /* for the log: "session_create" */
    const char *method;                          /* "GET", "POST", "DELETE" */
    struct str path;                             /* "/v1/checkout/sessions" */
    struct str key;                              /* Idempotency-Key of a POST; STR_NONE without */
    struct rest_field fields[STRIPE_FIELDS_MAX]; /* the form of a POST */
    size_t field_count;
};

/* Adds a field to the form. Borrows name and value. The caller must not add more than STRIPE_FIELDS_MAX. */
void stripe_field(struct stripe_request *r, const char *name, struct str value);
void stripe_field_int(struct stripe_request *r, const char *name, int64_t value, struct arena *a);

struct stripe_answer {
    long status;           /* 0: no answer */
    json_t *body;          /* an object, which the caller must release (json_decref); NULL unless DONE */
    struct str type, code; /* of Stripe's error: "card_error", "resource_missing"; STR_NONE without one */
};

/* 2xx with a JSON object is DONE. A 4xx with Stripe's error object of type card_error or invalid_request_error is
 * REFUSED, unless it is about our access. Everything else is UNKNOWN, and logged: no answer, 3xx, 5xx, a key without
 * rights (401, 403), an idempotency key that is in use or was used for another request (409, idempotency_error), too
 * many requests (429), and a body that is too long, malformed or not a JSON object. While the idempotency key is in
 * use, the call is repeated a few times. *answer is set whatever the outcome. Any thread; blocks. */
enum outcome stripe_call(struct stripe_client *s, const struct stripe_request *request, struct arena *a,
                         struct stripe_answer *answer);
