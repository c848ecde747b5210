/* Calls to the billing provider about one checkout, for jobs and for handlers that may block. Each calls the provider
 * outside any transaction and then records its answer; *c is the updated checkout. All may be repeated, and may run
 * twice at once.
 *
 * They fail with ERR_CHECKOUT_UNAVAILABLE if the provider does not answer (nothing has changed then), and with the
 * store's errors. */
#pragma once
#include "billing/checkout.h"
#include "domain/work.h"
#include "providers/billing.h"

struct checkout_context {
    struct billing *billing;
    struct work *work;
};

/* Creates its session, or gets the one that was created before with the same key. A refusal makes the checkout failed.
 */
enum err checkout_session_open(const struct checkout_context *context, struct checkout *c) CHECKED;
/* Reads its session. */
enum err checkout_session_refresh(const struct checkout_context *context, struct checkout *c) CHECKED;
/* Expires its session unless it was paid. The checkout is not open afterwards. */
enum err checkout_session_expire(const struct checkout_context *context, struct checkout *c) CHECKED;

/* For support: assigns the provider's session of that ID to the checkout. Fails with ERR_NOT_FOUND if the provider has
 * no such session, or it is another checkout's or account's. */
enum err checkout_session_adopt(const struct checkout_context *context, struct checkout *c,
                                struct str session_id) CHECKED;

/* Converts a session of the provider to the domain's struct. */
struct checkout_session checkout_session_of(const struct billing_session *s);
