/* The cookie of a signed-in browser. Its value is a secret: it appears in no log, document or reply body.
 *
 * The prefix __Host- makes browsers refuse it from a subdomain, another path or plain HTTP, so that nobody else can set
 * it (RFC 6265bis section 4.1.3.2). */
#pragma once
#include "base/buf.h"
#include "base/id.h"
#include "http/request.h"

#define COOKIE_NAME     "__Host-portero"
#define COOKIE_BUILDING "__Host-building"

/* Finds the value in a Cookie field (RFC 6265 section 4.2.1). False unless the field has exactly one cookie of the
 * name, with a value of the right form. */
bool cookie_parse(struct str field, struct str *ret);
/* The same for a request, which must have exactly one Cookie field. */
bool cookie_of(const struct http_request *r, struct str *ret);

/* The building that the browser's person has chosen, by a script of the pages; any client can send any ID. */
bool cookie_building(const struct http_request *r, struct id *ret);

/* Values of Set-Cookie, in the arena. A remembered browser keeps the cookie for 30 days, another until it is closed. */
struct str cookie_set(struct arena *a, struct str value, bool remember);
struct str cookie_clear(void);
