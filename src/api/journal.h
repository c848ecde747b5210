/* The journal of error answers: what an operator can look up by the request ID that a customer quotes.
 *
 * Any number of loop threads note, without a lock and without waiting, each in a ring of its own; one thread writes
 * what they noted to files in the data directory, lines of JSON that nothing else depends on. It is bounded in every
 * way: a peer is noted so often a minute, a ring that is full drops, the files are of so many bytes and hours. It is
 * not durable: what a crash of the machine takes is lost. Each process has its own. */
#pragma once
#include "base/arena.h"
#include "base/err.h"

#define JOURNAL_TEXT_MAX 200

/* IDs, words of tables, and what the client was told. Never a key, a code, or what was sent. Strings are
 * NUL-terminated,
 * "" if not known. */
struct journal_record {
    int64_t at_us;       /* real time, as the log's; journal_reserve sets it, and peer */
    int64_t duration_us; /* from its first byte to its answer */
    int status;
    char request_id[29], method[8], code[48];
    char path[64]; /* the route's pattern; of a path that there is not, its beginning */
    char account_id[25], building_id[25], key_id[25];
    char peer[46];
    char message[JOURNAL_TEXT_MAX];
};

struct journal;

/* Files in `directory`, made with mode 0700. Records are kept for `keep_h` hours at least, a quarter longer at most, if
 * their bytes allow. ERR_IO (errno). */
enum err journal_new(const char *directory, int64_t keep_h, struct journal **ret) CHECKED;
/* Writes what was noted, and ends. No loop thread may note any more. NULL is fine. */
void journal_free(struct journal *j);

/* On loop thread `loop` alone: a cleared record to fill in, for an answer that `peer` gets now, and journal_publish
 * when that is done. NULL: it is not noted. */
struct journal_record *journal_reserve(struct journal *j, unsigned loop, const char *peer);
void journal_publish(struct journal *j, unsigned loop);
/* Any thread that may block on files: the answer of that request. ERR_NOT_FOUND: it is not, or no longer, there. */
enum err journal_find(struct journal *j, struct str request_id, struct journal_record *ret) CHECKED;
