/* Which master key the store's secrets are sealed with, and the way from one key to another.
 *
 * The store keeps a check value of the key that new secrets are sealed with. A service whose keys do not fit it must
 * not start: it could open nothing, and would seal what others cannot open. To replace a key, every service on the
 * store gets both (secrets.master_key and secrets.previous_master_key); both open what is there, and the check value
 * says which one seals. master_rekey changes the check value, then seals everything with the current key, a few rows a
 * transaction. Until it has ended the store keeps the check value of the previous key, too: after a crash, it is run
 * again. */
#pragma once
#include "base/crypto.h"
#include "domain/work.h"

/* Whether the store already has secrets, so that only their key will do. */
enum err master_is_needed(struct tx *tx, bool *ret) CHECKED;
/* At start: whether the keys (crypto_set_master) fit the store; the first key of a store is noted. ERR_USAGE with
 * tx->why. *ret_rekey: the secrets are not all sealed with the current key yet. */
enum err master_claim(struct tx *tx, bool *ret_rekey) CHECKED;

/* Seals with the key that the store says, for the store. */
enum err master_seal(struct tx *tx, const char *purpose, struct str plain, struct str *ret) CHECKED;

struct master_rekeyed {
    int64_t sealed;     /* rows that were sealed anew */
    int64_t unreadable; /* rows that neither key opens: they are left as they are */
};
/* Seals all secrets with the current key. For a thread that may block; safe to repeat. ERR_SECRET_DECRYPT_FAILED with
 * work->why: the store's secrets are sealed with a key that this service does not have. */
enum err master_rekey(struct work *work, struct master_rekeyed *ret) CHECKED;
