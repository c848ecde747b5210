/* The end of every way to sign in: the browser gets its cookie. */
#pragma once
#include "api/request.h"
#include "domain/browser.h"

/* Signs the request's browser in with such a key and sets its cookie. An earlier session of the browser ends.
 * `timezone`, a string or not given, is the browser's: an owner's first building gets it unless it has one. The caller
 * must wipe *ret. */
enum err sign_in_browser(struct request *q, const struct key_options *key, struct val timezone, bool remember,
                         struct reply *p, struct browser_issued *ret) CHECKED;

#define SIGN_IN_ZONE_DOC "IANA name of the browser's time zone: the first building gets it unless it has one"
