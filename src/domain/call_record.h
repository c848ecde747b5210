/* The record of each call to a building: who called, every step with its time, the decision with its reason, and how
 * the call ended (CALL-15 to CALL-22). Kept for retention.calls_days. Calls to unknown numbers and the owner's
 * self-calls leave none. Keys and codes are never recorded.
 *
 * A release and a forwarding insert the record in the transaction of the decision, without steps and end; the end of
 * the call completes it, or inserts it. So a door that was released has a record, also after a crash. */
#pragma once
#include "domain/access.h"

#define CALL_RECORD_PAGE_DEFAULT 50
#define CALL_RECORD_PAGE_MAX     100
#define CALL_RECORD_NUMBER_MAX   20   /* of a number, NUL included */
#define CALL_RECORD_SOURCE_MAX   64   /* of a source, NUL included */
#define CALL_RECORD_STEPS_MAX    4096 /* of all steps as text, NUL included */

enum call_front { CALL_FRONT_SIP, CALL_FRONT_SANDBOX, CALL_FRONT_WEBHOOK };

/* "sip" …, NULL-terminated, as the next four. */
extern const char *const call_front_names[];
/* "released", "forwarded", "unreachable" (forwarded, and no telephone rang), "none" (no decision: the caller hung up
 * before it, or it failed). */
extern const char *const call_record_outcome_names[];
extern const char *const call_ended_by_names[];
extern const char *const call_step_names[];

enum call_record_outcome { CALL_RECORD_NONE, CALL_RECORD_RELEASED, CALL_RECORD_FORWARDED, CALL_RECORD_UNREACHABLE };

/* The party or the cause that ended a call. */
enum call_ended_by {
    CALL_ENDED_CALLER,
    CALL_ENDED_SERVICE,  /* after the last prompt or tone */
    CALL_ENDED_RESIDENT, /* hung up */
    CALL_ENDED_LOST,     /* no packet or message of the caller for a while */
    CALL_ENDED_LIMIT,    /* the longest duration of a call */
    CALL_ENDED_FAILED,
    CALL_ENDED_STOP,     /* of the service */
    CALL_ENDED_RESTARTED /* the process was killed; noticed later */
};

/* The steps of a call. The comment names the text that a step has. */
enum call_step_kind {
    CALL_STEP_ARRIVED,
    CALL_STEP_ANSWERED,
    CALL_STEP_SAID,            /* the prompt: welcome … */
    CALL_STEP_ASKED_CODE,      /* "speech" if spoken digits count, or nothing */
    CALL_STEP_KEY,             /* the way it came: event, tone, info, or nothing */
    CALL_STEP_SPOKEN,          /* a code was spoken */
    CALL_STEP_UNCLEAR,         /* speech was not understood */
    CALL_STEP_CODE_WRONG,      /* the reason */
    CALL_STEP_CODE_INCOMPLETE, /* fewer digits than any usable code has */
    CALL_STEP_SILENCE,         /* no input for the time that was allowed */
    CALL_STEP_RELEASED,        /* the reason, "passcode" after a right code; ref: the grant */
    CALL_STEP_FORWARDED,       /* the reason */
    CALL_STEP_NOT_USABLE,      /* a near miss: why; ref: the grant, as in the next */
    CALL_STEP_OPENS_NEXT,      /* when that opens next: local time with its offset */
    CALL_STEP_TONE_SENT,       /* the way: event, tone, info, or nothing */
    CALL_STEP_TONE_FALLBACK,   /* the call box did not accept the way of the settings; the way that was taken */
    CALL_STEP_RINGING,         /* a forwarding leg; ref: its number, as in the next seven: story_note() */
    CALL_STEP_LEG_ANSWERED,    /* … */
    CALL_STEP_LEG_ACCEPTED,    /* by a key */
    CALL_STEP_LEG_BUSY,        /* … */
    CALL_STEP_LEG_NO_ANSWER,   /* … */
    CALL_STEP_LEG_DECLINED,    /* … */
    CALL_STEP_LEG_FAILED,      /* the cause, or nothing */
    CALL_STEP_LEG_CANCELLED,   /* another phone took the call, or the caller hung up */
    CALL_STEP_CONNECTED,       /* caller and resident can talk */
    CALL_STEP_UNANSWERED,      /* nobody talked to the caller: no_answer, busy, declined, unreachable */
    CALL_STEP_RESIDENT_OPENED, /* the resident pressed the key; "request": without a key, ref: by this API key;
                                * "no_tone": in vain */
    CALL_STEP_MESSAGE,         /* the caller left a message: its length, or "lost" */
    CALL_STEP_REFUSED,         /* the status that the caller got */
    CALL_STEP_FAILED,          /* the store did not answer */
    CALL_STEP_LISTENING,       /* a browser hears the visitor: ringing, conversation; ref: its key, as in the next */
    CALL_STEP_MESSAGE_FETCHED, /* … */
    CALL_STEP_OMITTED,         /* the number of steps for which there was no room */
    CALL_STEP_ENDED            /* by whom */
};

struct call_step {
    int64_t at_ms; /* since the start of the call */
    enum call_step_kind kind;
    struct str text; /* a word; STR_NONE: nothing */
    struct str ref;  /* STR_NONE: nothing */
};

/* The facts of a call that are known when it arrives. */
struct call_arrival {
    struct id id; /* of the record */
    int64_t started_us;
    enum call_front front;
    char source[CALL_RECORD_SOURCE_MAX];
    char dialled[CALL_RECORD_NUMBER_MAX];
    char caller[CALL_RECORD_NUMBER_MAX]; /* "": no number */
};

/* Its end, and the decision. */
struct call_end {
    struct id account_id, building_id;
    enum call_record_outcome outcome;
    enum access_reason reason;
    struct id grant_id;             /* empty: none */
    const struct access_near *near; /* of a call in progress: whose code opened nothing; NULL: nobody's */
    bool resident_opened;
    struct id opener_id; /* the key of the resident's request; empty: it was a phone's */
    bool opener_person;  /* it is of the website */
    int64_t minutes;     /* of residents' telephones: domain/minutes.h; in progress: reserved */
    int64_t ended_us;    /* 0: in progress */
    enum call_ended_by ended_by;
    struct str steps; /* as call_step_write() writes them */
};

/* Writes one step as a line of the column `steps`: `4312 key event`. Returns its length, at most
 * CALL_STEP_LINE_MAX. A text and a ref are cut at CALL_STEP_WORD_MAX bytes, and at the first one that is not
 * printable ASCII or is a space. */
#define CALL_STEP_WORD_MAX 30
#define CALL_STEP_LINE_MAX 110
size_t call_step_write(const struct call_step *step, char ret[static CALL_STEP_LINE_MAX]);
/* Cuts the first line off *steps; false at the end. Lines that cannot be read are skipped. Borrows *steps. */
bool call_step_read(struct str *steps, struct call_step *ret);

/* Inserts or completes the record. */
enum err call_record_write(struct tx *tx, const struct call_arrival *arrival, const struct call_end *end) CHECKED;

/* Ends at most `limit` records of calls whose process has ended, and tells the buildings' feeds: of a node whose host
 * and address a later one has, of half an hour ago, or, where this process has the store alone, of any other. Their
 * time of the end is now, but at most CALL_RECORD_LONGEST_US after the start. */
#define CALL_RECORD_LONGEST_US (600 * US_PER_S)
enum err call_record_close(struct tx *tx, bool alone, int64_t limit, int64_t *ret_count) CHECKED;

/* Adds a step to the record of a call that has ended: a fact that was learned later. Callers bound the number of such
 * steps. Does nothing without the record. */
enum err call_record_append(struct tx *tx, const struct id *building, const struct id *id,
                            const struct call_step *step) CHECKED;

/* Adds the step `message_fetched` of this key to the record, once. Does nothing without the record. */
enum err call_record_fetched(struct tx *tx, const struct id *building, const struct id *id,
                             const struct id *key) CHECKED;

/* A record; its texts are in the arena. */
struct recorded_call {
    struct id building_id, id, account_id, grant_id;
    int64_t started_us, ended_us; /* ended_us 0: in progress */
    struct str front, source, dialled, caller, outcome, reason;
    struct str ended_by; /* STR_NONE with ended_us 0 */
    bool resident_opened;
    struct str steps;        /* of call_record_get() and call_record_find(), as the next */
    int64_t message_seconds; /* of the visitor's message; 0: no message */
};

struct call_record_filter {
    struct val limit;   /* int */
    struct val since;   /* time, inclusive */
    struct val until;   /* time, inclusive */
    struct val outcome; /* str */
    struct val number;  /* str: that was dialled or called; for the operator */
    struct val cursor;  /* str: continue below this call's ID */
};

struct call_record_page {
    const struct recorded_call *items; /* newest first: by ID */
    size_t count;
    bool more;
    struct id end; /* with `more`: the cursor of the next page */
};

/* A page of the calls of a building, or of all (NULL), in the arena. A list reads a bounded number of records, so that
 * a page may be shorter than the limit, or empty, and still have `more`. Fails with ERR_INVALID_DATE (since is later
 * than until). */
enum err call_record_list(struct tx *tx, const struct id *building, const struct call_record_filter *filter,
                          struct call_record_page *ret) CHECKED;
/* Whether a list with this filter may read many more records than it returns. */
bool call_record_searches(const struct call_record_filter *filter);
/* A call of the building, with its steps. Fails with ERR_NOT_FOUND. */
enum err call_record_get(struct tx *tx, const struct id *building, const struct id *id,
                         struct recorded_call *ret) CHECKED;
/* The same for a call of any building. */
enum err call_record_find(struct tx *tx, const struct id *id, struct recorded_call *ret) CHECKED;

/* Deletes at most `limit` records of calls that started before the second of before_us. */
enum err call_record_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
