#include "domain/push.h"

#include "base/crypto.h"
#include "base/json.h"
#include "domain/browser.h"
#include "domain/list.h"
#include "domain/master.h"
#include "domain/quiet.h"

#define LEASED_LOOK_US (2 * US_PER_S) /* the node that sends a message may have died */
#define KEY_NAME       STR("vapid")
#define PAYLOAD_MAX    3072 /* bytes of UTF-8; a push service takes WEBPUSH_PLAIN_MAX */
#define BUSY_MAX       65536

_Static_assert(PAYLOAD_MAX <= WEBPUSH_PLAIN_MAX, "a payload fits into a message");

/* Browsers used since then are signed in if they are remembered. */
static int64_t push_since(const struct tx *tx)
{
    return tx->now_us - KEY_REMEMBERED_S * US_PER_S;
}

static struct str push_browser_hash(const struct push_browser *b)
{
    return str_bytes(b->hash, sizeof b->hash);
}

static struct push_browser browser_of(struct str hash)
{
    struct push_browser b = {{0}};
    if (hash.n == sizeof b.hash)
        memcpy(b.hash, hash.p, sizeof b.hash);
    return b;
}

/* ---- the service's key ---- */

enum err push_key_claim(struct tx *tx)
{
    struct webpush_key key;
    struct str sealed;
    {
        CURSOR c;
        enum err e = db_one(tx->db, SQL(push_key_get, .id = KEY_NAME), &c);
        if (e != ERR_NOT_FOUND)
            return e;
    }
    webpush_key_new(&key);
    enum err e = master_seal(tx, PUSH_PURPOSE, str_n((const char *)key.secret, sizeof key.secret), &sealed);
    if (!e)
        e = db_exec(
            tx->db,
            SQL(push_key_claim, .id = KEY_NAME, .point = str_bytes(key.point, sizeof key.point), .secret = sealed),
            NULL);
    crypto_wipe(&key, sizeof key);
    return e;
}

enum err push_key_get(struct tx *tx, struct webpush_key *ret)
{
    CURSOR c;
    struct str secret;
    enum err e = db_one(tx->db, SQL(push_key_get, .id = KEY_NAME), &c);
    if (e)
        return e;
    const struct row_push_key_get row = row_push_key_get(&c, NULL);
    if (!crypto_open(PUSH_PURPOSE, row.secret, tx->arena, &secret))
        return ERR_SECRET_DECRYPT_FAILED;
    const bool valid = secret.n == WEBPUSH_KEY_LEN && webpush_key_from((const unsigned char *)secret.p, ret);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a copy in the arena */
    crypto_wipe((void *)(uintptr_t)secret.p, secret.n);
    return valid ? ERR_NONE : ERR_SECRET_DECRYPT_FAILED;
}

enum err push_key_point(struct tx *tx, struct str *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(push_key_get, .id = KEY_NAME), &c);
    if (!e)
        *ret = base64url_encode(tx->arena, row_push_key_get(&c, NULL).point);
    return e;
}

/* ---- subscriptions ---- */

enum err push_browser_of(struct tx *tx, const struct id *account, const struct id *key, struct push_browser *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(push_browser, .account_id = account, .id = key), &c);
    if (!e)
        *ret = browser_of(row_push_browser(&c, NULL).hash);
    return e;
}

enum err push_subscribe(struct tx *tx, const struct push_request *r)
{
    const struct str hash = push_browser_hash(&r->browser);
    const struct str p256dh = str_bytes(r->keys.p256dh, sizeof r->keys.p256dh);
    const struct str auth = str_bytes(r->keys.auth, sizeof r->keys.auth);
    enum err e = db_exec(tx->db,
                         SQL(push_put, .building_id = &r->building_id, .hash = hash, .account_id = &r->account_id,
                             .member_id = &r->member_id, .notices = r->notices, .language = r->language,
                             .endpoint = r->endpoint, .p256dh = p256dh, .auth = auth, .created_at = tx->now_us),
                         NULL);
    return e ? e
             : db_exec(tx->db,
                       SQL(push_refresh, .hash = hash, .language = r->language, .endpoint = r->endpoint,
                           .p256dh = p256dh, .auth = auth),
                       NULL);
}

enum err push_unsubscribe(struct tx *tx, const struct id *building, const struct push_browser *browser)
{
    return db_exec(tx->db, SQL(push_delete, .building_id = building, .hash = push_browser_hash(browser)), NULL);
}

enum err push_end_member(struct tx *tx, const struct id *building, const struct id *member)
{
    return db_exec(tx->db, SQL(push_end_member, .building_id = building, .member_id = member), NULL);
}

enum err push_list(struct tx *tx, const struct id *building, const struct id *member, const struct push_entry **ret,
                   size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(
        tx->db,
        SQL(push_list, .building_id = building, .member_id = member, .now = tx->now_us, .since = push_since(tx)), &c);
    if (e)
        return e;
    struct push_entry *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        const struct row_push_list row = row_push_list(&c, tx->arena);
        list[count++] = (struct push_entry){
            .browser_id = row.id,
            .program = row.program,
            .system = row.system,
            .browser = browser_of(row.hash),
            .notices = (unsigned)row.notices,
            .created_us = row.created_at,
            .refused_at = row.refused_at,
            .refused_with = row.refused_with,
        };
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

/* ---- messages ---- */

/* The form of declarative Web Push (W3C Push API, section 3.3), which the website's worker reads too: a browser may
 * show the notification without a worker. */
static enum err write_payload(struct tx *tx, enum notice notice, struct str language, struct str building,
                              const struct notice_moment *m, struct str *ret)
{
    const struct notice_text text = notice_text(notice, language, m, building, tx->arena);
    struct buf b = BUF(PAYLOAD_MAX);
    buf_lit(&b, "{\"web_push\":8030,\"notification\":{\"title\":");
    json_put_str(&b, text.title);
    buf_lit(&b, ",\"body\":");
    json_put_str(&b, text.body);
    buf_lit(&b, ",\"lang\":");
    json_put_str(&b, language);
    buf_printf(&b, ",\"tag\":\"%s-%s\",\"timestamp\":%lld,\"navigate\":", notice_kinds[notice].tag, m->building_id.text,
               (long long)(m->at_us / 1000));
    json_put_str(&b, arena_printf(tx->arena, "%s/?building=%s", tx->config->top_public_url, m->building_id.text));
    buf_printf(&b, "},\"notice\":\"%s\",\"building_id\":\"%s\"}", notice_kinds[notice].name, m->building_id.text);
    *ret = arena_str(tx->arena, buf_view(&b));
    const bool full = b.full;
    buf_done(&b);
    return full ? ERR_INTERNAL_ERROR : ERR_NONE;
}

struct target {
    struct push_browser browser;
    unsigned notices;
    struct str language;
};

static enum err put_message(struct tx *tx, const struct id *account, const struct target *to, enum notice notice,
                            struct str building, const struct notice_moment *m)
{
    struct str payload;
    enum err e = write_payload(tx, notice, to->language, building, m, &payload);
    if (e)
        return e;
    db_notify(tx->db, TOPIC_NOTICES);
    return db_exec(tx->db,
                   SQL(push_message_put, .building_id = &m->building_id, .hash = push_browser_hash(&to->browser),
                       .notice = notice, .account_id = account, .at = m->at_us, .payload = payload,
                       .due_at = tx->now_us),
                   NULL);
}

/* The notices of a moment that a browser gets: bits. */
static unsigned notices_for(const struct row_push_targets *row, const struct notice_moment *m)
{
    const bool quiet = m->quiet && quiet_is(row->quiet_from, row->quiet_to, row->timezone, m->at_us);
    return (unsigned)row->notices & notice_of_role((enum member_role)row->role) & (quiet ? ~NOTICE_BIT(RING) : ~0U);
}

/* The browsers that are told of a moment, in the arena. */
static enum err list_targets(struct tx *tx, const struct notice_moment *m, struct target **ret, size_t *ret_count)
{
    CURSOR c;
    struct target *list = NULL;
    size_t count = 0, room = 0;
    enum err e = db_query(tx->db,
                          SQL(push_targets, .building_id = &m->building_id, .now = tx->now_us, .since = push_since(tx),
                              .notice = m->notices),
                          &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        const struct row_push_targets row = row_push_targets(&c, tx->arena);
        const unsigned wanted = notices_for(&row, m);
        list[count] = (struct target){browser_of(row.hash), wanted, row.language};
        count += (wanted & m->notices) != 0;
    }
    *ret = list;
    *ret_count = count;
    return e;
}

enum err push_count(struct tx *tx, const struct notice_moment *m, size_t *ret)
{
    struct target *targets = NULL;
    return list_targets(tx, m, &targets, ret);
}

enum err push_spread(struct tx *tx, const struct id *account, struct str building, const struct notice_moment *m)
{
    struct target *targets = NULL;
    size_t count = 0;
    enum err e = list_targets(tx, m, &targets, &count);
    for (size_t i = 0; !e && i < count; i++) {
        const enum notice notice = notice_choose(m->notices, targets[i].notices);
        if (tx->now_us < m->at_us + notice_kinds[notice].ttl_s * US_PER_S)
            e = put_message(tx, account, &targets[i], notice, building, m);
    }
    return e;
}

static enum err label_of(struct tx *tx, const struct id *building, struct str *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(notice_place, .id = building), &c);
    if (!e)
        *ret = row_notice_place(&c, tx->arena).label;
    return e;
}

enum err push_test(struct tx *tx, const struct id *account, const struct id *building,
                   const struct push_browser *browser)
{
    const struct notice_moment m = {.building_id = *building, .notices = NOTICE_BIT(TEST), .at_us = tx->now_us};
    struct target *targets = NULL;
    size_t count = 0;
    struct str label;
    enum err e = label_of(tx, building, &label);
    if (!e)
        e = list_targets(tx, &(struct notice_moment){.building_id = *building, .notices = NOTICES_ALL}, &targets,
                         &count);
    for (size_t i = 0; !e && i < count; i++)
        if (memcmp(&targets[i].browser, browser, sizeof *browser) == 0)
            return put_message(tx, account, &targets[i], NOTICE_TEST, label, &m);
    return e ? e : ERR_NOT_FOUND;
}

/* ---- sending ---- */

static enum err list_busy(const struct id *busy, size_t count, struct arena *a, struct str *ret)
{
    struct buf b = BUF(BUSY_MAX);
    buf_char(&b, '[');
    for (size_t i = 0; i < count; i++)
        buf_printf(&b, "%s\"%s\"", i ? "," : "", busy[i].text);
    buf_char(&b, ']');
    *ret = arena_str(a, buf_view(&b));
    const bool full = b.full;
    buf_done(&b);
    return full ? ERR_INTERNAL_ERROR : ERR_NONE;
}

/* Sets endpoint and keys. */
static enum err push_address(struct tx *tx, struct push_message *m)
{
    CURSOR c;
    enum err e = db_one(tx->db,
                        SQL(push_target, .building_id = &m->building_id, .hash = push_browser_hash(&m->browser),
                            .now = tx->now_us, .since = push_since(tx)),
                        &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    const struct row_push_target row = row_push_target(&c, tx->arena);
    const struct str p256dh = row.p256dh, auth = row.auth;
    if (p256dh.n != sizeof m->keys.p256dh || auth.n != sizeof m->keys.auth)
        return ERR_INTERNAL_ERROR;
    memcpy(m->keys.p256dh, p256dh.p, p256dh.n);
    memcpy(m->keys.auth, auth.p, auth.n);
    m->endpoint = row.endpoint;
    return ERR_NONE;
}

static enum err take_due(struct tx *tx, struct str busy, struct push_message *ret, size_t *ret_count)
{
    CURSOR c;
    size_t n = 0;
    enum err e = db_query(tx->db, SQL(push_message_take, .now = tx->now_us, .limit = PUSH_TAKE_MAX, .busy = busy), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more && n < PUSH_TAKE_MAX;) {
        const struct row_push_message_take row = row_push_message_take(&c, tx->arena);
        ret[n++] = (struct push_message){
            .building_id = row.building_id,
            .account_id = row.account_id,
            .browser = browser_of(row.hash),
            .notice = (enum notice)row.notice,
            .at_us = row.at,
            .attempt = row.attempts,
            .payload = row.payload,
        };
    }
    *ret_count = n;
    return e;
}

enum err push_take(struct tx *tx, const struct id *busy, size_t busy_count, struct push_message *ret, size_t *ret_count)
{
    struct str list;
    size_t count = 0;
    enum err e = list_busy(busy, busy_count, tx->arena, &list);
    if (!e)
        e = take_due(tx, list, ret, &count);
    for (size_t i = 0; !e && i < count; i++)
        e = push_address(tx, &ret[i]);
    if (!e)
        *ret_count = count;
    return e;
}

enum err push_next(struct tx *tx, int64_t *ret_us)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(push_next), &c);
    if (e)
        return e;
    const struct row_push_next row = row_push_next(&c, NULL);
    const int64_t look_us = row.leased ? tx->now_us + LEASED_LOOK_US : INT64_MAX;
    const int64_t due_us = row.recorded ? 0 : v_int_or(row.due_at, INT64_MAX);
    *ret_us = due_us < look_us ? due_us : look_us;
    return ERR_NONE;
}

/* Notes in the subscription whether its push service took the message. */
static enum err note_refusal(struct tx *tx, const struct push_message *m, enum push_end end, int64_t status)
{
    const bool refused = end == PUSH_DROPPED;
    if (!refused && end != PUSH_DELIVERED)
        return ERR_NONE;
    return db_exec(tx->db,
                   SQL(push_refused, .building_id = &m->building_id, .hash = push_browser_hash(&m->browser),
                       .endpoint = m->endpoint, .refused_at = refused ? v_time(tx->now_us) : v_null(),
                       .refused_with = refused ? v_int(status) : v_null()),
                   NULL);
}

enum err push_record(struct tx *tx, const struct push_message *m, enum push_end end, int64_t status, int64_t due_us)
{
    const struct id *building = &m->building_id;
    const struct str hash = push_browser_hash(&m->browser);
    enum err e = ERR_NONE;
    if (end == PUSH_GONE)
        e = db_exec(tx->db, SQL(push_gone, .hash = hash, .endpoint = m->endpoint), NULL);
    if (!e)
        e = note_refusal(tx, m, end, status);
    if (!e && end != PUSH_LATER)
        e = db_exec(tx->db,
                    SQL(push_message_done, .building_id = building, .hash = hash, .notice = m->notice, .at = m->at_us),
                    NULL);
    return e ? e
             : db_exec(tx->db,
                       SQL(push_message_later, .building_id = building, .hash = hash, .notice = m->notice,
                           .at = m->at_us, .due_at = due_us),
                       NULL);
}
