/* Requests of a resident's or agent's commands to a service at any address, over HTTPS with libcurl. No redirects: a
 * key goes to the address that it belongs to and nowhere else. Certificates are always verified. The name in one that a
 * person has accepted by its fingerprint is not: the key is. */
#pragma once
#include <curl/curl.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "client/options.h"

#define REMOTE_URL_VARIABLE "PORTERO_URL"
#define REMOTE_KEY_VARIABLE "PORTERO_KEY"
#define REMOTE_DEFAULT_URL  "https://localhost:8443"

/* Exit statuses of these commands besides `enum exit_status`; docs/cli.md has them. */
enum remote_exit {
    EXIT_NO_KEY = 3,   /* there is no key, or the service does not accept it */
    EXIT_NO_ANSWER = 4 /* the service could not be reached, or did not respond */
};

/* A service and the key for it. */
struct remote {
    char *url;              /* without a trailing slash */
    char *key;              /* secret; NULL: none */
    char *ca_file;          /* NULL: the system's certificates alone */
    char *profile, *scopes; /* of the login that the key is of; NULL: it is of none, or the login tells none */
    struct str certificate; /* to trust in place of ca_file, while it is in no file yet; STR_NONE: none */
    char *pin; /* the only public key that is accepted, "sha256//…", for whatever name; NULL: the name must fit */
};

/* Takes the address from PORTERO_URL and the key from PORTERO_KEY, or both from the profile. The profile's key is not
 * used for another address. `ca_file` replaces the profile's certificate unless it is NULL. Returns EXIT_DONE, or
 * another exit status after writing the error. The caller releases it with remote_done. */
int remote_open(const char *profile, const char *ca_file, struct remote *ret);
void remote_done(struct remote *r);
/* Whether requests to the URL can be protected, or stay on this machine; else writes the error. */
bool remote_is_url(const char *url);

struct remote_call {
    const char *method;                                /* "GET" */
    const char *path;                                  /* "/v1/unlock?limit=1" */
    struct str body;                                   /* JSON; STR_NONE without */
    const char *building, *idempotency_key, *if_match; /* NULL without */
    bool repeatable;                                   /* may be sent again if it is not known whether it arrived */
};

struct remote_answer {
    long status;
    struct str body;
    struct str type, etag, location; /* STR_NONE without; the media type without parameters */
    long retry_after_s;              /* -1: not given */
};

/* Sends the request and waits for the answer, whatever its status; its texts are in the arena. Repeats it, twice at
 * most, if it was not received (or `repeatable` allows it), on 429, and on 503 where `repeatable` allows it, each
 * time with the same headers. Waits as Retry-After says, 30 s at most. Returns EXIT_DONE, or EXIT_NO_ANSWER after
 * writing the error. */
int remote_send(const struct remote *r, const struct remote_call *call, struct arena *a, struct remote_answer *ret);

/* The header lines of the call, without the key's. The caller frees them with curl_slist_free_all. */
struct curl_slist *remote_headers(const struct remote_call *call);
/* Sets everything that requests to this service have in common. `headers` must contain the key's line. */
void remote_prepare(const struct remote *r, CURL *curl);
/* Appends the line with the key, if there is one. */
struct curl_slist *remote_authorize(const struct remote *r, struct curl_slist *headers);
/* The reason why curl failed, for people. */
const char *remote_failure(CURLcode e, const struct remote *r);
