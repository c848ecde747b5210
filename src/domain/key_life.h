/* Keys by their ID: for what began with one and goes on, or stays. */
#pragma once
#include "domain/tx.h"

/* The name of a key, in the arena; STR_NONE once the key was purged. */
enum err key_name(struct tx *tx, const struct id *account, const struct id *key, struct str *ret) CHECKED;
/* *ret: the key is valid, and may still listen to calls. */
enum err key_lives(struct tx *tx, const struct id *account, const struct id *key, bool *ret) CHECKED;
