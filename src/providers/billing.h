/* Billing by a provider, Stripe or the built-in one, behind one table of functions (contract, Billing).
 *
 * Calls that cost money take an idempotency key of the caller: a repeated call with the same key repeats the first
 * answer, so that a call that timed out can be resumed and nothing is bought twice. The other functions may be
 * repeated. Results are in the caller's arena, and are set only if the outcome is DONE. Any thread; all functions
 * block, but `event`. */
#pragma once
#include "base/config.h"
#include "base/id.h"
#include "providers/outcome.h"
#include "store/store.h"

#define BILLING_PLANS_MAX 8

/* The current price of a plan. */
struct billing_price {
    struct str plan;      /* our ID: "weekly" */
    bool available;       /* it has a price and can be bought */
    int64_t amount_minor; /* -1: not known */
    struct str currency, interval;
    int64_t interval_count;
};

struct billing_prices {
    struct billing_price items[BILLING_PLANS_MAX];
    size_t count;
};

/* NULL if there is no price of that plan. */
static inline const struct billing_price *billing_price_of(const struct billing_prices *prices, struct str plan)
{
    for (size_t i = 0; i < prices->count; i++)
        if (str_eq(prices->items[i].plan, plan))
            return &prices->items[i];
    return NULL;
}

enum billing_session_status { BILLING_SESSION_OPEN, BILLING_SESSION_COMPLETE, BILLING_SESSION_EXPIRED };

/* A hosted checkout. */
struct billing_session {
    struct str id, url;    /* url: STR_NONE unless open */
    struct str account_id; /* from its request; STR_NONE: it was not made here */
    enum billing_session_status status;
    struct str customer_id, subscription_id; /* once complete */
};

struct billing_session_request {
    struct str key;
    struct str account_id, email;
    struct str customer_id; /* STR_NONE: a new customer */
    struct str plan;
    int64_t quantity;
    struct str success_url, cancel_url;
};

enum billing_status {
    BILLING_ACTIVE,
    BILLING_PAST_DUE,
    BILLING_CANCELED,
    BILLING_INCOMPLETE /* its first payment is in progress: it becomes active or canceled */
};

struct billing_subscription {
    struct str id, customer_id, account_id; /* account_id: from the session's request */
    enum billing_status status;
    struct str plan; /* STR_NONE: its price belongs to no configured plan */
    struct str price_id, currency, interval;
    int64_t amount_minor; /* of one unit; -1: tiered */
    int64_t quantity;
};

/* The upcoming invoice for another quantity. */
struct billing_preview {
    int64_t amount_due_minor;
    struct str currency;
};

enum billing_object { BILLING_OBJECT_NONE, BILLING_OBJECT_SESSION, BILLING_OBJECT_SUBSCRIPTION };

/* The object of an event. It is then read from the provider, so that the order of events does not matter. */
struct billing_event {
    struct str id; /* the provider's; events are delivered more than once */
    enum billing_object object;
    struct str object_id;
};

struct billing;

struct billing_ops {
    enum outcome (*prices)(struct billing *b, struct arena *a, struct billing_prices *ret);
    enum outcome (*session_create)(struct billing *b, const struct billing_session_request *request, struct arena *a,
                                   struct billing_session *ret);
    /* REFUSED: there is no such session. */
    enum outcome (*session_get)(struct billing *b, struct str id, struct arena *a, struct billing_session *ret);
    /* Expires an unpaid session. *ret is the session as it is then, which may be complete. */
    enum outcome (*session_expire)(struct billing *b, struct str id, struct arena *a, struct billing_session *ret);
    /* REFUSED: there is no such customer. */
    enum outcome (*portal)(struct billing *b, struct str customer_id, struct str return_url, struct arena *a,
                           struct str *ret_url);
    /* Ends a customer for good: its subscriptions at once, and its data as far as the provider may delete it. REFUSED:
     * there is no such customer any more. May be repeated. */
    enum outcome (*customer_delete)(struct billing *b, struct str customer_id, struct arena *a);
    /* REFUSED: there is no such subscription. */
    enum outcome (*subscription_get)(struct billing *b, struct str id, struct arena *a,
                                     struct billing_subscription *ret);
    enum outcome (*preview)(struct billing *b, struct str subscription_id, int64_t quantity, int64_t proration_s,
                            struct arena *a, struct billing_preview *ret);
    /* Sets the quantity, prorated from proration_s (Unix seconds), or from now if the provider does not accept that
     * time any more. REFUSED: the payment was declined; the quantity is unchanged. */
    enum outcome (*set_quantity)(struct billing *b, struct str key, struct str subscription_id, int64_t quantity,
                                 int64_t proration_s, struct arena *a);
    /* Reads the body of a request to /hooks/<provider>. Returns false unless the provider has signed it recently. NULL
     * if the provider posts no events. */
    bool (*event)(struct billing *b, struct str signature, struct str body, struct arena *a, struct billing_event *ret);
    void (*free)(struct billing *b);
};

/* The first member of every provider's struct. */
struct billing {
    const struct billing_ops *ops;
};

/* Opens the configured provider (billing.provider). ret_why as in config_load. The store must outlive it. */
enum err billing_new(const struct config *c, struct store *store, struct billing **ret, char **ret_why) CHECKED;
static inline void billing_free(struct billing *b)
{
    if (b)
        b->ops->free(b);
}

/* Stripe, and the provider of accounts that pay nothing; the built-in provider is in builtin_billing.h. */
enum err stripe_billing_new(const struct config *c, struct billing **ret, char **ret_why) CHECKED;
struct billing *no_billing_new(const struct config *c, struct store *store);
