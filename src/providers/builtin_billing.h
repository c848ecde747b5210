/* The sandbox's billing provider: what it keeps, and what happens on its own side, where customers pay and cancel.
 *
 * Its tables are its own: the service learns of them through struct billing_ops alone. These functions are for the
 * pages and operations under /sandbox; they run in a transaction of the caller's. */
#pragma once
#include "providers/billing.h"

#define BUILTIN_SESSION_TTL_S 86400

struct billing *builtin_billing_new(const struct config *c, struct store *store);

/* "https://host:8443/some" of "https://host:8443/some/account?checkout=success": the sandbox's pages stand beside the
 * account's, as the sandbox listens with the service. */
struct str builtin_page_base(struct str url);

/* A hosted checkout with all that its page shows. */
struct builtin_session {
    struct billing_session session;
    struct str url; /* also when it has ended */
    struct str email, plan;
    int64_t quantity;
    struct str success_url, cancel_url;
};

/* ERR_NOT_FOUND. */
enum err builtin_session_get(struct db *db, struct str id, int64_t now_us, struct arena *a,
                             struct builtin_session *ret) CHECKED;
/* Makes the session of that key, or finds the one that was made with it. */
enum err builtin_session_create(struct db *db, const struct billing_session_request *request, int64_t now_us,
                                struct arena *a, struct builtin_session *ret) CHECKED;
/* The customer pays: a customer and an active subscription are there. A session that is not open stays as it is;
 * *ret is what it has become. ERR_NOT_FOUND. */
enum err builtin_session_pay(struct db *db, struct str id, int64_t now_us, struct arena *a,
                             struct builtin_session *ret) CHECKED;
/* Ends an unpaid one; *ret as above. ERR_NOT_FOUND. */
enum err builtin_session_expire(struct db *db, struct str id, int64_t now_us, struct arena *a,
                                struct builtin_session *ret) CHECKED;

/* Without price, which stands in the configuration. ERR_NOT_FOUND. */
enum err builtin_subscription_get(struct db *db, struct str id, struct arena *a,
                                  struct billing_subscription *ret) CHECKED;
/* The newest of a customer. ERR_NOT_FOUND: no such customer, or it never had one. */
enum err builtin_subscription_of(struct db *db, struct str customer_id, struct arena *a,
                                 struct billing_subscription *ret) CHECKED;
/* Makes one; with customer_id STR_NONE also its customer. ret_id is in the arena. */
enum err builtin_subscription_create(struct db *db, const struct billing_subscription *s, struct str email,
                                     struct arena *a, struct str *ret_id) CHECKED;
/* Writes its status and quantity. */
enum err builtin_subscription_put(struct db *db, const struct billing_subscription *s) CHECKED;
/* Once a key. ERR_NOT_FOUND: no such subscription, or it is canceled. */
enum err builtin_subscription_set_quantity(struct db *db, struct str key, struct str id, int64_t quantity,
                                           struct arena *a) CHECKED;
/* ERR_NOT_FOUND. */
enum err builtin_customer_get(struct db *db, struct str id, struct arena *a, struct str *ret_email) CHECKED;
