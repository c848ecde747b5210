/* Building operations: additions and removals of linked buildings, quoted first and then carried out step by step
 * (contract, Building operation; decisions sections 5 and 10).
 *
 * Here stand the rules and the row; jobs/operation.c asks the providers. Each step is on record before anybody outside
 * is asked, so that a crash at any point resumes it or rolls back. */
#pragma once
#include "base/crypto.h"
#include "domain/building.h"
#include "domain/tx.h"

#define OPERATION_QUOTE_TTL_S (15 * 60)
#define OPERATION_STALLED_S   (5 * 60)             /* without progress: reconciliation_required */
#define JOB_OPERATION         "building_operation" /* payload: an operation's ID; so is the end of its own name */

enum operation_action { OPERATION_ADD, OPERATION_REMOVE };
/* "add", "remove" */
const char *operation_action_text(enum operation_action action);

enum operation_status {
    OPERATION_QUOTED,
    OPERATION_EXPIRED, /* derived: a quote after its time */
    OPERATION_RUNNING,
    OPERATION_SUCCEEDED,
    OPERATION_RECONCILIATION_REQUIRED,
    OPERATION_FAILED
};
const char *operation_status_text(enum operation_status status);

/* What a running operation does next; the last four are how it can end. */
enum operation_step {
    STEP_NONE,
    STEP_ADD_QUANTITY,    /* one unit more at the billing provider */
    STEP_ADD_BUILDING,    /* the building's row */
    STEP_ADD_NUMBER,      /* its number */
    STEP_ADD_UNDO_NUMBER, /* and all of it back */
    STEP_ADD_UNDO_BUILDING,
    STEP_ADD_UNDO_QUANTITY,
    STEP_REMOVE_RELEASE,  /* the number back to its provider */
    STEP_REMOVE_DELETE,   /* all that belongs to the building */
    STEP_REMOVE_QUANTITY, /* one unit less */
    STEP_REMOVE_UNDO_RELEASE,
    STEP_SUCCEEDED,
    STEP_PAYMENT_FAILED, /* nothing was done */
    STEP_ADD_FAILED,     /* everything was undone */
    STEP_REMOVE_UNDONE,
    STEP_COUNT
};
/* "add_quantity" …; NULL for STEP_NONE and for ends. */
const char *operation_step_text(enum operation_step step);

/* What the subscription was at the quote, and what it shall become. */
struct operation_billing {
    struct str subscription_id, price_id, currency;
    struct str interval; /* STR_NONE: not known */
    int64_t current_quantity, new_quantity;
    int64_t next_invoice_minor; /* the whole upcoming invoice */
    int64_t per_building_minor; /* -1: tiered */
    int64_t proration_s;        /* Unix seconds */
};

struct operation {
    struct id id, account_id;
    enum operation_action action;
    enum operation_status status;
    int64_t created_us, expires_us;
    struct id building_id; /* of an addition: since its execution began */
    struct str label;
    struct building_address address;      /* these three: of an addition */
    struct str unlock_tone, phone_number; /* phone_number: whom its calls are forwarded to */
    struct str virtual_number;            /* of a removal: at the quote, STR_NONE without one */
    int64_t building_count;               /* of the account, at the quote */
    struct operation_billing billing;
    struct str request_id; /* the execution's Idempotency-Key; STR_NONE before */
    unsigned char request_hash[SHA256_LEN];
    enum operation_step step;
    int64_t attempt; /* part of the keys providers are given: counts what had to be asked anew */
    int64_t progressed_us;
    enum err error;           /* of a failed one: what its execution answers; ERR_NONE: the operation itself */
    struct str result_number; /* the number that was got, or given back */
};

/* ---- preview ---- */

struct operation_input {
    enum operation_action action;
    struct id building_id; /* of a removal; what follows: of an addition */
    struct str label;
    struct building_address address;      /* normalised by building_address_normalise */
    struct str unlock_tone, phone_number; /* phone_number: STR_NONE takes the account's */
};

/* A US or Canadian address as it is stored: country (default US), state and postal code in their own form. False with
 * why, "address.zip must be …". */
bool building_address_normalise(struct building_address *address, struct arena *a, const char **ret_why);

/* What the billing provider says about a subscription. */
struct operation_facts {
    bool active;
    struct str price_id, currency, interval;
    int64_t amount_minor; /* of one unit; -1: tiered */
    int64_t quantity;
};

/* May it be quoted, as far as is known here? The subscription is *ret_subscription's, in the arena. Errors, in this
 * order: MULTI_BUILDING_REQUIRED; removal: BUILDING_NOT_FOUND, INVALID_BUILDING_INPUT (the primary); addition:
 * BUILDING_LIMIT, PHONE_VERIFICATION_REQUIRED, FORWARDING_PHONE_NOT_VERIFIED; BUILDING_BILLING_MISMATCH (no
 * subscription). */
enum err operation_draft(struct tx *tx, const struct id *account, const struct operation_input *input,
                         struct str *ret_subscription) CHECKED;

struct operation_offer {
    const struct operation_facts *facts; /* NULL: the provider knows no such subscription */
    int64_t next_invoice_minor;          /* with operation_new_quantity */
    int64_t proration_s;
};
int64_t operation_new_quantity(enum operation_action action, const struct operation_facts *facts);
/* The same with what the billing provider says, stored: a quote. Besides: BUILDING_BILLING_MISMATCH, unless the
 * difference is that of an operation that has not ended. */
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

/* The operation that this key executed. ERR_NOT_FOUND: none; ERR_IDEMPOTENCY_CONFLICT: with another body, action or
 * building. */
enum err operation_replay(struct tx *tx, const struct operation_request *request, struct operation *ret) CHECKED;
/* May it be executed, as far as is known here? Errors in the order of decisions section 10; a key that was used before
 * gives its operation with *ret_replayed, or IDEMPOTENCY_CONFLICT. */
enum err operation_check(struct tx *tx, const struct operation_request *request, struct operation *ret,
                         bool *ret_replayed) CHECKED;
/* The same, and with what the billing provider says (NULL: it knows no such subscription): running from now on, with a
 * job. Besides: QUOTE_STALE, BUILDING_BILLING_MISMATCH. */
enum err operation_start(struct tx *tx, const struct operation_request *request, const struct operation_facts *facts,
                         struct operation *ret, bool *ret_replayed) CHECKED;
/* The name of its job. */
struct str operation_job(const struct id *operation, struct arena *a);

/* ---- reading ---- */

/* One of the account's. ERR_NOT_FOUND. In a write transaction; one without progress is marked. */
enum err operation_get(struct tx *tx, const struct id *account, const struct id *operation,
                       struct operation *ret) CHECKED;
/* The account's that runs or waits for the operator, as it is on record. ERR_NOT_FOUND: none. */
enum err operation_current(struct tx *tx, const struct id *account, struct operation *ret) CHECKED;
/* Anybody's, for the job and the operator; the same as operation_get otherwise. */
enum err operation_find(struct tx *tx, const struct id *operation, struct operation *ret) CHECKED;
/* Those that run or wait for the operator, oldest first, and their accounts' e-mails, in the arena. Likewise. */
enum err operation_list_current(struct tx *tx, const struct operation **ret, const struct str **ret_emails,
                                size_t *ret_count) CHECKED;

/* What a removal does, in sentences: `ret` has room for OPERATION_EFFECTS. */
#define OPERATION_EFFECTS 4
void operation_effects(const struct operation *o, struct arena *a, struct str ret[static OPERATION_EFFECTS]);
