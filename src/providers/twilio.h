/* Calls to Twilio's REST API of 2010-04-01, for one account with Basic authentication, over providers/rest.h. */
#pragma once
#include "base/config.h"
#include "providers/outcome.h"
#include "providers/rest.h"

#define TWILIO_SID_LEN 34 /* two letters and 32 hexadecimal digits */

struct twilio;

/* Uses the account of the configuration (twilio.*). ret_why as in config_load. */
enum err twilio_new(const struct config *c, struct twilio **ret, char **ret_why) CHECKED;
void twilio_free(struct twilio *t);

struct twilio_request {
    const char *method;              /* "GET", "POST", "DELETE" */
    struct str path;                 /* below the account: "/Messages.json" */
    const struct rest_field *fields; /* the query of a GET, the form of a POST */
    size_t field_count;
};

struct twilio_answer {
    long status;  /* 0: no answer */
    int code;     /* Twilio's error code of a refusal; 0: none */
    json_t *body; /* an object, which the caller must release (json_decref); NULL unless DONE, and for 204 */
};

/* 2xx with a JSON object, and 204, are DONE. Other 4xx than 408 and 429 are REFUSED. Everything else is UNKNOWN: 3xx,
 * 408, 429, 5xx, no answer, and a body that is too long, malformed or not a JSON object. *answer is set whatever the
 * outcome. Any thread; blocks. */
enum outcome twilio_call(struct twilio *t, const struct twilio_request *request, struct arena *a,
                         struct twilio_answer *answer);

/* GETs a file below the account ("/Recordings/RE….wav") of at most REST_ANSWER_MAX bytes, into the arena. Outcomes as
 * of twilio_call, but only 200 is DONE. */
enum outcome twilio_download(struct twilio *t, struct str path, struct arena *a, struct str *ret);

/* The next page of a list: a path below the account with its query, in the arena; STR_NONE at the end. Returns false if
 * the list names a page outside this account. */
bool twilio_next_page(const struct twilio *t, const json_t *page, struct arena *a, struct str *ret);

/* Is s an identifier of that kind ("PN")? */
bool twilio_is_sid(struct str s, const char *kind);
/* Is s a telephone number in E.164? */
bool twilio_is_number(struct str s);
