#include "domain/key.h"

#include "domain/list.h"

#define MINUTE_US (60 * US_PER_S)

#define STANDARD                    (SCOPE(ACCOUNT_READ) | SCOPE(ACCESS_READ) | SCOPE(ACCESS_WRITE) | SCOPE(LOGS_READ))
#define ISSUABLE(symbol, condition) | ((condition) ? SCOPE(symbol) : 0)

const struct key_scope_rules key_scopes_current = {.standard = STANDARD, .issuable = 0
#define S(symbol, text, issued)                                                                                        \
    ISSUABLE(symbol, SCOPE_ISSUED_##issued == SCOPE_ISSUED_ALWAYS || SCOPE_ISSUED_##issued == SCOPE_ISSUED_CURRENT)
#include "tbl/scopes.def"
#undef S
};

const struct key_scope_rules key_scopes_earlier = {.standard = STANDARD | SCOPE(WEBHOOKS_WRITE), .issuable = 0
#define S(symbol, text, issued)                                                                                        \
    ISSUABLE(symbol, SCOPE_ISSUED_##issued == SCOPE_ISSUED_ALWAYS || SCOPE_ISSUED_##issued == SCOPE_ISSUED_EARLIER)
#include "tbl/scopes.def"
#undef S
};

void key_hash(struct str text, unsigned char ret[static SHA256_LEN])
{
    crypto_sha256(text, ret);
}

static bool is_active(struct str subscription_status)
{
    return str_eq(subscription_status, STR("active"));
}

/* An owner's website session has all scopes of the current revision, also one that began before a scope existed. One of
 * the earlier revision also has the scopes that the current one lacks. They are not stored, because a session may have
 * begun under the other revision. A member's session has the stored ones. */
static uint32_t held_scopes(int64_t stored, bool owners_session, bool earlier_revision)
{
    return (uint32_t)stored |
           (!owners_session ? 0 : SCOPE_CURRENT | (earlier_revision ? key_scopes_earlier.issuable : 0));
}

static uint32_t owner_scopes(void)
{
    return SCOPE(OWNER) | key_scopes_earlier.issuable;
}

static enum err read_principal(const struct cursor *c, int64_t now_us, struct principal *ret)
{
    const struct row_key_authenticate row = row_key_authenticate(c, NULL);
    const bool web_session = str_eq(row.kind, STR("web_session"));
    struct principal p = {
        .key_id = row.id,
        .account_id = row.account_id,
        .building_id = row.building_id,
        .member_id = row.member_id,
        .web_session = web_session,
        .scopes = held_scopes(row.scopes, web_session && !id_given(&row.member_id), row.earlier_revision),
        .expires_at_us = v_int_or(row.expires_at, INT64_MAX),
        .last_used_us = v_int_or(row.last_used_at, 0),
        .subscribed = is_active(row.subscription_status),
        .buildings_version = row.buildings_version,
        .earlier_revision = row.earlier_revision,
        .primary_id = row.primary_id,
        .building_count = (uint32_t)row.buildings,
        .building_number = v_int_or(row.building_number, 0),
    };
    bool revoked = v_set(row.revoked_at);
    bool account_gone = !row.subscription_status.p;
    bool building_gone = id_given(&p.building_id) && !row.building_found.p;
    bool foreign = p.scopes & SCOPE(OWNER) && !p.earlier_revision;
    if (revoked || foreign || p.expires_at_us <= now_us)
        return ERR_INVALID_KEY;
    if (account_gone || building_gone)
        return ERR_AUTHENTICATION_REQUIRED;
    *ret = p;
    return ERR_NONE;
}

enum err key_authenticate(struct tx *tx, const unsigned char hash[static SHA256_LEN], struct principal *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(key_authenticate, .hash = str_bytes(hash, SHA256_LEN)), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_INVALID_KEY : e;
    return read_principal(&c, tx->now_us, ret);
}

/* The other members of a principal belong to the key's ID for good, or depend on the account's buildings. */
static bool principal_holds(void *context, const struct cursor *c)
{
    struct key_assumption *a = context;
    const struct principal *who = &a->who;
    a->given = false;
    if (!c)
        return false;
    const struct row_key_confirm row = row_key_confirm(c, NULL);
    const bool owners_session = who->web_session && !id_given(&who->member_id);
    a->given = id_equal(&row.id, &who->key_id) &&
               who->scopes == held_scopes(row.scopes, owners_session, who->earlier_revision) &&
               who->expires_at_us == v_int_or(row.expires_at, INT64_MAX) &&
               who->subscribed == is_active(row.subscription_status) && who->earlier_revision == row.earlier_revision &&
               who->buildings_version == row.buildings_version;
    return a->given;
}

void key_assume(struct tx *tx, struct key_assumption *a)
{
    a->confirm = SQL_ARGS(key_confirm, .hash = str_bytes(a->hash, sizeof a->hash));
    a->assumption = (struct db_assumption){&a->confirm.call, principal_holds, a};
    db_assume(tx->db, &a->assumption);
}

enum err key_touch(struct tx *tx, const struct key_use *uses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct key_use *u = &uses[i];
        enum err e = db_exec(tx->db,
                             SQL(key_touch, .account_id = &u->account_id, .id = &u->key_id,
                                 .last_used_at = u->at_us - u->at_us % MINUTE_US),
                             NULL);
        if (e)
            return e;
    }
    return ERR_NONE;
}

static const struct {
    char prefix[11];    /* of the text */
    const char *stored; /* a program before knows no other kinds: an owner's credential is the agent key with OWNER */
    int64_t active_max; /* of an account; 0: unlimited */
} kinds[] = {
    [KEY_WEB_SESSION] = {"svc_web_", "web_session", 0},
    [KEY_AGENT] = {"svc_agent_", "agent", KEY_ACTIVE_MAX},
    [KEY_OWNER] = {"svc_owner_", "agent", KEY_OWNERS_MAX},
};

static enum err check_limit(struct tx *tx, const struct id *account, enum key_kind kind)
{
    if (!kinds[kind].active_max)
        return ERR_NONE;
    CURSOR c;
    const int64_t mark = SCOPE(OWNER), marked = kind == KEY_OWNER ? mark : 0;
    enum err e =
        db_one(tx->db, SQL(key_count, .account_id = account, .now = tx->now_us, .mask = mark, .masked = marked), &c);
    if (e)
        return e;
    const struct row_key_count row = row_key_count(&c, NULL);
    return row.keys < kinds[kind].active_max ? ERR_NONE : ERR_KEY_LIMIT;
}

enum err key_check_limit(struct tx *tx, const struct id *account)
{
    return check_limit(tx, account, KEY_AGENT);
}

static void make_text(struct key_issued *k, enum key_kind kind, const char secret[static KEY_SECRET_LEN + 1])
{
    struct str prefix = str_z(kinds[kind].prefix);
    memcpy(k->text, prefix.p, prefix.n);
    memcpy(k->text + prefix.n, secret, KEY_SECRET_LEN + 1);
    memcpy(k->prefix, k->text, KEY_PREFIX_LEN);
    k->prefix[KEY_PREFIX_LEN] = '\0';
}

enum err key_issue(struct tx *tx, const struct key_options *o, struct key_issued *ret)
{
    enum err e = check_limit(tx, &o->account_id, o->kind);
    if (e)
        return e;
    struct key_issued k = {
        .id = id_new(tx->now_us),
        .scopes = o->kind == KEY_OWNER ? owner_scopes() : o->scopes,
        .expires_at_us = o->kind == KEY_OWNER ? INT64_MAX : tx->now_us + o->ttl_s * US_PER_S,
    };
    const struct val end = o->kind == KEY_OWNER ? v_null() : v_time(k.expires_at_us);
    unsigned char hash[SHA256_LEN];
    if (o->hash) {
        memcpy(hash, o->hash, sizeof hash);
    } else {
        char secret[KEY_SECRET_LEN + 1];
        crypto_base62(secret, KEY_SECRET_LEN);
        make_text(&k, o->kind, secret);
        crypto_wipe(secret, sizeof secret);
        key_hash(str_z(k.text), hash);
    }
    e = db_exec(tx->db,
                SQL(key_insert, .hash = str_bytes(hash, sizeof hash), .id = &k.id, .account_id = &o->account_id,
                    .building_id = &o->building_id, .member_id = &o->member_id, .kind = str_z(kinds[o->kind].stored),
                    .name = o->name, .prefix = str_z(k.prefix), .scopes = k.scopes, .created_at = tx->now_us,
                    .expires_at = end),
                NULL);
    if (!e)
        *ret = k;
    crypto_wipe(&k, sizeof k);
    return e;
}

void key_agent_text(const char secret[static KEY_SECRET_LEN + 1], struct key_issued *ret)
{
    make_text(ret, KEY_AGENT, secret);
}

enum err key_renew(struct tx *tx, const struct id *account, const struct key_issued *key)
{
    unsigned char hash[SHA256_LEN];
    int64_t renewed;
    key_hash(str_z(key->text), hash);
    db_notify(tx->db, TOPIC_KEYS);
    enum err e = db_exec(tx->db,
                         SQL(key_renew, .account_id = account, .id = &key->id, .hash = str_bytes(hash, sizeof hash),
                             .prefix = str_z(key->prefix), .scopes = key->scopes, .expires_at = key->expires_at_us),
                         &renewed);
    return e || renewed ? e : ERR_NOT_FOUND;
}

static bool scope_find(struct str text, enum scope *ret)
{
    for (enum scope bit = 0; bit < SCOPE_COUNT; bit++)
        if (str_eq(text, str_z(scope_text(bit)))) {
            *ret = bit;
            return true;
        }
    return false;
}

uint32_t key_scopes_named(struct str names)
{
    uint32_t scopes = 0;
    for (struct str rest = names; rest.p;) {
        enum scope found;
        if (scope_find(str_cut(rest, ' ', &rest), &found))
            scopes |= 1u << found;
    }
    return scopes & key_scopes_current.issuable;
}

static enum err refuse_scope(struct tx *tx, enum err e, struct str scope, const char *rule)
{
    tx->why = arena_printf(tx->arena, "scopes: %.*s %s", STR_ARG(scope), rule);
    return e;
}

enum err key_scopes(struct tx *tx, const struct key_scope_rules *rules, struct val texts, uint32_t issuer,
                    uint32_t *ret)
{
    uint32_t scopes = 0;
    if (!v_given(texts))
        scopes = rules->standard;
    else if (texts.count == 0)
        return tx_fail(tx, ERR_INVALID_KEY_OPTIONS, "scopes must have at least one item");
    const struct val *list = texts.ptr;
    for (uint32_t i = 0; i < texts.count; i++) {
        enum scope found;
        if (!scope_find(list[i].s, &found))
            return tx_fail(tx, ERR_INVALID_KEY_OPTIONS, "scopes has an unknown scope");
        uint32_t bit = 1u << found;
        if (!(bit & rules->issuable))
            return refuse_scope(tx, ERR_INVALID_KEY_OPTIONS, list[i].s, "cannot be issued");
        if (bit & scopes)
            return refuse_scope(tx, ERR_INVALID_KEY_OPTIONS, list[i].s, "is listed twice");
        if (!(bit & issuer))
            return refuse_scope(tx, ERR_INSUFFICIENT_SCOPE, list[i].s, "is not held by the issuer");
        scopes |= bit;
    }
    *ret = scopes & issuer;
    return ERR_NONE;
}

static enum key_kind kind_of(struct str stored, int64_t scopes)
{
    if (str_eq(stored, STR("web_session")))
        return KEY_WEB_SESSION;
    return scopes & SCOPE(OWNER) ? KEY_OWNER : KEY_AGENT;
}

enum err key_list(struct tx *tx, const struct id *account, const struct key_entry **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, SQL(key_list, .account_id = account), &c);
    if (e)
        return e;
    struct key_entry *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        const struct row_key_list row = row_key_list(&c, tx->arena);
        list[count++] = (struct key_entry){
            .id = row.id,
            .name = row.name,
            .kind = kind_of(row.kind, row.scopes),
            .scopes = (uint32_t)row.scopes,
            .expires_at_us = v_int_or(row.expires_at, INT64_MAX),
            .last_used_us = v_int_or(row.last_used_at, 0),
        };
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

enum err key_revoke(struct tx *tx, const struct id *account, const struct id *key)
{
    int64_t changed;
    db_notify(tx->db, TOPIC_KEYS);
    enum err e = db_exec(tx->db, SQL(key_revoke, .account_id = account, .id = key, .revoked_at = tx->now_us), &changed);
    if (e)
        return e;
    return changed ? ERR_NONE : ERR_NOT_FOUND;
}

enum err key_revoke_owners(struct tx *tx, const struct id *account)
{
    db_notify(tx->db, TOPIC_KEYS);
    return db_exec(
        tx->db, SQL(key_revoke_owners, .account_id = account, .revoked_at = tx->now_us, .scope = SCOPE(OWNER)), NULL);
}

enum err key_revoke_others(struct tx *tx, const struct id *account, const struct id *keep, int64_t *ret_count)
{
    db_notify(tx->db, TOPIC_KEYS);
    enum err e = db_exec(tx->db, SQL(oauth_code_end_all, .account_id = account), NULL);
    if (e)
        return e;
    return db_exec(tx->db,
                   SQL(key_revoke_others, .account_id = account, .id = keep, .revoked_at = tx->now_us,
                       .since = tx->now_us - KEY_REMEMBERED_S * US_PER_S),
                   ret_count);
}

enum err key_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL(key_purge, .before = before_us, .limit = limit), ret_count);
}
