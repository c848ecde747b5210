/* The master key that seals the store's secrets, and its replacement.
 *
 * The store keeps a check value of the key that seals new secrets. A service whose keys do not match it must not start:
 * it could not open the secrets, and would seal secrets that other services cannot open. To replace the key, every
 * service on the store gets both keys (secrets.master_key and secrets.previous_master_key). Both keys open secrets; the
 * check value names the one that seals. master_rekey changes the check value, then seals all secrets with the current
 * key, a few rows in a transaction. The store also keeps the check value of the previous key until master_rekey has
 * ended; after a crash, run it again. */
#pragma once
#include "base/crypto.h"
#include "domain/work.h"

/* *ret: the store has secrets, so that only their key fits. */
enum err master_is_needed(struct tx *tx, bool *ret) CHECKED;
/* At start: checks that the keys (crypto_set_master) fit the store, and records the first key of a store. *ret_rekey:
 * some secrets are not sealed with the current key. Fails with ERR_USAGE and tx->why. */
enum err master_claim(struct tx *tx, bool *ret_rekey) CHECKED;

/* Whether the keys (crypto_set_master) fit the store. */
enum err master_fits(struct tx *tx, bool *ret) CHECKED;

/* Seals a secret with the key that the store names. *ret is in the arena. */
enum err master_seal(struct tx *tx, const char *purpose, struct str plain, struct str *ret) CHECKED;

struct master_rekeyed {
    int64_t sealed;     /* rows that were sealed again */
    int64_t unreadable; /* rows that neither key opens; they stay unchanged */
};
/* Seals all secrets with the current key. Blocks; may be repeated. Fails with ERR_SECRET_DECRYPT_FAILED and work->why
 * if the secrets are sealed with a key that this service does not have. */
enum err master_rekey(struct work *work, struct master_rekeyed *ret) CHECKED;
