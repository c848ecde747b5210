/* The built-in billing provider: its records, and the actions of customers on its pages.
 *
 * The service learns of its tables through struct billing_ops alone. The functions below serve the pages and routes
 * under /sandbox; they run in the caller's transaction. Those with an ID fail with ERR_NOT_FOUND if it is unknown. */
#pragma once
#include "providers/billing.h"

#define BUILTIN_SESSION_TTL_S 86400

struct billing *builtin_billing_new(const struct config *c, struct store *store);

/* The URL below which the sandbox's pages are, next to the account's page: "https://host:8443/some" for
 * "https://host:8443/some/account?checkout=success". */
struct str builtin_page_base(struct str url);

/* A hosted checkout, with the members that its page shows. */
struct builtin_session {
    struct billing_session session;
    struct str url; /* also after its end */
    struct str email, plan;
    int64_t quantity;
    struct str success_url, cancel_url;
};

enum err builtin_session_get(struct db *db, struct str id, int64_t now_us, struct arena *a,
                             struct builtin_session *ret) CHECKED;
/* Creates the session of that key, or gets the one that was created with it. */
enum err builtin_session_create(struct db *db, const struct billing_session_request *request, int64_t now_us,
                                struct arena *a, struct builtin_session *ret) CHECKED;
/* The customer pays: completes an open session, and creates its customer and an active subscription. *ret is the
 * session as it is then. */
enum err builtin_session_pay(struct db *db, struct str id, int64_t now_us, struct arena *a,
                             struct builtin_session *ret) CHECKED;
/* Expires an open session. *ret is the session as it is then. */
enum err builtin_session_expire(struct db *db, struct str id, int64_t now_us, struct arena *a,
                                struct builtin_session *ret) CHECKED;

/* Without the price, which is in the configuration. */
enum err builtin_subscription_get(struct db *db, struct str id, struct arena *a,
                                  struct billing_subscription *ret) CHECKED;
/* The newest subscription of a customer. ERR_NOT_FOUND also if it never had one. */
enum err builtin_subscription_of(struct db *db, struct str customer_id, struct arena *a,
                                 struct billing_subscription *ret) CHECKED;
/* Creates a subscription, and its customer if customer_id is STR_NONE. ret_id is in the arena. */
enum err builtin_subscription_create(struct db *db, const struct billing_subscription *s, struct str email,
                                     struct arena *a, struct str *ret_id) CHECKED;
/* Writes the status and the quantity. */
enum err builtin_subscription_put(struct db *db, const struct billing_subscription *s) CHECKED;
/* Has an effect once for each key. ERR_NOT_FOUND also if the subscription is canceled. */
enum err builtin_subscription_set_quantity(struct db *db, struct str key, struct str id, int64_t quantity,
                                           struct arena *a) CHECKED;
/* Deletes the customer and cancels its subscriptions. */
enum err builtin_customer_delete(struct db *db, struct str id) CHECKED;
enum err builtin_customer_get(struct db *db, struct str id, struct arena *a, struct str *ret_email) CHECKED;
