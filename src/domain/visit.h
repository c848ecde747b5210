/* Visits: one for each time that somebody buzzed (docs/behaviour/log.md). A visit is of a call, by the call's ID, and
 * is written with the call's record; it outlives that, without the caller. An entry of the log whose call is not known
 * is a visit by itself. */
#pragma once
#include "domain/call_record.h"

#define VISIT_PAGE_DEFAULT 50
#define VISIT_PAGE_MAX     100
#define VISIT_QUERY_MAX    100
#define VISIT_REASON_MAX   30
#define VISIT_OPENER_MAX   120

enum visit_outcome {
    VISIT_IN_PROGRESS,
    VISIT_OPENED,    /* by a grant or a resident */
    VISIT_FORWARDED, /* went on to a resident, who did not open */
    VISIT_MISSED,    /* went on, and nobody talked to the visitor */
    VISIT_MESSAGE,   /* missed, and the visitor left a message */
    VISIT_REFUSED,   /* nothing opened, and no phone rang */
    VISIT_ENDED      /* the visitor hung up before all this */
};
enum visit_opener {
    VISIT_BY_NOBODY,
    VISIT_BY_CODE,
    VISIT_BY_TIMER,
    VISIT_BY_ROUTINE,
    VISIT_BY_PHONE,   /* a resident's, as the next */
    VISIT_BY_BROWSER, /* the website */
    VISIT_BY_PROGRAM  /* a key of a program */
};
/* "in_progress" …, NULL-terminated. */
extern const char *const visit_outcome_names[];
extern const char *const visit_opener_names[]; /* [VISIT_BY_NOBODY] is "nobody", which is not stored */

/* The visit that a call is. */
struct visit_facts {
    enum visit_outcome outcome;
    enum visit_opener opened_by;
    struct str number;  /* last digits of the phone that opened; STR_NONE: not known */
    struct str reason;  /* why no grant opened, of access_why_names or access_reason_names; STR_NONE: one did */
    struct id grant_id; /* that opened, or of the reason; empty: none */
};
/* Of a call's end, or of a call in progress. Borrows from *end. */
struct visit_facts visit_of(const struct call_end *end);

/* Inserts or replaces the visit of a call. */
enum err visit_write(struct tx *tx, const struct call_arrival *arrival, const struct call_end *end) CHECKED;
/* Ends the visit of a call whose process has ended. */
enum err visit_close(struct tx *tx, const struct call_arrival *arrival, const struct call_end *end) CHECKED;

struct visit {
    struct id id, call_id; /* call_id empty: the record is gone, or there was none */
    int64_t started_us, ended_us;
    struct str caller; /* STR_NONE: not known; "": withheld */
    struct str outcome, opened_by, reason, grant_name;
    struct str opener; /* name of the key, or the end of the phone's number; STR_NONE: a grant, or not known */
    struct str person; /* the member whose phone it was; STR_NONE: not a member's, or not known */
    struct id grant_id;
    int64_t message_seconds; /* 0: no message */
};

struct visit_filter {
    struct val limit;     /* int */
    struct val since;     /* time, inclusive */
    struct val until;     /* time, inclusive */
    struct val outcome;   /* str */
    struct val reason;    /* str */
    struct val unlock_id; /* str: an ID, lower case */
    struct val opened_by; /* str: as struct visit has the opener or the person */
    struct val q;         /* str, trimmed: part of a name or of the caller's number, ignoring case and accents */
    struct val cursor;    /* str: continue below this ID */
};

struct visit_page {
    const struct visit *items; /* newest first: by ID */
    size_t count;
    bool more;
    struct id end; /* with `more`: the cursor of the next page */
};

/* A page of the visits of a building, in the arena. With filters it reads a bounded number, so that it may be short, or
 * empty, and still have `more`. Fails with ERR_INVALID_DATE (since is later than until), ERR_INVALID_QUERY (q is not
 * UTF-8). */
enum err visit_list(struct tx *tx, const struct id *building, const struct visit_filter *filter,
                    struct visit_page *ret) CHECKED;
/* Whether a list with this filter may read many more visits than it returns. */
bool visit_searches(const struct visit_filter *filter);

/* The name that the key had which opened in a call; STR_NONE: no key opened, or it is not known. */
enum err visit_opened_by(struct tx *tx, const struct id *building, const struct id *call, struct str *ret) CHECKED;

/* Names at most `limit` visits of the grant that have another name. *ret_more: there may be more. */
enum err visit_relabel(struct tx *tx, const struct id *building, const struct id *grant, struct str name, int64_t limit,
                       bool *ret_more) CHECKED;
/* Deletes at most `limit` visits of the building that began before the second of before_us. */
enum err visit_purge(struct tx *tx, const struct id *building, int64_t before_us, int64_t limit,
                     int64_t *ret_count) CHECKED;
