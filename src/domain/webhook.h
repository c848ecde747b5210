/* Webhook endpoints of an account (contract, Webhook endpoints; WEBHOOK-1 to WEBHOOK-16). */
#pragma once
#include "base/crypto.h"
#include "domain/tx.h"

#define WEBHOOK_MAX        5 /* endpoints of an account that are not deleted */
#define WEBHOOK_URL_MAX    2048
#define WEBHOOK_SECRET_LEN 49    /* "whsec_" and 43 base62 */
#define WEBHOOK_KEEP_S     86400 /* the most for which a former secret is valid */

/* The purpose that secrets are sealed for (crypto_seal). */
#define WEBHOOK_PURPOSE "webhook"

struct webhook {
    struct id id;
    int64_t created_us;
    struct str url;
    uint32_t events; /* bit i: enum event_type i */
    bool active;     /* gets events */
};

/* The bits of a list of types, a VAL_LIST of VAL_STR. An absent list gives all types. Fails with
 * ERR_INVALID_WEBHOOK_EVENTS for an empty list, an unknown type or a duplicate. */
enum err webhook_events(struct tx *tx, struct val texts, uint32_t *ret) CHECKED;

/* The account of a creation, its Idempotency-Key and the SHA-256 of its canonical body. */
struct webhook_request {
    const struct id *account;
    struct str key; /* STR_NONE: no key */
    const unsigned char *hash;
};

/* The endpoint that an earlier request with this key created, also if it is deleted, and its secret, in the arena.
 * Fails with ERR_NOT_FOUND, ERR_IDEMPOTENCY_CONFLICT (the body was different; *ret is the endpoint then, too),
 * ERR_SECRET_DECRYPT_FAILED. */
enum err webhook_replay(struct tx *tx, const struct webhook_request *request, struct webhook *ret,
                        struct str *ret_secret) CHECKED;
/* Creates an endpoint with a secret, or replays. The caller must have checked the URL. Fails with ERR_WEBHOOK_LIMIT if
 * the account has WEBHOOK_MAX endpoints, and as webhook_replay. */
enum err webhook_create(struct tx *tx, const struct webhook_request *request, struct str url, uint32_t events,
                        struct webhook *ret, struct str *ret_secret, bool *ret_replayed) CHECKED;

/* The account's endpoints that are not deleted, newest first, in the arena. */
enum err webhook_list(struct tx *tx, const struct id *account, const struct webhook **ret, size_t *ret_count) CHECKED;
/* *ret_deleted: the endpoint of the account is deleted. Fails with ERR_NOT_FOUND. */
enum err webhook_find(struct tx *tx, const struct id *account, const struct id *id, bool *ret_deleted) CHECKED;
/* Changes of an endpoint. */
struct webhook_change {
    struct str url;    /* STR_NONE: unchanged; otherwise the caller has checked it */
    struct val events; /* as for webhook_events; not given: unchanged */
    struct val active; /* not given: unchanged */
};
/* Changes an endpoint. If it is switched off, it gets no events, and its pending deliveries are canceled; they can be
 * replayed. Fails with ERR_NOT_FOUND, ERR_INVALID_WEBHOOK_EVENTS. */
enum err webhook_update(struct tx *tx, const struct id *account, const struct id *id,
                        const struct webhook_change *change, struct webhook *ret) CHECKED;

/* Another secret for an endpoint. */
struct webhook_rotation {
    struct webhook_request request; /* the last rotation's key, or another one */
    int64_t keep_us;                /* the earlier secret stays valid for so long; 0: it ends at once */

    struct webhook webhook;
    struct str secret;         /* in the arena */
    int64_t previous_until_us; /* 0: no earlier secret is valid */
    bool replayed;
};
/* Replays the last rotation of an endpoint, if it had this key. Fails with ERR_NOT_FOUND, ERR_IDEMPOTENCY_CONFLICT,
 * ERR_SECRET_DECRYPT_FAILED. */
enum err webhook_rotation_replay(struct tx *tx, const struct id *id, struct webhook_rotation *r) CHECKED;
/* Gives an endpoint another secret, or replays its last rotation if the key is the same. Until the earlier secret ends,
 * deliveries are signed with both. Fails with ERR_NOT_FOUND, ERR_IDEMPOTENCY_CONFLICT, ERR_SECRET_DECRYPT_FAILED, and
 * with ERR_WEBHOOK_ROTATION_PENDING if two secrets are valid and the one in use is to be kept: a receiver that knows
 * only the first would be cut off. */
enum err webhook_rotate(struct tx *tx, const struct id *id, struct webhook_rotation *r) CHECKED;

/* Deletes an endpoint of the account and cancels its pending deliveries. An unknown endpoint is not an error. Its
 * receipt and its log of deliveries stay. */
enum err webhook_delete(struct tx *tx, const struct id *account, const struct id *id) CHECKED;
/* Queues a webhook.test event for the endpoint. Fails with ERR_NOT_FOUND if the account does not have it. */
enum err webhook_test(struct tx *tx, const struct id *account, const struct id *id, struct id *ret_delivery) CHECKED;
