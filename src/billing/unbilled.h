/* Accounts while no provider bills (billing.provider none; BILLING-29 to BILLING-31). */
#pragma once
#include "domain/tx.h"

/* Brings some accounts into line with billing.provider, which may have changed since the last start. *ret_more: call it
 * again, in another transaction.
 *
 * Without billing, an account becomes active on billing.free_plan and its buildings get numbers; the subscription that
 * it has at its provider is kept. With billing, an account gets that subscription back, or none, as if it had ended
 * now; a job then reads it from the provider. */
enum err unbilled_settle(struct tx *tx, bool *ret_more) CHECKED;
