/* A directory that follows the SQLite store, on another disk or machine: a whole copy once a day, and every minute a
 * file of the pages that changed since the last one (page_log.h). The store can be put back as it was at each of these
 * moments.
 *
 * follow-TIME.db is a copy as backup_make makes it, follow-TIME.pages what changed until TIME. A file that is not whole
 * has BACKUP_PARTIAL behind its name. A copy and the files up to the next copy go when that one is older than
 * backup.keep_h. Where nothing was written, there is no file. */
#pragma once
#include <stdint.h>

#include "base/config.h"
#include "base/err.h"

struct follower;

/* For config->backup_directory. */
struct follower *follower_new(const struct config *config);
void follower_free(struct follower *f);
/* Brings the directory up to now: all that was committed before the call is in it. One thread at a time. Fails with
 * ERR_IO and *ret_why (caller frees); the next call goes on, or makes a whole copy. */
enum err follower_copy(struct follower *f, char **ret_why) CHECKED;

/* Writes the database as it was at the last moment that the directory has, until until_us, to the empty file open as
 * `fd`, and tells the moment. Each file's checksum is compared. ERR_NOT_FOUND: the directory has none so early; ERR_IO:
 * a file is damaged, or one is missing. With *ret_why (caller frees). */
enum err follow_rebuild(const char *directory, int64_t until_us, int fd, int64_t *ret_at_us, char **ret_why) CHECKED;
