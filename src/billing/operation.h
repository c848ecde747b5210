/* Building operations: additions and removals of linked buildings, first quoted and then executed step by step
 * (contract, Building operation; BUILDING-12 to BUILDING-23).
 *
 * This file has the rules and the row; jobs/building_saga.c asks the providers. Each step is recorded before a provider
 * is asked, so that the operation resumes or rolls back after a crash at any point. */
#pragma once
#include "base/crypto.h"
#include "domain/building.h"
#include "domain/tx.h"

#define OPERATION_QUOTE_TTL_S (15 * 60)
#define OPERATION_STALLED_S   (5 * 60)             /* without progress: reconciliation_required */
#define JOB_OPERATION         "building_operation" /* payload: an operation's ID; its name is operation_job() */

enum operation_action { OPERATION_ADD, OPERATION_REMOVE };
/* "add", "remove" */
const char *operation_action_text(enum operation_action action);

enum operation_status {
    OPERATION_QUOTED,
    OPERATION_EXPIRED, /* derived: a quote whose time is over */
    OPERATION_RUNNING,
    OPERATION_SUCCEEDED,
    OPERATION_RECONCILIATION_REQUIRED,
    OPERATION_FAILED
};
const char *operation_status_text(enum operation_status status);

/* The next step of a running operation. The last four are its ends. */
enum operation_step {
    STEP_NONE,
    STEP_ADD_QUANTITY,    /* add a unit to the subscription */
    STEP_ADD_BUILDING,    /* insert the building */
    STEP_ADD_NUMBER,      /* provide its number */
    STEP_ADD_UNDO_NUMBER, /* undo these three, in reverse */
    STEP_ADD_UNDO_BUILDING,
    STEP_ADD_UNDO_QUANTITY,
    STEP_REMOVE_RELEASE,  /* return the number to its provider */
    STEP_REMOVE_DELETE,   /* delete the building and its data */
    STEP_REMOVE_QUANTITY, /* remove a unit from the subscription */
    STEP_REMOVE_UNDO_RELEASE,
    STEP_SUCCEEDED,
    STEP_PAYMENT_FAILED, /* nothing was done */
    STEP_ADD_FAILED,     /* everything was undone */
    STEP_REMOVE_UNDONE,
    STEP_COUNT
};
/* "add_quantity", …; NULL for STEP_NONE and for ends. */
const char *operation_step_text(enum operation_step step);

/* The subscription at the quote, and its change. */
struct operation_billing {
    struct str subscription_id, price_id, currency;
    struct str interval; /* STR_NONE: not known */
    int64_t current_quantity, new_quantity;
    int64_t next_invoice_minor; /* the total of the upcoming invoice */
    int64_t per_building_minor; /* -1: tiered */
    int64_t proration_s;        /* Unix seconds */
};

struct operation {
    struct id id, account_id;
    enum operation_action action;
    enum operation_status status;
    int64_t created_us, expires_us;
    struct id building_id; /* of an addition: set when its execution begins */
    struct str label;
    struct building_address address;      /* these three are of an addition */
    struct str unlock_tone, phone_number; /* phone_number: its forwarding phone at the quote */
    bool phone_given;                     /* for this building; else it follows the account's */
    struct str timezone;                  /* of an addition: IANA name */
    struct str virtual_number;            /* of a removal, at the quote; STR_NONE: not provisioned */
    int64_t building_count;               /* of the account, at the quote */
    struct operation_billing billing;
    struct str request_id; /* the Idempotency-Key of the execution; STR_NONE: not executed */
    unsigned char request_hash[SHA256_LEN];
    enum operation_step step;
    int64_t attempt; /* part of the idempotency keys at providers; incremented to ask again after a refusal */
    int64_t progressed_us;
    enum err
        error; /* of a failed one: the error of its execution; ERR_NONE: the execution answers with the operation */
    struct str result_number; /* the number that was provided or returned */
};

/* ---- preview ---- */

struct operation_input {
    enum operation_action action;
    struct id building_id; /* of a removal; the other members are of an addition */
    struct str label;
    struct building_address address;      /* from building_address_normalise */
    struct str unlock_tone, phone_number; /* phone_number: STR_NONE for the account's */
    struct str timezone;                  /* IANA name; STR_NONE: the first of the address (BUILDING-33) */
};

/* Checks a US or Canadian address, and brings it into its stored form: sets the default country US, and formats the
 * postal code. Returns false with *ret_why, "address.zip must be …". */
bool building_address_normalise(struct building_address *address, struct arena *a, const char **ret_why);
/* The time zones of a normalised address's state or province (tbl/regions.def), NULL-terminated: first the one of most
 * of its people. Constant; without an entry if the address is not known. */
const char *const *building_zones(const struct building_address *address);

/* A subscription as the billing provider has it now. */
struct operation_facts {
    bool active;
    struct str price_id, currency, interval;
    int64_t amount_minor; /* of one unit; -1: tiered */
    int64_t quantity;
};

/* Checks an input before the billing provider is asked about *ret_subscription, which is in the arena. Fails, in this
 * order, with ERR_MULTI_BUILDING_REQUIRED; for a removal ERR_BUILDING_NOT_FOUND, ERR_INVALID_BUILDING_INPUT (the
 * primary building); for an addition ERR_BUILDING_LIMIT, ERR_PHONE_VERIFICATION_REQUIRED,
 * ERR_INVALID_PHONE_NUMBER (voice.destinations), ERR_FORWARDING_PHONE_NOT_VERIFIED; ERR_BUILDING_BILLING_MISMATCH (no
 * subscription). */
enum err operation_draft(struct tx *tx, const struct id *account, const struct operation_input *input,
                         struct str *ret_subscription) CHECKED;

struct operation_offer {
    const struct operation_facts *facts; /* NULL: the provider does not know the subscription */
    int64_t next_invoice_minor;          /* for operation_new_quantity() units */
    int64_t proration_s;
};
int64_t operation_new_quantity(enum operation_action action, const struct operation_facts *facts);
/* Makes the checks of operation_draft again, and stores a quote. Also fails with ERR_BUILDING_BILLING_MISMATCH if the
 * quantity is not the count of buildings, except for the difference of an operation that has not ended. */
enum err operation_quote(struct tx *tx, const struct id *account, const struct operation_input *input,
                         const struct operation_offer *offer, struct operation *ret) CHECKED;

/* ---- execution ---- */

struct operation_request {
    struct id account_id, quote_id;
    enum operation_action action;
    struct id building_id;     /* the path's; empty for an addition */
    struct str key;            /* Idempotency-Key */
    const unsigned char *hash; /* SHA256_LEN bytes, of the canonical body */
};

/* The operation that this key executed. Fails with ERR_NOT_FOUND, or ERR_IDEMPOTENCY_CONFLICT if the body, the action
 * or the building was different. */
enum err operation_replay(struct tx *tx, const struct operation_request *request, struct operation *ret) CHECKED;
/* Checks a request before the billing provider is asked. A key that was used before gives its operation, with
 * *ret_replayed. Errors in the order of BUILDING-12. */
enum err operation_check(struct tx *tx, const struct operation_request *request, struct operation *ret,
                         bool *ret_replayed) CHECKED;
/* Makes the checks of operation_check again, then starts the operation and queues its job. facts is NULL if the
 * provider does not know the subscription. Also fails with ERR_QUOTE_STALE, ERR_BUILDING_BILLING_MISMATCH. */
enum err operation_start(struct tx *tx, const struct operation_request *request, const struct operation_facts *facts,
                         struct operation *ret, bool *ret_replayed) CHECKED;
/* The name of an operation's job. */
struct str operation_job(const struct id *operation, struct arena *a);

/* ---- reading ---- */

/* An operation of the account. Needs a write transaction: an operation without progress for OPERATION_STALLED_S becomes
 * reconciliation_required. Fails with ERR_NOT_FOUND. */
enum err operation_get(struct tx *tx, const struct id *account, const struct id *operation,
                       struct operation *ret) CHECKED;
/* The account's operation that runs or waits for the operator, as recorded. Fails with ERR_NOT_FOUND. */
enum err operation_current(struct tx *tx, const struct id *account, struct operation *ret) CHECKED;
/* As operation_get, for any account: for the job and the operator. */
enum err operation_find(struct tx *tx, const struct id *operation, struct operation *ret) CHECKED;
/* All operations that run or wait for the operator, oldest first, and the e-mails of their accounts, in the arena.
 * Needs a write transaction, as operation_get. */
enum err operation_list_current(struct tx *tx, const struct operation **ret, const struct str **ret_emails,
                                size_t *ret_count) CHECKED;

/* The effects of a removal, in sentences for people. */
#define OPERATION_EFFECTS 4
void operation_effects(const struct operation *o, struct arena *a, struct str ret[static OPERATION_EFFECTS]);
