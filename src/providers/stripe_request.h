/* Requests to Stripe's REST API: forms in, JSON out (https://docs.stripe.com/api).
 *
 * What is sent and what is answered never reaches a log: it has addresses, names and the secret key. */
#pragma once
#include "base/config.h"
#include "base/json.h"
#include "providers/outcome.h"

/* The version of the API whose shapes are read and written here, whatever the account's own default is. */
#define STRIPE_VERSION "2026-08-26.dahlia"

#define STRIPE_FIELDS_MAX 16

struct stripe_client;

/* With the account of the configuration (stripe.*). ret_why as in config_load. */
enum err stripe_client_new(const struct config *c, struct stripe_client **ret, char **ret_why) CHECKED;
void stripe_client_free(struct stripe_client *s);

struct stripe_request {
    const char *call;   /* for the log: "session_create" */
    const char *method; /* "GET", "POST" */
    struct str path;    /* "/v1/checkout/sessions" */
    struct str key;     /* Idempotency-Key of a POST; STR_NONE without */
    struct {
        const char *name; /* as it stands in the form: "line_items[0][price]" */
        struct str value;
    } fields[STRIPE_FIELDS_MAX]; /* the form of a POST */
    size_t field_count;
};

/* Borrows both; more than STRIPE_FIELDS_MAX of them are a bug of the caller. */
void stripe_field(struct stripe_request *r, const char *name, struct str value);
void stripe_field_int(struct stripe_request *r, const char *name, int64_t value, struct arena *a);

struct stripe_answer {
    long status;           /* 0: none came */
    json_t *body;          /* an object, when DONE: the caller's (json_decref) */
    struct str type, code; /* of Stripe's error: "card_error", "resource_missing"; STR_NONE without one */
};

/* 2xx with a JSON object is DONE. An error that Stripe says about the request itself is REFUSED: its own envelope with
 * type card_error or invalid_request_error, and a 4xx that is not about us. All else is UNKNOWN, with a line in the
 * log: no answer, 3xx, 5xx, our key or its rights (401, 403), a key in use or used for something else (409,
 * idempotency_error), too many requests (429), and what is too long, malformed or no JSON object. Who finds its key
 * in use waits a little for the first request to end. *answer is set whatever the outcome. Any thread; blocks. */
enum outcome stripe_call(struct stripe_client *s, const struct stripe_request *request, struct arena *a,
                         struct stripe_answer *answer);
