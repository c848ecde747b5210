/* Access grants: timers, passcodes and routines that open a door (contract, Access grants; docs/behaviour/grants.md),
 * and passes (domain/pass.h), each of which is told as the type that is nearest to it.
 *
 * The status of a grant is derived from its row and the current time; it is not stored. All but grant_forget() are
 * about the grants of one building. Results are in the arena. */
#pragma once
#include "base/crypto.h"
#include "base/schedule.h"
#include "domain/tx.h"

enum grant_type { GRANT_TIMER, GRANT_PASSCODE, GRANT_ROUTINE }; /* stored as numbers */
enum grant_status { GRANT_ACTIVE, GRANT_SCHEDULED, GRANT_INACTIVE, GRANT_EXPIRED, GRANT_EXHAUSTED, GRANT_REVOKED };

/* "timer" …, "active" …, in the order of the enums, NULL-terminated. */
extern const char *const grant_type_names[];
extern const char *const grant_status_names[];

#define GRANT_LABEL_MAX    120
#define PASS_LABEL         "pass" /* of a pass without a label; other grants are named after their type */
#define GRANT_USES_MAX     100
#define GRANT_MINUTES_MAX  10080 /* seven days */
#define GRANT_CODE_MAX     8     /* digits; of a pass */
#define GRANT_CODE_DIGITS  4     /* the most of a passcode, and of most generated codes */
#define GRANT_CODES_FEW    500
#define GRANT_PAGE_DEFAULT 50
#define GRANT_PAGE_MAX     100

#define GRANT_NO_END    INT64_MAX
#define GRANT_UNLIMITED (-1)

struct grant {
    struct id id;
    enum grant_type type;
    bool enabled, revoked;
    bool pass;
    bool voice;         /* of a passcode: its code may be spoken */
    int remaining_uses; /* or GRANT_UNLIMITED */
    int max_uses;       /* remaining_uses when it was set; or GRANT_UNLIMITED */
    int64_t version;    /* incremented by each update */
    int64_t created_us;
    int64_t updated_us;            /* 0: never */
    int64_t starts_us;             /* of a timer or a pass; else 0 */
    int64_t ends_us;               /* or GRANT_NO_END */
    char code[GRANT_CODE_MAX + 1]; /* of a passcode; else "" */
    struct str label;
    struct id created_by;     /* the key; empty: not known */
    struct id member_id;      /* whose key that is; empty: the owner's */
    struct str maker;         /* the member's name, of grant_name_makers; STR_NONE: not asked for, or removed */
    struct str request_id;    /* the Idempotency-Key of its creation; STR_NONE: no key */
    struct schedule schedule; /* of a routine or a pass */
    struct str note;          /* of a pass: for the resident alone; STR_NONE: none */
    bool few_codes;           /* of a new pass: fewer than GRANT_CODES_FEW four-digit codes are left, namely: */
    int64_t codes_left;
};

/* The input of a creation or an update. The field table of resources/grant_body.c has checked types, ranges and
 * patterns of single fields; the functions here check rules on the grant's type, on several fields and on the time. An
 * absent member takes its default, or stays unchanged. */
struct grant_input {
    struct val type;
    struct val label;
    struct val enabled;
    struct val starts_at;
    struct val expires_in_minutes;
    struct val ends_at;
    struct val access_code;
    struct val remaining_uses;
    struct val enter_code_with_voice;
    struct val days;
    struct val start, end;
    struct val timezone;
};

struct grant_filter {
    struct val enabled; /* bool */
    struct val status;  /* str, any but revoked */
    struct val type;    /* str */
    struct val limit;   /* int */
    struct val cursor;  /* str: continue below this grant's ID */
    struct val passes;  /* bool, true: passes alone, without the filters before limit */
};

struct grant_page {
    struct grant *items; /* newest first */
    size_t count;
    bool more;
    struct id end; /* with `more`: the cursor of the next page */
};

/* The building of a grant. Grants of a linked building can be written only while the subscription is active. */
struct grant_place {
    const struct id *building;
    bool linked;
    int64_t number; /* the building's number in table grant_building; 0: not known, which costs one more seek */
    const struct id *key, *member; /* of a creation: its key, and whose that is; may be NULL */
};

/* A linked building accepts writes only while the subscription is active (contract, Grant rules 2). Fails with
 * ERR_MULTI_BUILDING_REQUIRED, ERR_BUILDING_NOT_FOUND. */
enum err grant_check_place(struct tx *tx, const struct grant_place *place) CHECKED;

/* The Idempotency-Key of a creation, and the SHA-256 of its canonical body. */
struct grant_request {
    struct str id;
    const unsigned char *hash;
    bool pass; /* passes have their own keys */
};

/* The grant that an earlier creation with this Idempotency-Key created, as it is now. Fails with ERR_NOT_FOUND, or
 * ERR_IDEMPOTENCY_CONFLICT if the body was different; *ret is that grant then, too. */
enum err grant_replay(struct tx *tx, const struct id *building, const struct grant_request *request,
                      struct grant *ret) CHECKED;

/* Creates a grant, or replays as grant_replay does, with *ret_replayed. Fails with ERR_IDEMPOTENCY_CONFLICT,
 * ERR_INVALID_TYPE, ERR_INVALID_UNLOCK, ERR_MULTI_BUILDING_REQUIRED, ERR_BUILDING_NOT_FOUND. */
enum err grant_create(struct tx *tx, const struct grant_place *place, const struct grant_input *in,
                      const struct grant_request *request, struct grant *ret, bool *ret_replayed) CHECKED;
/* Ends a creation: `made` is the result of its rules, *g gets its ID, its code and its row, or is replayed. Fails
 * as grant_create does. */
enum err grant_add(struct tx *tx, const struct grant_place *place, const struct grant_request *request, enum err made,
                   struct grant *g, bool *ret_replayed) CHECKED;

/* The grant, also if it is revoked. Fails with ERR_NOT_FOUND. */
enum err grant_get(struct tx *tx, const struct grant_place *place, const struct id *id, struct grant *ret) CHECKED;

/* A page of the grants that are not revoked. The page may be shorter than the limit, or empty, and still have `more`: a
 * list reads a bounded number of grants. */
enum err grant_list(struct tx *tx, const struct id *building, const struct grant_filter *filter,
                    struct grant_page *ret) CHECKED;

/* Updates the grant if its version is `version`. Fails, in this order, with ERR_INVALID_UNLOCK (an empty update),
 * ERR_MULTI_BUILDING_REQUIRED, ERR_NOT_FOUND, ERR_GRANT_REVOKED, ERR_VERSION_CONFLICT, ERR_INVALID_UNLOCK. */
enum err grant_update(struct tx *tx, const struct grant_place *place, const struct id *id, int64_t version,
                      const struct grant_input *in, struct grant *ret) CHECKED;

/* The rules of an update: changes *g by `in`, or fails with ERR_INVALID_UNLOCK. */
typedef enum err grant_change(struct tx *tx, const void *in, struct grant *g);
/* Updates as grant_update does, by the rules of another interface. */
enum err grant_update_by(struct tx *tx, const struct grant_place *place, const struct id *id, int64_t version,
                         grant_change *change, const void *in, struct grant *ret) CHECKED;

/* Revokes the grant for good, and tells the building's endpoints of the earlier revision. Needs no subscription; may be
 * repeated. Fails with ERR_NOT_FOUND. */
enum err grant_revoke(struct tx *tx, const struct id *account, const struct id *building, const struct id *id) CHECKED;

/* Takes label, note and code from a revoked grant; log, visits and feed follow (domain/grant_label.h). */
enum err grant_erase(struct tx *tx, const struct id *building, const struct id *id) CHECKED;

/* Takes label, note and code from grants that ended before before_us, at most `limit` and 200: revoked, used up or
 * expired. They are then labelled as without a label, and a passcode needs a new code to open again. Their receipts
 * stay. */
enum err grant_forget(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;

/* The first that applies: revoked, inactive, exhausted, expired, scheduled, active. */
enum grant_status grant_status(const struct grant *g, int64_t now_us);
/* Whether the grant opens the door at a moment, after its code if it has one. */
bool grant_opens(const struct grant *g, int64_t at_us);
/* The first moment, now or later, at which it opens without a change. False if there is none. */
bool grant_opens_next(const struct grant *g, int64_t now_us, int64_t *ret_us);
