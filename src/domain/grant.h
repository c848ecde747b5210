/* Access grants: what opens a door, when, and how often (contract, Access grants; decisions sections 6 and 10).
 *
 * A grant is a row; its status is never stored but derived from the row and the moment. Each function runs within the
 * caller's transaction, reads or writes one building's grants, and leaves its results in the tx's arena. */
#pragma once
#include "base/crypto.h"
#include "domain/schedule.h"
#include "domain/tx.h"

enum grant_type { GRANT_TIMER, GRANT_PASSCODE, GRANT_ROUTINE }; /* stored as these numbers */
enum grant_status { GRANT_ACTIVE, GRANT_SCHEDULED, GRANT_INACTIVE, GRANT_EXPIRED, GRANT_EXHAUSTED, GRANT_REVOKED };

/* "timer" …, "active" …, in the order of the enums, NULL-terminated. */
extern const char *const grant_type_names[];
extern const char *const grant_status_names[];

#define GRANT_LABEL_MAX    120
#define GRANT_USES_MAX     100
#define GRANT_MINUTES_MAX  10080 /* seven days */
#define GRANT_CODE_MAX     4
#define GRANT_PAGE_DEFAULT 50
#define GRANT_PAGE_MAX     100

#define GRANT_NO_END    INT64_MAX
#define GRANT_UNLIMITED (-1)

struct grant {
    struct id id;
    enum grant_type type;
    bool enabled, revoked;
    bool voice;         /* passcode: its code may be spoken */
    int remaining_uses; /* or GRANT_UNLIMITED */
    int64_t version;    /* counts edits */
    int64_t created_us;
    int64_t updated_us;            /* 0: never */
    int64_t starts_us;             /* timer; else 0 */
    int64_t ends_us;               /* or GRANT_NO_END */
    char code[GRANT_CODE_MAX + 1]; /* passcode; else "" */
    struct str label;
    struct str request_id;    /* the create's Idempotency-Key, STR_NONE without one */
    struct schedule schedule; /* routine */
};

/* What a caller asks for, at creation and in an update. Types, ranges and patterns of single fields are checked by
 * whoever read it (api/grant.c has the table); what depends on the grant's type, on other fields or on the time is
 * checked here. Absent members say nothing. */
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
    struct val status;  /* str, all but revoked */
    struct val type;    /* str */
    struct val limit;   /* int */
    struct val cursor;  /* str: continue below this grant's ID */
};

struct grant_page {
    const struct grant *items; /* newest first */
    size_t count;
    bool more;
    struct id end; /* with `more`: the next page is below it */
};

/* The building whose grants are meant. A linked one can be written to only while the account's subscription is active.
 */
struct grant_place {
    const struct id *building;
    bool linked;
    int64_t number; /* its number in grant_building, where the caller knows it, which saves a look for it; else 0 */
};

/* What an earlier creation with this Idempotency-Key made, as it is now. ERR_NOT_FOUND: there was none;
 * ERR_IDEMPOTENCY_CONFLICT: it had another body (SHA-256 of its canonical form). */
enum err grant_replay(struct tx *tx, const struct id *building, struct str request_id,
                      const unsigned char request_hash[static SHA256_LEN], struct grant *ret) CHECKED;

/* Where the caller's Idempotency-Key and body (SHA-256 of its canonical form) name an earlier creation, the grant it
 * made is given as it is now, with *ret_replayed. Errors: IDEMPOTENCY_CONFLICT, INVALID_UNLOCK,
 * MULTI_BUILDING_REQUIRED, BUILDING_NOT_FOUND. */
enum err grant_create(struct tx *tx, const struct grant_place *place, const struct grant_input *in,
                      struct str request_id, const unsigned char request_hash[static SHA256_LEN], struct grant *ret,
                      bool *ret_replayed) CHECKED;

/* Revoked ones, too. ERR_NOT_FOUND. */
enum err grant_get(struct tx *tx, const struct grant_place *place, const struct id *id, struct grant *ret) CHECKED;

/* A page of the grants that are not revoked. With `more` it may hold fewer than the limit, even none: a list reads a
 * bounded number of grants. */
enum err grant_list(struct tx *tx, const struct id *building, const struct grant_filter *filter,
                    struct grant_page *ret) CHECKED;

/* Changes the grant if its version still is `version`.
 * Errors, in this order: INVALID_UNLOCK (an empty update), MULTI_BUILDING_REQUIRED, NOT_FOUND, GRANT_REVOKED,
 * VERSION_CONFLICT, INVALID_UNLOCK. */
enum err grant_update(struct tx *tx, const struct grant_place *place, const struct id *id, int64_t version,
                      const struct grant_input *in, struct grant *ret) CHECKED;

/* Revokes for good; may be repeated. Needs no subscription. ERR_NOT_FOUND. */
enum err grant_revoke(struct tx *tx, const struct id *building, const struct id *id) CHECKED;

/* Revoked, else inactive, else exhausted, else expired, else scheduled, else active. */
enum grant_status grant_status(const struct grant *g, int64_t now_us);
