/* What the billing provider says, and what follows from it (decisions section 4).
 *
 * An event is only a hint: it queues a fresh reading of what it is about, and what was read is applied here. So events
 * may come late, twice, in any order, or not at all. One job an object keeps readings of the same thing apart. */
#pragma once
#include "domain/account.h"
#include "domain/tx.h"

#define JOB_BILLING_SYNC "billing_sync" /* payload: what is to be read, as billing_sync_parse takes it */

enum billing_subject { BILLING_SUBJECT_SESSION, BILLING_SUBJECT_SUBSCRIPTION };

/* *ret_fresh: the event was not seen before. */
enum err billing_event_note(struct tx *tx, struct str event_id, bool *ret_fresh) CHECKED;
/* Deletes at most `limit` notes from before then; *ret_count says how many. */
enum err billing_event_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;

/* Queues a reading, which runs (again) after this transaction. */
enum err billing_sync_queue(struct tx *tx, enum billing_subject subject, struct str object_id) CHECKED;
/* False for a payload that billing_sync_queue did not write. ret_object is a part of it. */
bool billing_sync_parse(struct str payload, enum billing_subject *ret_subject, struct str *ret_object);

/* What the provider knows an account by. */
struct billing_account {
    struct str email;
    enum subscription_status status;
    struct str plan, customer_id, subscription_id; /* STR_NONE without */
    int64_t building_count;
};

/* ERR_ACCOUNT_NOT_FOUND. */
enum err billing_account_get(struct tx *tx, const struct id *account, struct billing_account *ret) CHECKED;
enum err billing_account_set_customer(struct tx *tx, const struct id *account, struct str customer_id) CHECKED;

/* A subscription as the provider has it now. */
struct billing_facts {
    struct str id, customer_id;
    struct str account_id;           /* as the checkout named it */
    enum subscription_status status; /* none: canceled, or `unpaid` */
    bool unpaid;                     /* its first payment is on the way: it opens no door yet, but has not ended */
    struct str plan;                 /* STR_NONE: none of ours; the account's stays as it is */
    bool untold;                     /* read as a matter of routine: what has not changed is left alone */
};

/* ERR_NOT_FOUND unless it is one that an account lives on, or that a checkout brought and that has not ended. */
enum err billing_known(struct tx *tx, struct str subscription_id) CHECKED;
/* Makes the account's subscription what the provider says. *ret_live: it is an account's, and goes on. One that belongs
 * to nobody here, or to an account that lives on another one, changes nothing. */
enum err billing_apply(struct tx *tx, const struct billing_facts *facts, bool *ret_live) CHECKED;
