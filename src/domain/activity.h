/* The activity log: what happened at a building's door (contract, Activity logs; decisions section 7). */
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
    int64_t created_us; /* whole milliseconds, as it is shown */
    enum activity_type type;
    struct id unlock_id;    /* empty: none */
    struct str unlock_type; /* STR_NONE: none */
    struct str name;
    bool succeeded;
};

/* Writes an entry; its ID and its time are made here. */
enum err activity_add(struct tx *tx, const struct id *building, const struct activity *entry) CHECKED;

struct activity_filter {
    struct val limit;     /* int */
    struct val since;     /* time, inclusive */
    struct val until;     /* time, inclusive */
    struct val type;      /* str */
    struct val unlock_id; /* str: an ID in lower case */
    struct val q;         /* str, trimmed: part of the name in any case */
    struct val succeeded; /* bool */
    struct val cursor;    /* str: where the last page ended */
};

struct activity_page {
    const struct activity *items; /* newest first: by time, then by ID, both descending */
    size_t count;
    bool more;
    struct str cursor; /* where it ends; STR_NONE without `more` */
};

/* Errors: INVALID_DATE (since later than until), INVALID_CURSOR (altered, or of another list), INVALID_QUERY (not
 * UTF-8). */
enum err activity_list(struct tx *tx, const struct id *building, const struct activity_filter *filter,
                       struct activity_page *ret) CHECKED;
