/* The journal of error responses. An operator looks up an entry by the request ID that a customer quotes.
 *
 * Loop threads add records without locks and without waiting, each in its own ring buffer. One thread writes them to
 * files in the data directory, as lines of JSON. Nothing else depends on the files. All sizes are bounded: records per
 * peer and minute, records per ring (a full ring drops new ones), bytes and age of files. The journal is not durable: a
 * crash of the machine loses recent records. Each process has its own journal. */
#pragma once
#include "base/arena.h"
#include "base/err.h"

#define JOURNAL_TEXT_MAX 200

/* IDs, words from tables, and the message sent to the client; never a key, a code or request content. Strings are
 * NUL-terminated, "" if unknown. */
struct journal_record {
    int64_t at_us;       /* real time, as in the log; set by journal_reserve, like `peer` */
    int64_t duration_us; /* from the request's first byte to its reply */
    int status;
    char request_id[29], method[8], code[48];
    char path[64]; /* the route's pattern; for an unknown path, the words of its first two segments */
    char account_id[25], building_id[25], key_id[25];
    char peer[46];
    char message[JOURNAL_TEXT_MAX];
};

struct journal;

/* Opens the journal in `directory`, which is created with mode 0700. Records are kept for at least `keep_h` hours and
 * at most a quarter longer, within the size limit of the files. Fails with ERR_IO (errno). */
enum err journal_new(const char *directory, int64_t keep_h, struct journal **ret) CHECKED;
/* Writes waiting records and stops. Loop threads must no longer add records. `j` may be NULL. */
void journal_free(struct journal *j);

/* Returns a cleared record for an error sent to `peer` now; the caller fills it in and calls journal_publish. Returns
 * NULL if the error must not be recorded. Only loop thread `loop` may call it. */
struct journal_record *journal_reserve(struct journal *j, unsigned loop, const char *peer);
void journal_publish(struct journal *j, unsigned loop);
/* Finds the error of that request. Any thread that may block on files. Fails with ERR_NOT_FOUND if it was not recorded
 * or is too old. */
enum err journal_find(struct journal *j, struct str request_id, struct journal_record *ret) CHECKED;
