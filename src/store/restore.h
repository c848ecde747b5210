/* Puts a copy of the SQLite store (backup.h), or the store as it was at a moment of a directory that followed it
 * (follow.h), in place of the store in the data directory.
 *
 * The copy is first staged: a store in a directory of its own in the data directory, which the caller can open and
 * check. Until restore_commit the present store is unchanged; a crash during it leaves one of the two. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/err.h"

struct restore;

/* Reads all of a copy: its checksum, schema and integrity. *ret_sealed: it has a checksum (seal.h). Changes nothing.
 * Fails with ERR_USAGE or ERR_IO and *ret_why (caller frees). */
enum err restore_check(const char *file, bool *ret_sealed, char **ret_why) CHECKED;

#define RESTORE_NEWEST INT64_MAX

/* Locks the data directory, and stages the file there and checks it; of a directory, its last moment until until_us.
 * `force`: there may be a store. Fails with ERR_USAGE, ERR_NOT_FOUND or ERR_IO and *ret_why (caller frees); then
 * nothing is changed. */
enum err restore_begin(const struct config *c, const char *file, int64_t until_us, bool force, struct restore **ret,
                       char **ret_why) CHECKED;
/* The data directory of the staged store. */
const char *restore_staged(const struct restore *r);
/* Whether the copy had a checksum, which fitted. */
bool restore_is_sealed(const struct restore *r);
/* The moment of a directory; false: of a file. */
bool restore_moment(const struct restore *r, int64_t *ret_at_us);
/* Makes the staged store, which must be closed, the store. *ret_aside is the new name of the store that was there
 * before, NULL if there was none (caller frees). Errors as above. */
enum err restore_commit(struct restore *r, char **ret_aside, char **ret_why) CHECKED;
/* Removes what is still staged, and unlocks the data directory. Accepts NULL. */
void restore_free(struct restore *r);
