#include "domain/browser.h"

#include "domain/list.h"

#define MINUTE_US  (60 * US_PER_S)
#define HASHED_MAX 64

/* A text of a key contains no NUL, so that its hash differs. */
void browser_hash(struct str cookie, unsigned char ret[static SHA256_LEN])
{
    static const char domain[] = "browser"; /* hashed with its NUL */
    char input[HASHED_MAX];
    size_t n = sizeof domain + (cookie.n < sizeof input - sizeof domain ? cookie.n : sizeof input - sizeof domain);
    memcpy(input, domain, sizeof domain);
    memcpy(input + sizeof domain, cookie.p, n - sizeof domain);
    crypto_sha256(str_n(input, n), ret);
    crypto_wipe(input, sizeof input);
}

/* Browsers used since then can be renewed. */
static int64_t remembered_since(const struct tx *tx)
{
    return tx->now_us - KEY_REMEMBERED_S * US_PER_S;
}

static enum err end_surplus(struct tx *tx, const struct key_options *key)
{
    db_notify(tx->db, TOPIC_KEYS);
    return db_exec(tx->db,
                   SQL(browser_end_surplus, .account_id = &key->account_id, .member_id = &key->member_id,
                       .now = tx->now_us, .since = remembered_since(tx), .keep = BROWSERS_MAX - 1),
                   NULL);
}

static enum err insert(struct tx *tx, const struct key_options *key, const struct id *id, struct str user_agent,
                       bool remember)
{
    const struct browser_names names = browser_names(user_agent);
    struct key_issued issued;
    enum err e = key_issue(tx, key, &issued);
    if (e)
        return e;
    return db_exec(tx->db,
                   SQL(browser_insert, .hash = str_bytes(key->hash, SHA256_LEN), .id = id,
                       .account_id = &key->account_id, .program = str_z(names.program), .system = str_z(names.system),
                       .remembered = remember, .created_at = tx->now_us),
                   NULL);
}

enum err browser_issue(struct tx *tx, const struct key_options *key, struct str user_agent, bool remember,
                       struct browser_issued *ret)
{
    enum err e = end_surplus(tx, key);
    if (e)
        return e;
    struct browser_issued b = {
        .id = id_new(tx->now_us),
        .ends_at_us = tx->now_us + (remember ? KEY_REMEMBERED_S : KEY_SESSION_TTL_S) * US_PER_S,
    };
    unsigned char hash[SHA256_LEN];
    crypto_base62(b.cookie, BROWSER_COOKIE_LEN);
    browser_hash(str_z(b.cookie), hash);
    struct key_options own = *key;
    own.hash = hash;
    e = insert(tx, &own, &b.id, user_agent, remember);
    if (!e)
        *ret = b;
    crypto_wipe(&b, sizeof b);
    return e;
}

enum err browser_switch(struct tx *tx, const unsigned char hash[static SHA256_LEN], const struct id *was,
                        const struct key_options *key)
{
    const struct str bytes = str_bytes(hash, SHA256_LEN);
    const struct id id = id_new(tx->now_us);
    int64_t moved = 0, browsers = 0;
    enum err e = end_surplus(tx, key);
    if (!e)
        e = db_exec(tx->db,
                    SQL(browser_key_move, .hash = bytes, .was = was, .id = &id, .account_id = &key->account_id,
                        .building_id = &key->building_id, .member_id = &key->member_id, .name = key->name,
                        .scopes = key->scopes),
                    &moved);
    if (!e)
        e = db_exec(tx->db, SQL(browser_move, .hash = bytes, .account_id = &key->account_id), &browsers);
    return e ? e : moved && browsers ? ERR_NONE : ERR_INVALID_KEY;
}

enum err browser_replace(struct tx *tx, const unsigned char hash[static SHA256_LEN])
{
    db_notify(tx->db, TOPIC_KEYS);
    return db_exec(tx->db, SQL(browser_replace, .hash = str_bytes(hash, SHA256_LEN), .revoked_at = tx->now_us), NULL);
}

enum err browser_lapsed(struct tx *tx, const unsigned char hash[static SHA256_LEN], bool *ret)
{
    CURSOR c;
    enum err e = db_one(
        tx->db,
        SQL(browser_lapsed, .hash = str_bytes(hash, SHA256_LEN), .now = tx->now_us, .since = remembered_since(tx)), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    *ret = !e;
    return ERR_NONE;
}

enum err browser_renew(struct tx *tx, const unsigned char hash[static SHA256_LEN])
{
    const struct id key = id_new(tx->now_us);
    int64_t renewed;
    enum err e =
        db_exec(tx->db,
                SQL(browser_renew, .hash = str_bytes(hash, SHA256_LEN), .now = tx->now_us,
                    .since = remembered_since(tx), .id = &key, .last_used_at = tx->now_us - tx->now_us % MINUTE_US,
                    .expires_at = tx->now_us + KEY_SESSION_TTL_S * US_PER_S),
                &renewed);
    if (e)
        return e;
    return renewed ? ERR_NONE : ERR_NOT_FOUND;
}

enum err browser_list(struct tx *tx, const struct id *account, const struct id *member,
                      const struct browser_entry **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(
        tx->db,
        SQL(browser_list, .account_id = account, .member_id = member, .now = tx->now_us, .since = remembered_since(tx)),
        &c);
    if (e)
        return e;
    struct browser_entry *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        const struct row_browser_list row = row_browser_list(&c, tx->arena);
        list[count++] = (struct browser_entry){
            .id = row.id,
            .key_id = row.key_id,
            .program = row.program,
            .system = row.system,
            .remembered = row.remembered,
            .created_at_us = row.created_at,
            .last_used_us = row.last_used_at,
        };
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

enum err browser_end(struct tx *tx, const struct id *account, const struct id *member, const struct id *browser)
{
    int64_t ended;
    db_notify(tx->db, TOPIC_KEYS);
    enum err e = db_exec(
        tx->db, SQL(browser_end, .account_id = account, .member_id = member, .id = browser, .revoked_at = tx->now_us),
        &ended);
    if (e)
        return e;
    return ended ? ERR_NONE : ERR_NOT_FOUND;
}

enum err browser_end_all(struct tx *tx, const struct id *account, const struct id *member)
{
    db_notify(tx->db, TOPIC_KEYS);
    return db_exec(tx->db, SQL(browser_end_all, .account_id = account, .member_id = member, .revoked_at = tx->now_us),
                   NULL);
}
