/* Conversations with the billing provider about one checkout, for jobs and for handlers that may block. Each asks the
 * provider outside any transaction, then writes what it said; *c is what the checkout has become. All are safe to
 * repeat and to run twice at once.
 *
 * ERR_CHECKOUT_UNAVAILABLE: the provider did not answer; nothing has changed. Other errors are the store's. */
#pragma once
#include "domain/checkout.h"
#include "domain/work.h"
#include "providers/billing.h"

struct checkout_context {
    struct billing *billing;
    struct work *work;
};

/* Asks for its session, which is made now unless it was made before. A refusal makes it failed. */
enum err checkout_session_open(const struct checkout_context *d, struct checkout *c) CHECKED;
/* Reads its session. */
enum err checkout_session_refresh(const struct checkout_context *d, struct checkout *c) CHECKED;
/* Ends its session, unless it was paid. It is not open afterwards. */
enum err checkout_session_expire(const struct checkout_context *d, struct checkout *c) CHECKED;

/* For support: the provider has that session, and it is this checkout's. ERR_NOT_FOUND: the provider has none of that
 * ID, or it is another checkout's or account's. */
enum err checkout_session_adopt(const struct checkout_context *d, struct checkout *c, struct str session_id) CHECKED;

/* What the provider said of a session, in the rules' words. */
struct checkout_session checkout_session_of(const struct billing_session *s);
