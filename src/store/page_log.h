/* Pages of a database that changed: a file that holds those which differ from the copy before it, so that copies every
 * minute cost as much room as is written. A page is known by its hash.
 *
 * The file: a line of text of PAGE_LOG_HEAD bytes, the pages, each with its number (4 bytes, big-endian) before it, and
 * the line of seal.h. The first line has the seal of the copy before, so that files make a chain of which none can be
 * missing. */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/seal.h"

#define PAGE_LOG_HEAD 132 /* bytes of the first line */

/* The hashes of the pages of the last copy. All zero: of no copy. */
struct page_sums {
    struct page_sum *list;
    uint32_t count, room;
};
/* Notes the page of this number, from 1. Returns whether it is another one than before. */
bool page_sums_note(struct page_sums *s, uint32_t number, const void *page, uint32_t size);
void page_sums_done(struct page_sums *s);

/* ---- writing ---- */

struct page_log {
    int fd;
    struct page_sums *sums;
    uint32_t size, pages, changed; /* bytes of a page; pages of the database; pages in the file */
    int64_t at;                    /* end of the file */
    void *first;                   /* the first page, which SQLite reads again */
    int error;                     /* of the last write that failed; 0: none */
    sqlite3_vfs vfs;
};

/* Opens an empty database whose pages, when SQLite copies another one into it, go to the file open as `fd`, after room
 * for the first line, as far as they differ from `sums`, which follow. After a failure the sums are of no use. Returns
 * a code of SQLite. The log must outlive the database; close that, then call page_log_close. */
int page_log_open(struct page_log *log, int fd, struct page_sums *sums, sqlite3 **ret);
/* Writes the first line. `after`: of the copy before. ERR_IO with errno. */
enum err page_log_finish(struct page_log *log, const struct seal_sum *after) CHECKED;
void page_log_close(struct page_log *log);

/* ---- reading ---- */

struct page_log_head {
    struct seal_sum after;
    uint32_t size, pages, changed;
};

/* Compares the seal of the file, which is open as `fd`, and reads its first line. ERR_IO and *ret_why as seal_check. */
enum err page_log_read_head(int fd, const char *name, struct page_log_head *ret, char **ret_why) CHECKED;
/* Calls `each` for the pages of a file whose head was read. ERR_IO and *ret_why, or the failure of `each`. */
enum err page_log_read(int fd, const char *name, const struct page_log_head *head,
                       enum err (*each)(void *arg, uint32_t number, const void *page, uint32_t size, char **ret_why),
                       void *arg, char **ret_why) CHECKED;
