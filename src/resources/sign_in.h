/* The end of every way to sign in: the browser gets its cookie. */
#pragma once
#include "api/request.h"
#include "domain/browser.h"

/* Signs the request's browser in and sets its cookie. An earlier session of the browser ends. The caller must wipe
 * *ret. */
enum err sign_in_browser(struct request *q, const struct id *account, bool remember, struct reply *p,
                         struct browser_issued *ret) CHECKED;
