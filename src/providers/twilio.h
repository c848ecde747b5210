/* Twilio's REST API of 2010-04-01: one account, Basic authentication, forms in and JSON out.
 *
 * What is sent and what is answered never reaches a log: it has telephone numbers, codes and credentials. */
#pragma once
#include "base/config.h"
#include "base/json.h"
#include "providers/outcome.h"

#define TWILIO_SID_LEN 34 /* two letters and 32 hexadecimal digits */

struct twilio;

/* The account of the configuration (twilio.*). ret_why as in config_load. */
enum err twilio_new(const struct config *c, struct twilio **ret, char **ret_why) CHECKED;
void twilio_free(struct twilio *t);

struct twilio_field {
    const char *name;
    struct str value;
};

struct twilio_request {
    const char *method;                /* "GET", "POST", "DELETE" */
    struct str path;                   /* below the account: "/Messages.json" */
    const struct twilio_field *fields; /* the query of a GET, else the form */
    size_t field_count;
};

struct twilio_answer {
    long status;  /* 0: none came */
    int code;     /* Twilio's error, of a refusal; 0: none */
    json_t *body; /* an object, of what is DONE: the caller's (json_decref). NULL where there is none (204) */
};

/* 2xx with a JSON object or without a body is DONE, 4xx REFUSED; all else UNKNOWN: 408, 429, 5xx, 3xx, no answer, one
 * that is too long, malformed or of another type. *answer is set whatever the outcome. Any thread; blocks. */
enum outcome twilio_call(struct twilio *t, const struct twilio_request *request, struct arena *a,
                         struct twilio_answer *answer);

/* Where the next page of a list is, as a path below the account with its query, in the arena; STR_NONE at the end.
 * False if the list names a place that is not of this account. */
bool twilio_next_page(const struct twilio *t, const json_t *page, struct arena *a, struct str *ret);

/* A member that is text, borrowed from the object; STR_NONE for anything else. */
struct str twilio_text(const json_t *object, const char *name);
/* Is it an identifier of that kind ("PN")? */
bool twilio_is_sid(struct str s, const char *kind);
/* Is it a telephone number in E.164? */
bool twilio_is_number(struct str s);
