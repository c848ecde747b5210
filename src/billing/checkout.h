/* Checkouts: an account buys a subscription, once (contract, Checkout status and Checkout rules; BILLING-5 to
 * BILLING-17).
 *
 * A checkout is written as `preparing` before the provider is asked for a hosted session. The provider's idempotency
 * key is the checkout's ID, so that no crash and no time-out buys twice. An account has at most one checkout that is
 * preparing or open. jobs/checkout_session.h asks the provider; the functions here run in one transaction. */
#pragma once
#include "base/crypto.h"
#include "domain/tx.h"

#define CHECKOUT_RESOLVE_S (23 * 3600) /* preparing for longer is overdue; the provider forgets a key after a day */

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
    struct id account_id, id; /* id: also the idempotency key at the provider */
    struct str request_id;
    enum checkout_status status;
    int64_t created_us;
    struct str plan;
    int64_t quantity;
    struct str email, customer_id, return_url; /* for the session; customer_id may be STR_NONE */
    struct str session_id, url;                /* STR_NONE until the provider has answered */
    struct str subscription_id;                /* once complete */
    bool canceled;                             /* it was complete, and its subscription has ended */
};

/* Preparing for so long that only support may resolve it. */
bool checkout_overdue(const struct checkout *c, int64_t now_us);

/* ---- a client's request ---- */

enum checkout_sale { CHECKOUT_SALE_UNKNOWN, CHECKOUT_SALE_OFF, CHECKOUT_SALE_ON };

struct checkout_request {
    struct id account;
    struct str request_id; /* the Idempotency-Key */
    const unsigned char *hash;
    struct str plan; /* must be a known plan */
    enum checkout_sale sale;
    struct str return_url; /* the account page */
    bool reread;           /* the open session was just read from the provider */
};

/* The next step of the caller. */
enum checkout_step {
    CHECKOUT_ANSWER, /* answer with the checkout */
    CHECKOUT_ASK,    /* ask the provider for its session, then answer */
    CHECKOUT_REREAD, /* it is open for the same plan: read its session, then begin again with `reread` */
    CHECKOUT_END     /* it is open for another plan: expire its session, then begin again */
};

/* The checkout that this key was answered with before. Fails with ERR_NOT_FOUND, or ERR_IDEMPOTENCY_CONFLICT if the
 * body was different. */
enum err checkout_replay(struct tx *tx, const struct checkout_request *request, struct checkout *ret) CHECKED;
/* The checkout that answers the request: the one of its key, the account's open one for the same plan (which the key
 * gives from then on), or a new one, with *ret_made. Fails with ERR_IDEMPOTENCY_CONFLICT, ERR_SUBSCRIPTION_EXISTS,
 * ERR_CHECKOUT_EXISTS, ERR_CHECKOUT_PENDING, ERR_CHECKOUT_RECONCILIATION_REQUIRED, ERR_PLAN_UNAVAILABLE,
 * ERR_CHECKOUT_UNAVAILABLE (the sale is not known), ERR_ACCOUNT_NOT_FOUND. */
enum err checkout_begin(struct tx *tx, const struct checkout_request *request, struct checkout *ret,
                        enum checkout_step *ret_step, bool *ret_made) CHECKED;

/* The latest checkout of the account. Fails with ERR_NOT_FOUND if there is none or its subscription has ended. */
enum err checkout_current(struct tx *tx, const struct id *account, struct checkout *ret) CHECKED;
/* The checkout of a session; of any account if `account` is NULL. Fails with ERR_NOT_FOUND. */
enum err checkout_of_session(struct tx *tx, const struct id *account, struct str session_id,
                             struct checkout *ret) CHECKED;

/* ---- the provider's answers ---- */

/* A session as the provider has it now. status: open, complete or expired. */
struct checkout_session {
    struct str id, url;
    enum checkout_status status;
    struct str customer_id, subscription_id; /* once complete */
};

/* Applies a session to its checkout. Complete is final, and queues a reading of the subscription. */
enum err checkout_settle(struct tx *tx, struct checkout *c, const struct checkout_session *session) CHECKED;
/* Fails a preparing checkout: the provider refused, and no session will exist. Other checkouts stay unchanged. */
enum err checkout_refuse(struct tx *tx, struct checkout *c) CHECKED;
/* Expires an open checkout: the provider does not know its session. Other checkouts stay unchanged. */
enum err checkout_vanish(struct tx *tx, struct checkout *c) CHECKED;
/* Records that the subscription of a checkout has ended, so that another one can be bought. */
enum err checkout_subscription_ended(struct tx *tx, const struct id *account, struct str subscription_id) CHECKED;

/* At most `limit` checkouts that are preparing or open, not overdue, and not checked since before_us, in the arena. The
 * least recently checked one is first. */
enum err checkout_unsettled(struct tx *tx, int64_t before_us, int64_t limit, const struct checkout **ret,
                            size_t *ret_count) CHECKED;
/* Records that these were checked now, with or without an answer. */
enum err checkout_asked(struct tx *tx, const struct checkout *list, size_t count) CHECKED;

/* ---- the operator ---- */

/* At most `limit` checkouts, newest first: preparing and open ones, or all of one e-mail. */
enum err checkout_list(struct tx *tx, struct str email, int64_t limit, const struct checkout **ret,
                       size_t *ret_count) CHECKED;
/* A checkout of any account. Fails with ERR_NOT_FOUND. */
enum err checkout_find(struct tx *tx, const struct id *id, struct checkout *ret) CHECKED;
