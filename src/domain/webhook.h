/* Webhook endpoints: who is told of an account's events (contract, Webhook endpoints; decisions section 8). */
#pragma once
#include "base/crypto.h"
#include "domain/tx.h"

#define WEBHOOK_MAX        5 /* endpoints of an account that are not deleted */
#define WEBHOOK_URL_MAX    2048
#define WEBHOOK_SECRET_LEN 49 /* "whsec_" and 43 base62 */

/* What the stored secrets are sealed for (crypto_seal, crypto_open). */
#define WEBHOOK_PURPOSE "webhook"

struct webhook {
    struct id id;
    int64_t created_us;
    struct str url;
    uint32_t events; /* bit i: enum event_type i */
};

/* The bits of a list of types (a VAL_LIST of VAL_STR; absent: all of them). ERR_INVALID_WEBHOOK_EVENTS for an unknown
 * one, one that stands twice, or none at all. */
enum err webhook_events(struct tx *tx, struct val texts, uint32_t *ret) CHECKED;

/* Whose request it is: an Idempotency-Key and the SHA-256 of the canonical body. */
struct webhook_request {
    const struct id *account;
    struct str key; /* STR_NONE without one */
    const unsigned char *hash;
};

/* What an earlier request with this key made, also if it was deleted since, and its secret, in the arena.
 * ERR_NOT_FOUND: there was none; ERR_IDEMPOTENCY_CONFLICT: it had another body; ERR_SECRET_DECRYPT_FAILED. */
enum err webhook_replay(struct tx *tx, const struct webhook_request *request, struct webhook *ret,
                        struct str *ret_secret) CHECKED;
/* Makes an endpoint with a secret, or replays. The caller has checked the URL. ERR_WEBHOOK_LIMIT for a sixth one, and
 * webhook_replay's. */
enum err webhook_create(struct tx *tx, const struct webhook_request *request, struct str url, uint32_t events,
                        struct webhook *ret, struct str *ret_secret, bool *ret_replayed) CHECKED;

/* The account's endpoints that are not deleted, newest first, in the arena. */
enum err webhook_list(struct tx *tx, const struct id *account, const struct webhook **ret, size_t *ret_count) CHECKED;
/* Whether there is such an endpoint of the account, deleted ones included. ERR_NOT_FOUND. */
enum err webhook_find(struct tx *tx, const struct id *account, const struct id *id, bool *ret_deleted) CHECKED;
/* Ends an endpoint of the account and cancels its pending deliveries; what there is no such endpoint for is no error.
 * Its receipt and its history stay. */
enum err webhook_delete(struct tx *tx, const struct id *account, const struct id *id) CHECKED;
/* Queues a webhook.test event for it. ERR_NOT_FOUND: unknown, another account's or deleted. */
enum err webhook_test(struct tx *tx, const struct id *account, const struct id *id, struct id *ret_delivery) CHECKED;
