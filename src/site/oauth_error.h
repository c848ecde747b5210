/* Errors of OAuth's addresses, in the form of RFC 6749 section 5.2 and RFC 7591 section 3.2.2. */
#pragma once
#include "api/request.h"

/* Replies with 400 and the error; the transaction is committed. `why` may be NULL. */
enum err oauth_refuse(struct request *q, struct reply *p, const char *error, const char *why);
