/* The log of deliveries, and their replay (WEBHOOK-31, WEBHOOK-32). jobs/delivery.h sends them. */
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
    int64_t attempts; /* attempts that have ended */
    int64_t created_us;
    int64_t due_us;       /* of the next attempt; 0: not pending */
    int64_t attempted_us; /* the end of the last attempt; 0: not attempted */
    int64_t status_code;  /* of the last answer; 0: no answer */
    struct str failure;   /* as in struct delivery_result; STR_NONE: the last attempt did not fail */
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

/* A page of an endpoint's deliveries, in the arena. The endpoint may be deleted. Fails with ERR_NOT_FOUND if the
 * account never had it. */
enum err delivery_log_page(struct tx *tx, const struct id *account, const struct id *webhook,
                           const struct delivery_filter *filter, struct delivery_page *ret) CHECKED;
/* For the operator: at most `limit` deliveries of an account, newest event first; `status` may be STR_NONE. With an
 * empty account: the deliveries of all accounts with the status, newest first. */
enum err delivery_log_search(struct tx *tx, const struct id *account, struct str status, int64_t limit,
                             const struct delivery_entry **ret, size_t *ret_count) CHECKED;

/* Queues a new delivery of the same event, with the same event ID. Fails with ERR_NOT_FOUND (no such delivery, or its
 * endpoint is deleted), ERR_DELIVERY_PENDING (it has not ended). */
enum err delivery_replay(struct tx *tx, const struct id *account, const struct id *webhook, const struct id *id,
                         struct id *ret_delivery) CHECKED;
/* The same for a delivery of any account, for the operator. */
enum err delivery_replay_any(struct tx *tx, const struct id *id, struct id *ret_delivery) CHECKED;

/* Deletes at most `limit` deliveries that were written before the second of before_us and are not pending. *ret_count
 * is their number. */
enum err delivery_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
