/* Webhook endpoints of a building, from the earlier revision of the interface (contract, Versioning 3; EARLIER-20
 * to EARLIER-30). An endpoint keeps the form that it was made for, and gets events while its account is of that
 * revision.
 */
#pragma once
#include "base/crypto.h"
#include "domain/tx.h"

#define BUILDING_WEBHOOK_MAX             5   /* endpoints of a building, inactive ones included */
#define BUILDING_WEBHOOK_SECRET_LEN      64  /* hexadecimal; the key is this text */
#define BUILDING_WEBHOOK_DESCRIPTION_MAX 500 /* characters */
#define BUILDING_WEBHOOK_FAILURES        10  /* deliveries in a row whose failure switches the endpoint off */

struct building_webhook {
    struct id id, building_id;
    int64_t created_us;
    struct str url;
    uint32_t events;        /* bit i: enum earlier_event i */
    struct str description; /* STR_NONE: none */
    bool active;            /* gets events */
};

/* A creation: whose, its Idempotency-Key, which is the building's, and the SHA-256 of its canonical body. */
struct building_webhook_request {
    const struct id *account, *building;
    struct str key; /* STR_NONE: no key */
    const unsigned char *hash;
};

/* The endpoint that an earlier request with this key created, also if it is deleted, and its secret, in the arena.
 * Fails with ERR_NOT_FOUND, ERR_IDEMPOTENCY_CONFLICT (the body was different), ERR_SECRET_DECRYPT_FAILED. */
enum err building_webhook_replay(struct tx *tx, const struct building_webhook_request *request,
                                 struct building_webhook *ret, struct str *ret_secret) CHECKED;
/* Creates an endpoint of `wanted`'s url, events and description, or replays. The caller must have checked the URL.
 * Fails with ERR_MAX_WEBHOOKS_EXCEEDED, and as building_webhook_replay. */
enum err building_webhook_create(struct tx *tx, const struct building_webhook_request *request,
                                 const struct building_webhook *wanted, struct building_webhook *ret,
                                 struct str *ret_secret, bool *ret_replayed) CHECKED;

/* The building's endpoints that are not deleted, newest first, in the arena. */
enum err building_webhook_list(struct tx *tx, const struct id *building, const struct building_webhook **ret,
                               size_t *ret_count) CHECKED;

/* Changes of an endpoint; a member that is not given leaves it unchanged. */
struct building_webhook_change {
    struct str url;         /* STR_NONE: unchanged; otherwise the caller has checked it */
    uint32_t events;        /* 0: unchanged */
    struct val description; /* null: none */
    struct val active;      /* true begins without failures; false cancels pending deliveries */
};
/* Fails with ERR_NOT_FOUND. */
enum err building_webhook_update(struct tx *tx, const struct id *building, const struct id *id,
                                 const struct building_webhook_change *change, struct building_webhook *ret) CHECKED;
/* Deletes an endpoint of the building and cancels its pending deliveries. An unknown endpoint is not an error. */
enum err building_webhook_delete(struct tx *tx, const struct id *building, const struct id *id) CHECKED;
/* Deletes all endpoints of an account's buildings in this way. */
enum err building_webhook_end_all(struct tx *tx, const struct id *account) CHECKED;

/* Queues a webhook.test, of which one attempt is made, also if the endpoint is inactive. Fails with ERR_NOT_FOUND. */
enum err building_webhook_test(struct tx *tx, const struct id *account, const struct id *building, const struct id *id,
                               struct id *ret_delivery) CHECKED;
struct building_webhook_outcome {
    bool ended, delivered;
    int64_t status_code; /* 0: no answer */
    int64_t took_ms;     /* of the attempt; 0: unknown */
    struct str failure;  /* as in struct delivery_result; STR_NONE: none */
};
/* How a test went, in the arena. Fails with ERR_NOT_FOUND. */
enum err building_webhook_outcome(struct tx *tx, const struct id *id, const struct id *delivery,
                                  struct building_webhook_outcome *ret) CHECKED;

/* Records that a delivery has failed for good, or has succeeded. *ret_disabled: the endpoint was switched off, and its
 * pending deliveries are canceled. */
enum err building_webhook_ended(struct tx *tx, const struct id *id, bool delivered, bool *ret_disabled) CHECKED;
