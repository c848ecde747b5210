/* API keys: website sessions and agent keys (contract, Authentication; docs/behaviour/keys.md).
 *
 * Only the SHA-256 of a key is stored; its text leaves key_issue once. */
#pragma once
#include "base/crypto.h"
#include "domain/principal.h"
#include "domain/tx.h"

#define KEY_TEXT_MAX      64 /* "svc_agent_" and 43 base62, with room */
#define KEY_SECRET_LEN    43 /* base62: 256 bits */
#define KEY_PREFIX_LEN    16
#define KEY_NAME_MAX      120
#define KEY_ACTIVE_MAX    20 /* agent keys of one account that are not revoked or expired */
#define KEY_OWNERS_MAX    5  /* owner's credentials of one account */
#define KEY_SESSION_TTL_S (12 * 3600)
#define KEY_REMEMBERED_S  (30 * 86400) /* since its last use, a remembered browser's key can be renewed */
#define KEY_DAYS_MAX      90
#define KEY_DAYS_DEFAULT  30

enum key_kind {
    KEY_WEB_SESSION,
    KEY_AGENT,
    KEY_OWNER /* the owner's credential of the earlier revision: all scopes that can be issued, and no end */
};

/* The hash that a key is stored and found by. */
void key_hash(struct str text, unsigned char ret[static SHA256_LEN]);

/* The principal of a key, read in one statement. Fails with ERR_INVALID_KEY (unknown, expired or revoked),
 * ERR_AUTHENTICATION_REQUIRED (its account or its building is deleted). A cache of results must compare expires_at_us
 * with the clock, and drop its entries when keys, accounts, buildings or subscriptions change (TOPIC_KEYS). */
enum err key_authenticate(struct tx *tx, const unsigned char hash[static SHA256_LEN], struct principal *ret) CHECKED;

/* Knowledge about a key that the store was not asked for. */
struct key_assumption {
    unsigned char hash[SHA256_LEN];
    bool given;                      /* `who` is what key_authenticate returned before */
    struct principal who;            /* if `given` */
    struct args_key_confirm confirm; /* for key_assume, like the next */
    struct db_assumption assumption;
};
/* Lets the body take a->who for granted; see db_assume. If the key no longer authenticates, or anything but
 * last_used_us has changed, clears a->given, and the body runs again. a->who must have a building_number. */
void key_assume(struct tx *tx, struct key_assumption *a);

/* A use of a key, which is recorded outside the request. */
struct key_use {
    struct id account_id, key_id;
    int64_t at_us;
};
/* Raises last_used_at of each key to the minute of its use. */
enum err key_touch(struct tx *tx, const struct key_use *uses, size_t count) CHECKED;

struct key_options {
    enum key_kind kind;
    struct id account_id;
    struct id building_id; /* binds the key to one building; else empty */
    struct id member_id;   /* of a member's key; else empty */
    struct str name;
    uint32_t scopes;
    int64_t ttl_s;
    const unsigned char
        *hash; /* SHA256_LEN: the key gets no text and is found by this; NULL: by the hash of its text */
};

struct key_issued {
    struct id id;
    char text[KEY_TEXT_MAX]; /* the secret, if it has one; the caller must wipe it */
    char prefix[KEY_PREFIX_LEN + 1];
    uint32_t scopes;
    int64_t expires_at_us;
};

/* Creates a key. Fails with ERR_KEY_LIMIT if the account has KEY_ACTIVE_MAX active agent keys, or KEY_OWNERS_MAX
 * owner's credentials. One of these takes neither scopes nor ttl_s, and is valid as long as its account is of the
 * earlier revision. */
enum err key_issue(struct tx *tx, const struct key_options *options, struct key_issued *ret) CHECKED;

/* Fails with ERR_KEY_LIMIT if no agent key can be issued. */
enum err key_check_limit(struct tx *tx, const struct id *account) CHECKED;

/* The text and the prefix of an agent key with that secret. */
void key_agent_text(const char secret[static KEY_SECRET_LEN + 1], struct key_issued *ret);
/* Gives the agent key with that ID this text, which alone is valid from then on, and these scopes and this end. Fails
 * with ERR_NOT_FOUND if the account has no such key, or it is revoked. */
enum err key_renew(struct tx *tx, const struct id *account, const struct key_issued *key) CHECKED;

/* The scopes of agent keys under a revision of the interface (KEY-14, EARLIER-10), as bits. */
struct key_scope_rules {
    uint32_t standard; /* if none are asked for */
    uint32_t issuable;
};
extern const struct key_scope_rules key_scopes_current, key_scopes_earlier;

/* The bits of the scopes that a text separated by spaces names. Unknown ones, and ones that cannot be issued under
 * the current revision, are left out. */
uint32_t key_scopes_named(struct str names);

/* The bits of a list of scopes, a VAL_LIST of VAL_STR. An absent list gives the standard scopes that `issuer`
 * has. Fails with ERR_INVALID_KEY_OPTIONS (an empty list; an unknown, a duplicate, or a scope that cannot be
 * issued), ERR_INSUFFICIENT_SCOPE (a scope that the issuer lacks). */
enum err key_scopes(struct tx *tx, const struct key_scope_rules *rules, struct val texts, uint32_t issuer,
                    uint32_t *ret) CHECKED;

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
/* Fails with ERR_NOT_FOUND if the account has no such key, or it is already revoked. */
enum err key_revoke(struct tx *tx, const struct id *account, const struct id *key) CHECKED;
/* Revokes the owner's credentials of the account. */
enum err key_revoke_owners(struct tx *tx, const struct id *account) CHECKED;
/* Revokes every active key of the account except `keep`, and the keys of browsers and connected assistants that could
 * renew them. *ret_count is their number. Codes of OAuth end, too. */
enum err key_revoke_others(struct tx *tx, const struct id *account, const struct id *keep, int64_t *ret_count) CHECKED;

/* Deletes at most `limit` keys that expired before before_us. *ret_count is their number. */
enum err key_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
