/* Copies of the SQLite store: made while the service runs or not, and put in its place again. Only the data directory
 * counts; a process that makes a copy needs no open store. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/err.h"

#define BACKUP_PARTIAL ".partial" /* behind the name of a copy that is being made, or was interrupted */
#define BACKUP_CHECK   32         /* characters of a master key's check value */

/* A copy. */
struct backup {
    int64_t bytes;
    int schema;                   /* its version */
    char check[BACKUP_CHECK + 1]; /* value of the master key that it is sealed with; "": none yet */
};

/* Copies the store to a new file `path`: what was committed before the call is in it. The copy is made in `path` with
 * BACKUP_PARTIAL behind it, is checked, sealed (seal.h) and durable, and then gets its name. It is one file with mode
 * 0600, without a WAL. Fails with ERR_IO and *ret_why (caller frees): no file `path` then, or the one that existed
 * before. */
enum err backup_make(const struct config *c, const char *path, struct backup *ret, char **ret_why) CHECKED;

/* The same of the database `from`; replaces a file that exists. */
enum err backup_write(const char *from, const char *path, struct backup *ret, char **ret_why) CHECKED;

/* Ends the copies that this process makes, which fail: the process ends. Any thread. */
void backup_interrupt(void);

struct page_sums;
struct seal_sum;
/* Writes the pages of the database `from` that differ from `sums` to a new file `path` (page_log.h), made as a copy is,
 * and tells its seal. *ret_changed is false, and there is no file, if none does. After a failure the sums are of no
 * use. */
enum err backup_changes(const char *from, const char *path, struct page_sums *sums, const struct seal_sum *after,
                        struct seal_sum *ret_sum, bool *ret_changed, char **ret_why) CHECKED;

/* Notes in data_dir/last_backup that the copy at `path` holds all that was committed at at_us (real time). */
enum err backup_note_last(const struct config *c, const char *path, int64_t at_us, char **ret_why) CHECKED;
/* The time of the last copy, as it was noted; false if there is none. */
bool backup_read_last(const struct config *c, int64_t *ret_at_us) CHECKED;

#define BACKUP_TIME "????????T??????Z" /* of a pattern for backup_list */

/* DIRECTORY/PREFIX-TIME END, such as /copies/portero-20261122T140300Z.db. The caller frees it. */
char *backup_path(const char *directory, const char *prefix, int64_t at_us, const char *end);
/* The paths of the files in the directory whose names match, the oldest first: names with BACKUP_TIME sort by it. The
 * caller frees the array, which frees them. */
GPtrArray *backup_list(const char *directory, const char *pattern);
/* Removes the files that match and that interrupted copies have left, unless they are being written. */
void backup_discard_partials(const char *directory, const char *pattern);
