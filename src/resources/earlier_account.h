/* The earlier revision's rows for the account, plans, checkout and buildings (contract, Versioning 3;
 * docs/behaviour/earlier.md). */
#pragma once
#include "api/route.h"

enum earlier_account_row {
    EARLIER_GET_ACCOUNT,
    EARLIER_LIST_PLANS,
    EARLIER_GET_CHECKOUT,
    EARLIER_CREATE_CHECKOUT,
    EARLIER_PREVIEW_BUILDING,
    EARLIER_ACCOUNT_ROWS
};

/* For `earlier` of the current revision's rows. */
extern const struct route earlier_account_rows[EARLIER_ACCOUNT_ROWS];
