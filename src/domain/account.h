/* Accounts: made by the first sign-in, and the one view of all that a caller needs to know (contract, Account). */
#pragma once
#include "domain/building.h"
#include "domain/principal.h"
#include "domain/tx.h"

enum subscription_status { SUBSCRIPTION_NONE, SUBSCRIPTION_ACTIVE, SUBSCRIPTION_PAST_DUE };
/* "none", "active", "past_due" */
const char *subscription_status_text(enum subscription_status status);

/* The account of an e-mail (lower case), made with its primary building if there is none. */
enum err account_ensure(struct tx *tx, struct str email, struct id *ret) CHECKED;
/* ERR_ACCOUNT_NOT_FOUND. */
enum err account_find(struct tx *tx, struct str email, struct id *ret) CHECKED;

struct account {
    struct id id;
    struct str email;
    int64_t created_us;
    struct str plan; /* STR_NONE without a subscription */
    enum subscription_status status;
    struct str phone; /* the verified forwarding phone, STR_NONE without one */
};

/* ERR_ACCOUNT_NOT_FOUND. */
enum err account_get(struct tx *tx, const struct id *account, struct account *ret) CHECKED;

struct account_view {
    struct account account;
    struct building building; /* the primary one; the key's own for a key bound to one */
    int64_t building_count;   /* that the key sees */
    bool selection_required;
    int64_t total_unlocks, active_grants, shared_users; /* over the buildings the key sees */
};

/* Everything GET /v1/account tells `who`. */
enum err account_view(struct tx *tx, const struct principal *who, struct account_view *ret) CHECKED;
