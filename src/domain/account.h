/* Accounts: created by the first sign-in, and shown by GET /v1/account (contract, Account). */
#pragma once
#include "domain/building.h"
#include "domain/principal.h"
#include "domain/ready.h"
#include "domain/tx.h"

enum subscription_status { SUBSCRIPTION_NONE, SUBSCRIPTION_ACTIVE, SUBSCRIPTION_PAST_DUE };
/* "none", "active", "past_due" */
const char *subscription_status_text(enum subscription_status status);

/* The account of an e-mail (lower case). Creates the account and its primary building if it does not exist. */
enum err account_ensure(struct tx *tx, struct str email, struct id *ret) CHECKED;

/* For the operator. */
struct account_row {
    struct id id;
    struct str email, number; /* of the primary building; STR_NONE: it has none */
    int64_t created_us;
    bool signed_in; /* somebody has signed in */
};
/* At most `limit` accounts in the order of their addresses, from the one after `after`, in the arena. */
enum err account_list(struct tx *tx, struct str after, int64_t limit, const struct account_row **ret,
                      size_t *ret_count) CHECKED;
/* *ret: somebody has signed in to the account, or set it up. */
enum err account_used(struct tx *tx, const struct id *account, bool *ret) CHECKED;
/* Makes an account active on billing.free_plan. Its subscription at a provider is kept in its row (unbilled.h). */
enum err account_unbill(struct tx *tx, const struct id *account) CHECKED;
/* Fails with ERR_ACCOUNT_NOT_FOUND. */
enum err account_find(struct tx *tx, struct str email, struct id *ret) CHECKED;

struct account {
    struct id id;
    struct str email;
    int64_t created_us;
    struct str plan; /* STR_NONE: no subscription */
    enum subscription_status status;
    struct str phone; /* the forwarding phone; STR_NONE: not verified */
    bool earlier_revision;
};

/* Fails with ERR_ACCOUNT_NOT_FOUND. */
enum err account_get(struct tx *tx, const struct id *account, struct account *ret) CHECKED;

/* The facts of the account's building. */
struct ready account_ready(const struct account *account, const struct building *building);

/* Which revision of the interface the account's keys are served (EARLIER-1). The current one revokes the
 * owner's credentials. Fails with ERR_ACCOUNT_NOT_FOUND. */
enum err account_set_revision(struct tx *tx, const struct id *account, bool earlier) CHECKED;

struct account_view {
    struct account account;
    struct building building; /* the key's building if the key is bound to one, else the primary one */
    int64_t building_count;   /* buildings that the key may select */
    bool selection_required;
    int64_t total_unlocks, active_grants, shared_users; /* of the buildings that the key may select */
};

/* The reply to GET /v1/account for `who`, in the arena. */
enum err account_view(struct tx *tx, const struct principal *who, struct account_view *ret) CHECKED;
