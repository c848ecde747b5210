/* API keys: website sessions and agent keys (contract, Authentication; decisions section 2).
 *
 * A key is stored as its SHA-256 alone; its text leaves key_issue once. */
#pragma once
#include "base/crypto.h"
#include "domain/principal.h"
#include "domain/tx.h"

#define KEY_TEXT_MAX      64 /* "svc_agent_" and 43 base62, with room */
#define KEY_PREFIX_LEN    16
#define KEY_NAME_MAX      120
#define KEY_ACTIVE_MAX    20 /* agent keys of one account, neither revoked nor expired */
#define KEY_SESSION_TTL_S (12 * 3600)
#define KEY_DAYS_MAX      90
#define KEY_DAYS_DEFAULT  30

enum key_kind { KEY_WEB_SESSION, KEY_AGENT };

/* What a key text is looked up by. */
void key_hash(struct str text, unsigned char ret[static SHA256_LEN]);

/* Who holds the key of that hash, in one statement. ERR_INVALID_KEY: unknown, expired or revoked;
 * ERR_AUTHENTICATION_REQUIRED: its account or its building is gone. Fit for a cache: whoever keeps the result must
 * compare expires_at_us with the clock and forget it when keys, accounts, buildings or subscriptions change. */
enum err key_authenticate(struct tx *tx, const unsigned char hash[static SHA256_LEN], struct principal *ret) CHECKED;

/* A use to be recorded later, by a periodic job and never on a request's path. */
struct key_use {
    struct id account_id, key_id;
    int64_t at_us;
};
/* Writes last_used_at, cut to the minute, where that is later than what is stored. */
enum err key_touch(struct tx *tx, const struct key_use *uses, size_t count) CHECKED;

struct key_options {
    enum key_kind kind;
    struct id account_id;
    struct id building_id; /* binds the key to one building; else empty */
    struct id member_id;   /* a member's key; else empty */
    struct str name;
    uint32_t scopes;
    int64_t ttl_s;
};

struct key_issued {
    struct id id;
    char text[KEY_TEXT_MAX]; /* the secret; wipe after use */
    char prefix[KEY_PREFIX_LEN + 1];
    uint32_t scopes;
    int64_t expires_at_us;
};

/* Makes a key. ERR_KEY_LIMIT for a 21st active agent key of the account. */
enum err key_issue(struct tx *tx, const struct key_options *options, struct key_issued *ret) CHECKED;

/* The scope bits of texts (a VAL_LIST of VAL_STR; absent: the default four) as far as `issuer` holds them:
 * ERR_INVALID_KEY_OPTIONS for an unknown, a never issuable or a duplicate one and for an empty list,
 * ERR_INSUFFICIENT_SCOPE for one the issuer lacks. */
enum err key_scopes(struct tx *tx, struct val texts, uint32_t issuer, uint32_t *ret) CHECKED;

struct key_entry {
    struct id id;
    struct str name;
    enum key_kind kind;
    uint32_t scopes;
    int64_t expires_at_us; /* INT64_MAX: never */
    int64_t last_used_us;  /* 0: never */
};

/* The account's keys that are not revoked, newest first, in the arena. */
enum err key_list(struct tx *tx, const struct id *account, const struct key_entry **ret, size_t *ret_count) CHECKED;
/* ERR_NOT_FOUND: unknown, another account's, or already revoked. */
enum err key_revoke(struct tx *tx, const struct id *account, const struct id *key) CHECKED;
/* Revokes every active key of the account but `keep`. */
enum err key_revoke_others(struct tx *tx, const struct id *account, const struct id *keep, int64_t *ret_count) CHECKED;

/* Deletes at most `limit` keys that expired before then; *ret_count says how many. */
enum err key_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
