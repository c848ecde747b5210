/* The earlier revision of the interface: its rows for grants, setup and webhooks (contract, Versioning 3;
 * docs/behaviour/earlier.md).
 *
 * Its fields have other names; the rules are the current revision's. */
#pragma once
#include "api/route.h"

enum earlier_row {
    EARLIER_GET_UNLOCK,
    EARLIER_LIST_UNLOCK,
    EARLIER_CREATE_UNLOCK,
    EARLIER_UPDATE_UNLOCK,
    /* paths that the current revision does not have */
    EARLIER_GET_SETUP,
    EARLIER_UPDATE_SETUP,
    EARLIER_ROWS
};

enum earlier_webhook_row {
    EARLIER_CREATE_WEBHOOK,
    EARLIER_LIST_WEBHOOK,
    EARLIER_UPDATE_WEBHOOK,
    EARLIER_DELETE_WEBHOOK,
    EARLIER_TEST_WEBHOOK,
    EARLIER_WEBHOOK_ROWS
};

/* For `earlier` of the current revision's rows. */
extern const struct route earlier_rows[EARLIER_ROWS];
extern const struct route earlier_webhook_rows[EARLIER_WEBHOOK_ROWS];
