/* Applies the state of a subscription, as a job read it from the billing provider (BILLING-23 to BILLING-27). */
#pragma once
#include "domain/account.h"

/* A subscription as the provider has it now. */
struct billing_facts {
    struct str id, customer_id;
    struct str account_id;           /* named in the checkout */
    enum subscription_status status; /* SUBSCRIPTION_NONE: canceled, or `unpaid` */
    bool unpaid;                     /* the first payment is pending: opens no door yet, but has not ended */
    struct str plan;                 /* STR_NONE: not one of our plans; the account keeps its plan */
    bool untold;                     /* read without an event: applied only if something has changed */
};

/* Fails with ERR_NOT_FOUND unless the subscription is the current one of an account, or one that a checkout brought and
 * that has not ended. */
enum err billing_known(struct tx *tx, struct str subscription_id) CHECKED;
/* Applies a subscription to its account. *ret_live is true if the subscription has an account and has not ended. Does
 * nothing if the subscription has no account here, or if the account has a different subscription. */
enum err billing_apply(struct tx *tx, const struct billing_facts *facts, bool *ret_live) CHECKED;
