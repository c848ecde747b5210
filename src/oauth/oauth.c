#include "oauth/oauth.h"

#include <stdio.h>

#define REFRESH       "svc_refresh_"
#define FAMILY_LEN    21 /* base62: 125 bits, which only holders of one of its tokens know */
#define SECRET_LEN    43
#define PREFIX_LEN    (sizeof REFRESH - 1)
#define UNCHANGED_LEN (PREFIX_LEN + FAMILY_LEN) /* of a refresh token, by a refresh */

_Static_assert(UNCHANGED_LEN + SECRET_LEN == OAUTH_REFRESH_LEN, "a refresh token has these parts");

struct hash {
    unsigned char p[SHA256_LEN];
};

static struct hash hash_of(struct str text)
{
    struct hash h = {{0}};
    crypto_sha256(text, h.p);
    return h;
}

static struct str digest_of(const struct hash *h)
{
    return str_bytes(h->p, sizeof h->p);
}

static bool hash_matches(struct str stored, const struct hash *h)
{
    return stored.n == sizeof h->p && crypto_equal(stored.p, h->p, sizeof h->p);
}

static bool resource_fits(enum oauth_resource allowed, enum oauth_resource wanted)
{
    return wanted == OAUTH_ANY || allowed == OAUTH_ANY || wanted == allowed;
}

/* ---- codes ---- */

/* A client that has a grant gets another one in its place. */
static enum err check_room(struct tx *tx, const struct id *account, const struct hash *client, bool shared)
{
    enum err e = ERR_NOT_FOUND;
    if (!shared) {
        CURSOR c;
        e = db_one(tx->db,
                   SQL(oauth_grant_of_client, .account_id = account, .client = digest_of(client), .now = tx->now_us),
                   &c);
    }
    return e == ERR_NOT_FOUND ? key_check_limit(tx, account) : e;
}

enum err oauth_code_issue(struct tx *tx, const struct id *account, const struct oauth_consent *consent,
                          char ret[static OAUTH_CODE_LEN + 1])
{
    char code[OAUTH_CODE_LEN + 1];
    const struct hash client = hash_of(consent->client_id), redirect = hash_of(consent->redirect_uri);
    crypto_base62(code, OAUTH_CODE_LEN);
    const struct hash hash = hash_of(str_z(code));
    enum err e = check_room(tx, account, &client, consent->shared);
    if (!e)
        e = db_exec(tx->db, SQL(oauth_code_trim, .account_id = account, .keep = OAUTH_CODES_MAX - 1), NULL);
    if (!e)
        e = db_exec(tx->db,
                    SQL(oauth_code_insert, .hash = digest_of(&hash), .account_id = account,
                        .client = digest_of(&client), .redirect = digest_of(&redirect), .challenge = consent->challenge,
                        .scopes = consent->scopes, .resource = consent->resource,
                        .expires_at = tx->now_us + OAUTH_CODE_TTL_S * US_PER_S, .client_name = consent->client_name,
                        .shared = consent->shared),
                    NULL);
    if (!e)
        memcpy(ret, code, sizeof code);
    crypto_wipe(code, sizeof code);
    return e;
}

/* A code's row, and whether an exchange fits to it. */
struct code {
    struct id account, key;
    uint32_t scopes;
    enum oauth_resource resource;
    struct str client_name; /* in the arena */
    bool shared, used, fits;
};

/* RFC 7636 section 4.6. */
static bool verifies(struct tx *tx, struct str verifier, struct str challenge)
{
    const struct hash h = hash_of(verifier);
    const struct str given = base64url_encode(tx->arena, str_n((const char *)h.p, sizeof h.p));
    return given.n == challenge.n && crypto_equal(given.p, challenge.p, given.n);
}

static enum err code_read(struct tx *tx, const struct hash *hash, struct str client_id, const struct oauth_exchange *x,
                          struct code *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(oauth_code_get, .hash = digest_of(hash)), &c);
    if (e)
        return e;
    const struct hash client = hash_of(client_id), redirect = hash_of(x->redirect_uri);
    const struct row_oauth_code_get row = row_oauth_code_get(&c, NULL);
    *ret = (struct code){
        .account = row.account_id,
        .key = row.key_id,
        .scopes = (uint32_t)row.scopes,
        .resource = (enum oauth_resource)row.resource,
        .client_name = arena_str(tx->arena, row.client_name),
        .shared = row.shared,
        .used = row.used,
    };
    ret->fits = row.expires_at > tx->now_us && hash_matches(row.client, &client) &&
                (!x->redirect_uri.p || hash_matches(row.redirect, &redirect)) &&
                resource_fits(ret->resource, x->resource) && verifies(tx, x->verifier, row.challenge);
    return ERR_NONE;
}

static enum err code_use(struct tx *tx, const struct hash *hash, const struct id *key)
{
    return db_exec(tx->db, SQL(oauth_code_use, .hash = digest_of(hash), .key_id = key), NULL);
}

/* Ends a grant. That is no error if it has ended. */
static enum err end_grant(struct tx *tx, const struct id *account, const struct id *key)
{
    enum err e = key_revoke(tx, account, key);
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

/* ---- tokens ---- */

static struct hash family_of(struct str token)
{
    return hash_of(str_n(token.p, UNCHANGED_LEN));
}

static bool is_refresh_token(struct str token)
{
    return token.n == OAUTH_REFRESH_LEN && str_starts(token, STR(REFRESH));
}

/* The texts of the tokens that follow a refresh token. They depend on it and on the master key, so a repetition finds
 * the same ones, on any node, and the store has no more than their hashes. False without such a master key. */
static bool succeed(enum master_key which, struct str token, struct oauth_tokens *t)
{
    char access[KEY_SECRET_LEN + 1];
    if (!crypto_derived_base62(which, "oauth_refresh", token, t->refresh + UNCHANGED_LEN, SECRET_LEN) ||
        !crypto_derived_base62(which, "oauth_access", token, access, KEY_SECRET_LEN))
        return false;
    memcpy(t->refresh, token.p, UNCHANGED_LEN);
    key_agent_text(access, &t->access);
    crypto_wipe(access, sizeof access);
    return true;
}

static enum err end_earlier(struct tx *tx, const struct code *code, const struct hash *client)
{
    enum err e = ERR_NONE;
    db_notify(tx->db, TOPIC_KEYS);
    if (!code->shared)
        e = db_exec(tx->db,
                    SQL(oauth_grant_replace, .account_id = &code->account, .client = digest_of(client),
                        .revoked_at = tx->now_us),
                    NULL);
    return e ? e : db_exec(tx->db, SQL(oauth_grant_sweep, .account_id = &code->account, .now = tx->now_us), NULL);
}

static enum err grant_add(struct tx *tx, const struct code *code, const struct hash *client, struct oauth_tokens *t)
{
    memcpy(t->refresh, REFRESH, PREFIX_LEN);
    crypto_base62(t->refresh + PREFIX_LEN, FAMILY_LEN + SECRET_LEN);
    const struct hash token = hash_of(str_z(t->refresh)), family = family_of(str_z(t->refresh));
    return db_exec(tx->db,
                   SQL(oauth_grant_insert, .account_id = &code->account, .key_id = &t->access.id,
                       .family = digest_of(&family), .token = digest_of(&token), .client = digest_of(client),
                       .scopes = code->scopes, .resource = code->resource, .created_at = tx->now_us,
                       .expires_at = tx->now_us + OAUTH_GRANT_TTL_S * US_PER_S),
                   NULL);
}

static enum err grant_issue(struct tx *tx, const struct code *code, const struct oauth_client *client,
                            struct oauth_tokens *t)
{
    const struct key_options key = {.kind = KEY_AGENT,
                                    .account_id = code->account,
                                    .name = client->name.p ? client->name : code->client_name,
                                    .scopes = code->scopes,
                                    .ttl_s = OAUTH_ACCESS_TTL_S};
    const struct hash id = hash_of(client->id);
    enum err e = end_earlier(tx, code, &id);
    if (!e)
        e = key_issue(tx, &key, &t->access);
    return e ? e : grant_add(tx, code, &id, t);
}

enum err oauth_code_exchange(struct tx *tx, const struct oauth_client *client, const struct oauth_exchange *x,
                             struct oauth_tokens *ret)
{
    const struct hash hash = hash_of(x->code);
    struct oauth_tokens t = {.refresh = ""};
    struct code code;
    enum err e = code_read(tx, &hash, client->id, x, &code);
    if (e)
        return e;
    if (code.used || !code.fits) {
        e = id_given(&code.key) ? end_grant(tx, &code.account, &code.key) : ERR_NONE;
        if (!e)
            e = code_use(tx, &hash, &code.key);
        return e ? e : ERR_NOT_FOUND;
    }
    e = grant_issue(tx, &code, client, &t);
    if (!e)
        e = code_use(tx, &hash, &t.access.id);
    if (!e)
        *ret = t;
    crypto_wipe(&t, sizeof t);
    return e;
}

/* The grant of a token. */
struct found {
    struct id account, key;
    bool of_client;
    /* By a refresh token: */
    bool newest;
    uint32_t scopes, key_scopes;
    enum oauth_resource resource;
    struct str token; /* the hash of the newest, in the arena */
    int64_t renewed_us, key_expires_us;
};

static enum err find_by_refresh(struct tx *tx, struct str client_id, struct str token, struct found *ret)
{
    const struct hash hash = hash_of(token), client = hash_of(client_id);
    if (!is_refresh_token(token))
        return ERR_NOT_FOUND;
    const struct hash family = family_of(token);
    CURSOR c;
    enum err e = db_one(tx->db, SQL(oauth_grant_find, .family = digest_of(&family), .now = tx->now_us), &c);
    if (e)
        return e;
    const struct row_oauth_grant_find row = row_oauth_grant_find(&c, NULL);
    *ret = (struct found){
        .account = row.account_id,
        .key = row.key_id,
        .of_client = hash_matches(row.client, &client),
        .newest = hash_matches(row.token, &hash),
        .scopes = (uint32_t)row.scopes,
        .key_scopes = (uint32_t)row.key_scopes,
        .resource = (enum oauth_resource)row.resource,
        .token = arena_str(tx->arena, row.token),
        .renewed_us = row.expires_at - OAUTH_GRANT_TTL_S * US_PER_S,
        .key_expires_us = row.key_expires_at,
    };
    return ERR_NONE;
}

static enum err find_by_access(struct tx *tx, struct str client_id, struct str token, struct found *ret)
{
    const struct hash client = hash_of(client_id);
    unsigned char hash[SHA256_LEN];
    key_hash(token, hash);
    CURSOR c;
    enum err e = db_one(tx->db, SQL(oauth_grant_of_key, .hash = str_bytes(hash, sizeof hash)), &c);
    if (e)
        return e;
    const struct row_oauth_grant_of_key row = row_oauth_grant_of_key(&c, NULL);
    *ret = (struct found){
        .account = row.account_id,
        .key = row.key_id,
        .of_client = hash_matches(row.client, &client),
    };
    return ERR_NONE;
}

static enum err grant_renew(struct tx *tx, const struct found *g, struct str token, uint32_t scopes,
                            struct oauth_tokens *t)
{
    if (!succeed(MASTER_CURRENT, token, t))
        return ERR_INTERNAL_ERROR;
    t->access.id = g->key;
    t->access.scopes = scopes ? scopes : g->scopes;
    t->access.expires_at_us = tx->now_us + OAUTH_ACCESS_TTL_S * US_PER_S;
    const struct hash hash = hash_of(str_z(t->refresh));
    enum err e = key_renew(tx, &g->account, &t->access);
    if (e)
        return e;
    return db_exec(tx->db,
                   SQL(oauth_grant_renew, .account_id = &g->account, .key_id = &g->key, .token = digest_of(&hash),
                       .expires_at = tx->now_us + OAUTH_GRANT_TTL_S * US_PER_S),
                   NULL);
}

/* Whether the newest token came of this one a short time ago. Then *t has what the client got for it. */
static bool comes_again(const struct tx *tx, const struct found *g, struct str token, struct oauth_tokens *t)
{
    bool is = false;
    if (!g->of_client || tx->now_us >= g->renewed_us + OAUTH_REPEAT_S * US_PER_S)
        return false;
    for (enum master_key which = MASTER_CURRENT; !is && which <= MASTER_PREVIOUS; which++) {
        if (!succeed(which, token, t))
            continue;
        const struct hash hash = hash_of(str_z(t->refresh));
        is = hash_matches(g->token, &hash);
    }
    t->access.id = g->key;
    t->access.scopes = g->key_scopes;
    t->access.expires_at_us = g->key_expires_us;
    return is;
}

enum err oauth_refresh(struct tx *tx, struct str client_id, struct str token, uint32_t scopes,
                       enum oauth_resource resource, struct oauth_tokens *ret)
{
    struct oauth_tokens t = {.refresh = ""};
    struct found g;
    enum err e = find_by_refresh(tx, client_id, token, &g);
    if (e)
        return e;
    if (!g.newest && !comes_again(tx, &g, token, &t)) {
        e = end_grant(tx, &g.account, &g.key);
        e = e ? e : ERR_NOT_FOUND;
    } else if (!g.of_client || !resource_fits(g.resource, resource)) {
        e = ERR_NOT_FOUND;
    } else if (scopes & ~g.scopes) {
        e = ERR_INSUFFICIENT_SCOPE;
    } else if (g.newest) {
        e = grant_renew(tx, &g, token, scopes, &t);
    }
    if (!e)
        *ret = t;
    crypto_wipe(&t, sizeof t);
    return e;
}

enum err oauth_revoke(struct tx *tx, struct str client_id, struct str token)
{
    struct found g;
    enum err e =
        is_refresh_token(token) ? find_by_refresh(tx, client_id, token, &g) : find_by_access(tx, client_id, token, &g);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    return g.of_client ? end_grant(tx, &g.account, &g.key) : ERR_NOT_FOUND;
}

enum err oauth_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL(oauth_code_purge, .before = before_us, .limit = limit), ret_count);
}
