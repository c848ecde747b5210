/* Requests that Twilio posts to the service: their signature
 * (https://www.twilio.com/docs/usage/security#validating-requests). */
#pragma once
#include "base/config.h"
#include "base/form.h"

#define TWILIO_FIELDS_MAX 100 /* of one request */

struct twilio_hook;

/* With the account of the configuration (twilio.account_sid, twilio.auth_token); *ret is NULL if neither is set.
 * ret_why as in config_load. */
enum err twilio_hook_new(const struct config *c, struct twilio_hook **ret, char **ret_why) CHECKED;
void twilio_hook_free(struct twilio_hook *h);

struct twilio_posted {
    struct str origin;    /* "https://door.example": the public address of the service */
    struct str target;    /* path and query, as requested */
    struct str signature; /* of the header X-Twilio-Signature; STR_NONE without one */
    struct str body;
};

/* Reads the body of a request that Twilio signed for this account. Returns false for anything else: another signature,
 * another account, a body that is no form. The signature covers the address and the fields, or, with `bodySHA256` in
 * the query, the address alone and thereby the hash of the body. It is compared in constant time, with and without the
 * port in the address, as Twilio's own libraries do. */
bool twilio_hook_read(const struct twilio_hook *h, const struct twilio_posted *r, struct arena *a, struct form *ret);
