/* The billing provider's IDs of an account: its customer and its subscription. */
#pragma once
#include "domain/account.h"

struct billing_account {
    struct str email;
    enum subscription_status status;
    struct str plan, customer_id, subscription_id; /* STR_NONE if the account has none */
    int64_t building_count;
};

/* The texts are in the arena. Fails with ERR_ACCOUNT_NOT_FOUND. */
enum err billing_account_get(struct tx *tx, const struct id *account, struct billing_account *ret) CHECKED;
enum err billing_account_set_customer(struct tx *tx, const struct id *account, struct str customer_id) CHECKED;
/* STR_NONE: the account has no subscription. */
enum err billing_account_set_subscription(struct tx *tx, const struct id *account, struct str subscription_id) CHECKED;
