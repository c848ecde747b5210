/* What became of deliveries, and sending an event once more (decisions section 9). The engine that sends is elsewhere:
 * jobs/delivery.h. */
#pragma once
#include "domain/tx.h"

enum delivery_status { DELIVERY_PENDING, DELIVERY_DELIVERED, DELIVERY_FAILED, DELIVERY_CANCELED };

/* "pending" …, in the order of the enum, NULL-terminated. */
extern const char *const delivery_status_names[];

#define DELIVERY_PAGE_DEFAULT 50
#define DELIVERY_PAGE_MAX     100

struct delivery_entry {
    struct id id, webhook_id, account_id;
    struct str event_id, type, status;
    int64_t attempts; /* that have ended */
    int64_t created_us;
    int64_t due_us;       /* of the next attempt; 0: it is not pending */
    int64_t attempted_us; /* the last attempt's end; 0: there was none */
    int64_t status_code;  /* of its answer; 0: none came */
    struct str failure;   /* why it failed, in a word; STR_NONE: it did not */
};

struct delivery_filter {
    struct val status; /* str */
    struct val limit;  /* int */
    struct val cursor; /* str: continue below this delivery's ID */
};

struct delivery_page {
    const struct delivery_entry *items; /* newest first */
    size_t count;
    bool more;
};

/* A page of an endpoint's deliveries, also of a deleted one. ERR_NOT_FOUND: no such endpoint of the account. */
enum err delivery_log_page(struct tx *tx, const struct id *account, const struct id *webhook,
                           const struct delivery_filter *filter, struct delivery_page *ret) CHECKED;
/* For the operator: at most `limit` of an account, the newest events first, or, with an empty account, of all that
 * have the status, newest first. `status` is STR_NONE for any of an account's. */
enum err delivery_log_search(struct tx *tx, const struct id *account, struct str status, int64_t limit,
                             const struct delivery_entry **ret, size_t *ret_count) CHECKED;

/* Sends the event of a delivery again, the same event under the same ID, by a new delivery. ERR_NOT_FOUND: no such
 * delivery, or its endpoint is deleted; ERR_DELIVERY_PENDING: it has not ended. */
enum err delivery_replay(struct tx *tx, const struct id *account, const struct id *webhook, const struct id *id,
                         struct id *ret_delivery) CHECKED;
/* The same, for the operator: whosever it is. */
enum err delivery_replay_any(struct tx *tx, const struct id *id, struct id *ret_delivery) CHECKED;

/* Deletes at most `limit` deliveries that were made before that second and are not pending; *ret_count says how many.
 */
enum err delivery_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
