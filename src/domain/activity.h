/* The activity log of a building's door (contract, Activity logs; docs/behaviour/log.md). */
#pragma once
#include "domain/tx.h"

#define ACTIVITY_PAGE_DEFAULT 50
#define ACTIVITY_PAGE_MAX     100
#define ACTIVITY_QUERY_MAX    100

enum activity_type { ACTIVITY_UNLOCK, ACTIVITY_CALL };

/* "unlock", "call", NULL-terminated. */
extern const char *const activity_type_names[];

struct activity {
    struct id id;
    int64_t created_us; /* whole milliseconds, as the API shows it */
    enum activity_type type;
    struct id call_id;      /* empty: not known; the call may be over, and its record gone */
    struct id unlock_id;    /* empty: no grant */
    struct str unlock_type; /* STR_NONE: no grant */
    struct str name;
    bool succeeded;
};

/* Writes an entry of tx->call with a new ID and the current time; entry->id, call_id and created_us are ignored. */
enum err activity_add(struct tx *tx, const struct id *building, const struct activity *entry) CHECKED;

/* Names at most `limit` entries of the grant that have another name. *ret_more: there may be more. */
enum err activity_relabel(struct tx *tx, const struct id *building, const struct id *grant, struct str name,
                          int64_t limit, bool *ret_more) CHECKED;

/* The form in which names are compared: case folded, characters composed. Returns false if text is not UTF-8. */
bool activity_fold(struct arena *a, struct str text, struct str *ret);
/* The same without accents, so that "nguyen" is a part of "Nguyễn". */
bool activity_fold_plain(struct arena *a, struct str text, struct str *ret);

struct activity_filter {
    struct val limit;     /* int */
    struct val since;     /* time, inclusive */
    struct val until;     /* time, inclusive */
    struct val type;      /* str */
    struct val unlock_id; /* str: an ID, lower case */
    struct val q;         /* str, trimmed: part of the name, ignoring case */
    struct val succeeded; /* bool */
    struct val cursor;    /* str: of the page before */
};

struct activity_page {
    const struct activity *items; /* newest first: by time, then by ID, both descending */
    size_t count;
    bool more;
    struct str cursor; /* of the next page; STR_NONE without `more` */
};

/* A page of the log, in the arena. Fails with ERR_INVALID_DATE (since is later than until), ERR_INVALID_CURSOR
 * (altered, or of another list), ERR_INVALID_QUERY (not UTF-8). */
enum err activity_list(struct tx *tx, const struct id *building, const struct activity_filter *filter,
                       struct activity_page *ret) CHECKED;

#define ACTIVITY_WALK_MAX 50 /* buildings in one transaction */
/* Deletes entries from before before_us, at most `limit`, of the next buildings in the order of IDs: those after the ID
 * `after`, which is empty at first. If *ret_more, the walk goes on after *ret_after, which may be empty. */
enum err activity_purge(struct tx *tx, struct str after, int64_t before_us, int64_t limit, struct id *ret_after,
                        bool *ret_more) CHECKED;
