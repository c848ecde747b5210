/* Checkouts: how a subscription is bought, once (contract, Checkout status and Checkout rules; decisions sections 4,
 * 10).
 *
 * A checkout is written as `preparing` before the provider is asked for a hosted session, under a key that stays the
 * same (its ID); so no crash and no time-out buys twice. An account has at most one that is preparing or open. The
 * conversations with the provider are jobs/checkout_session.h's; what is said here ends in one transaction. */
#pragma once
#include "base/crypto.h"
#include "domain/tx.h"

#define CHECKOUT_RESOLVE_S (23 * 3600) /* preparing for longer: support's; the provider's keys live for a day */

enum checkout_status {
    CHECKOUT_PREPARING,
    CHECKOUT_OPEN,
    CHECKOUT_COMPLETE,
    CHECKOUT_EXPIRED,
    CHECKOUT_FAILED,
    CHECKOUT_STATUS_COUNT
};
/* "preparing", … */
const char *checkout_status_text(enum checkout_status status);

struct checkout {
    struct id account_id, id; /* id: also the provider's idempotency key */
    struct str request_id;
    enum checkout_status status;
    int64_t created_us;
    struct str plan;
    int64_t quantity;
    struct str email, customer_id, return_url; /* what else the provider is asked with; customer_id may be STR_NONE */
    struct str session_id, url;                /* STR_NONE until the provider answered */
    struct str subscription_id;                /* once complete */
    bool canceled;                             /* it was complete, and its subscription has ended since */
};

/* Preparing for so long that nobody but support may touch it. */
bool checkout_overdue(const struct checkout *c, int64_t now_us);

/* ---- a client's request ---- */

enum checkout_sale { CHECKOUT_SALE_UNKNOWN, CHECKOUT_SALE_OFF, CHECKOUT_SALE_ON };

struct checkout_request {
    struct id account;
    struct str request_id; /* the Idempotency-Key */
    const unsigned char *hash;
    struct str plan; /* a known one */
    enum checkout_sale sale;
    struct str return_url; /* the account page */
    bool reread;           /* what is open was read just now */
};

/* What is to be done next. */
enum checkout_step {
    CHECKOUT_ANSWER, /* answer with it */
    CHECKOUT_ASK,    /* ask the provider for its session, and answer then */
    CHECKOUT_REREAD, /* it is open, for the same plan: read it from the provider, then begin again with `reread` */
    CHECKOUT_END     /* it is open, for another plan: end it at the provider, then begin again */
};

/* The checkout this key was answered with. ERR_NOT_FOUND: there was none; ERR_IDEMPOTENCY_CONFLICT: it had another
 * body. */
enum err checkout_replay(struct tx *tx, const struct checkout_request *request, struct checkout *ret) CHECKED;
/* The request's own checkout, or the one that stands in its place, which is then its own. *ret_made: this request made
 * it.
 * ERR_IDEMPOTENCY_CONFLICT, ERR_SUBSCRIPTION_EXISTS, ERR_CHECKOUT_EXISTS, ERR_CHECKOUT_PENDING,
 * ERR_CHECKOUT_RECONCILIATION_REQUIRED, ERR_PLAN_UNAVAILABLE, ERR_CHECKOUT_UNAVAILABLE (whether the plan is on sale is
 * not known), ERR_ACCOUNT_NOT_FOUND. */
enum err checkout_begin(struct tx *tx, const struct checkout_request *request, struct checkout *ret,
                        enum checkout_step *ret_step, bool *ret_made) CHECKED;

/* The account's latest; ERR_NOT_FOUND: it has none, or the latest one's subscription has ended. */
enum err checkout_current(struct tx *tx, const struct id *account, struct checkout *ret) CHECKED;
/* The account's checkout with that session, or any account's with `account` NULL. ERR_NOT_FOUND. */
enum err checkout_of_session(struct tx *tx, const struct id *account, struct str session_id,
                             struct checkout *ret) CHECKED;

/* ---- what the provider says ---- */

/* A session as the provider has it now: open, complete or expired. */
struct checkout_session {
    struct str id, url;
    enum checkout_status status;
    struct str customer_id, subscription_id; /* once complete */
};

/* The checkout becomes what its session is. Complete is final, and queues a reading of the subscription. */
enum err checkout_settle(struct tx *tx, struct checkout *c, const struct checkout_session *session) CHECKED;
/* A definite no: there is no session and will be none. What is not preparing stays as it is. */
enum err checkout_refuse(struct tx *tx, struct checkout *c) CHECKED;
/* Its session is not known to the provider: nobody can pay it. */
enum err checkout_vanish(struct tx *tx, struct checkout *c) CHECKED;
/* The subscription that a checkout brought has ended: another one may be bought. */
enum err checkout_subscription_ended(struct tx *tx, const struct id *account, struct str subscription_id) CHECKED;

/* At most `limit` whose outcome is not known and that nobody asked about since then, longest unasked first, in the
 * arena. */
enum err checkout_unsettled(struct tx *tx, int64_t before_us, int64_t limit, const struct checkout **ret,
                            size_t *ret_count) CHECKED;
/* These were asked about now, whether or not there was an answer. */
enum err checkout_asked(struct tx *tx, const struct checkout *list, size_t count) CHECKED;

/* ---- the operator ---- */

/* Preparing and open ones of all accounts, or all of one e-mail's; newest first, at most `limit`. */
enum err checkout_list(struct tx *tx, struct str email, int64_t limit, const struct checkout **ret,
                       size_t *ret_count) CHECKED;
/* By ID alone. ERR_NOT_FOUND. */
enum err checkout_find(struct tx *tx, const struct id *id, struct checkout *ret) CHECKED;
