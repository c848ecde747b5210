#include "domain/webhook.h"

#include "domain/event.h"
#include "domain/master.h"

#define SECRET_PREFIX "whsec_"
#define SECRET_RANDOM 43 /* base62: 256 bits */

#define ALL_EVENTS ((1U << EVENT_TYPE_COUNT) - 1)

enum err webhook_events(struct tx *tx, struct val texts, uint32_t *ret)
{
    if (v_given(texts))
        return event_bits(tx, texts, event_type_names, EVENT_TYPE_COUNT, ERR_INVALID_WEBHOOK_EVENTS, ret);
    *ret = ALL_EVENTS;
    return ERR_NONE;
}

/* ---- creation ---- */

static struct webhook webhook_read(const struct row_webhook *r)
{
    return (struct webhook){
        .id = r->id,
        .created_us = r->created_at,
        .url = r->url,
        .events = (uint32_t)r->events,
        .active = r->active,
    };
}

static bool is_hash(struct str stored, const unsigned char *hash)
{
    return stored.n == SHA256_LEN && memcmp(stored.p, hash, SHA256_LEN) == 0;
}

enum err webhook_replay(struct tx *tx, const struct webhook_request *request, struct webhook *ret,
                        struct str *ret_secret)
{
    if (!request->key.p)
        return ERR_NOT_FOUND;
    CURSOR c;
    struct str secret;
    enum err e =
        db_one(tx->db, SQL(webhook_by_request, .account_id = request->account, .request_id = request->key), &c);
    if (e)
        return e;
    const struct row_webhook_by_request row = row_webhook_by_request(&c, tx->arena);
    *ret = webhook_read(&row.webhook);
    if (!is_hash(row.request_hash, request->hash))
        return ERR_IDEMPOTENCY_CONFLICT;
    if (!crypto_open(WEBHOOK_PURPOSE, row.secret, tx->arena, &secret))
        return ERR_SECRET_DECRYPT_FAILED;
    *ret_secret = secret;
    return ERR_NONE;
}

static enum err webhook_check_limit(struct tx *tx, const struct id *account)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(webhook_count, .account_id = account), &c);
    if (e)
        return e;
    const struct row_webhook_count row = row_webhook_count(&c, NULL);
    return row.webhooks < WEBHOOK_MAX ? ERR_NONE : ERR_WEBHOOK_LIMIT;
}

static struct str make_secret(struct arena *a)
{
    char *text = arena_alloc(a, WEBHOOK_SECRET_LEN + 1);
    memcpy(text, SECRET_PREFIX, sizeof SECRET_PREFIX - 1);
    crypto_base62(text + sizeof SECRET_PREFIX - 1, SECRET_RANDOM);
    return str_n(text, WEBHOOK_SECRET_LEN);
}

static enum err webhook_insert(struct tx *tx, const struct webhook_request *request, const struct webhook *w,
                               struct str secret)
{
    int64_t changed;
    struct str sealed;
    enum err e = master_seal(tx, WEBHOOK_PURPOSE, secret, &sealed);
    if (e)
        return e;
    e = db_exec(tx->db,
                SQL(webhook_insert, .account_id = request->account, .id = &w->id, .created_at = w->created_us,
                    .url = w->url, .events = w->events, .secret = sealed, .request_id = request->key,
                    .request_hash = request->key.p ? str_bytes(request->hash, SHA256_LEN) : STR_NONE),
                &changed);
    return e || changed ? e : ERR_RETRY; /* another request inserted the key: a lost race */
}

enum err webhook_create(struct tx *tx, const struct webhook_request *request, struct str url, uint32_t events,
                        struct webhook *ret, struct str *ret_secret, bool *ret_replayed)
{
    enum err e = webhook_replay(tx, request, ret, ret_secret);
    if (!e)
        *ret_replayed = true;
    if (e != ERR_NOT_FOUND)
        return e;
    e = webhook_check_limit(tx, request->account);
    if (e)
        return e;
    const struct webhook w = {
        .id = id_new(tx->now_us), .created_us = tx->now_us, .url = url, .events = events, .active = true};
    const struct str secret = make_secret(tx->arena);
    e = webhook_insert(tx, request, &w, secret);
    if (e)
        return e;
    *ret = w;
    *ret_secret = secret;
    *ret_replayed = false;
    return ERR_NONE;
}

/* ---- reading ---- */

enum err webhook_list(struct tx *tx, const struct id *account, const struct webhook **ret, size_t *ret_count)
{
    CURSOR c;
    bool more;
    size_t n = 0;
    struct webhook *list = arena_array(tx->arena, struct webhook, WEBHOOK_MAX);
    enum err e = db_query(tx->db, SQL(webhook_list, .account_id = account), &c);
    if (e)
        return e;
    while (!(e = db_next(&c, &more)) && more && n < WEBHOOK_MAX) {
        const struct row_webhook row = row_webhook(&c, tx->arena);
        list[n++] = webhook_read(&row);
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = n;
    return ERR_NONE;
}

/* ---- changes ---- */

static enum err cancel_deliveries(struct tx *tx, const struct id *account, const struct id *id)
{
    db_notify(tx->db, TOPIC_DELIVERIES);
    return db_exec(tx->db, SQL(webhook_cancel, .account_id = account, .webhook_id = id), NULL);
}

enum err webhook_update(struct tx *tx, const struct id *account, const struct id *id,
                        const struct webhook_change *change, struct webhook *ret)
{
    CURSOR c;
    uint32_t events = 0;
    enum err e = v_given(change->events) ? webhook_events(tx, change->events, &events) : ERR_NONE;
    if (!e)
        e = db_one(tx->db,
                   SQL(webhook_update, .account_id = account, .id = id, .url = change->url,
                       .events = events ? v_int(events) : v_null(),
                       .active = v_given(change->active) ? v_bool(change->active.b) : v_null()),
                   &c);
    if (e)
        return e;
    const struct row_webhook row = row_webhook(&c, tx->arena);
    *ret = webhook_read(&row);
    return ret->active ? ERR_NONE : cancel_deliveries(tx, account, id);
}

static enum err rotation_find(struct tx *tx, const struct id *id, const struct webhook_rotation *r,
                              struct row_webhook_rotation *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(webhook_rotation, .account_id = r->request.account, .id = id), &c);
    if (e)
        return e;
    *ret = row_webhook_rotation(&c, tx->arena);
    return ERR_NONE;
}

static enum err rotation_reply(struct tx *tx, const struct row_webhook_rotation *row, struct webhook_rotation *r)
{
    const struct str key = row->rotation_id;
    if (!r->request.key.p || !key.p || !str_eq(key, r->request.key))
        return ERR_NOT_FOUND;
    if (!is_hash(row->rotation_hash, r->request.hash))
        return ERR_IDEMPOTENCY_CONFLICT;
    if (!crypto_open(WEBHOOK_PURPOSE, row->secret, tx->arena, &r->secret))
        return ERR_SECRET_DECRYPT_FAILED;
    r->webhook = webhook_read(&row->webhook);
    r->previous_until_us = row->previous_until;
    r->replayed = true;
    return ERR_NONE;
}

enum err webhook_rotation_replay(struct tx *tx, const struct id *id, struct webhook_rotation *r)
{
    struct row_webhook_rotation row;
    enum err e = rotation_find(tx, id, r, &row);
    return e ? e : rotation_reply(tx, &row, r);
}

static enum err rotation_write(struct tx *tx, const struct id *id, struct webhook_rotation *r)
{
    const struct webhook_request *request = &r->request;
    struct str sealed;
    r->secret = make_secret(tx->arena);
    r->previous_until_us = r->keep_us ? tx->now_us + r->keep_us : 0;
    r->replayed = false;
    enum err e = master_seal(tx, WEBHOOK_PURPOSE, r->secret, &sealed);
    if (e)
        return e;
    return db_exec(tx->db,
                   SQL(webhook_rotate, .account_id = request->account, .id = id, .secret = sealed,
                       .previous_until = r->keep_us ? v_time(r->previous_until_us) : v_null(),
                       .rotation_id = request->key,
                       .rotation_hash = request->key.p ? str_bytes(request->hash, SHA256_LEN) : STR_NONE),
                   NULL);
}

enum err webhook_rotate(struct tx *tx, const struct id *id, struct webhook_rotation *r)
{
    struct row_webhook_rotation row;
    enum err e = rotation_find(tx, id, r, &row);
    if (e)
        return e;
    e = rotation_reply(tx, &row, r);
    if (e != ERR_NOT_FOUND)
        return e;
    r->webhook = webhook_read(&row.webhook);
    if (r->keep_us && row.previous_until > tx->now_us)
        return ERR_WEBHOOK_ROTATION_PENDING;
    return rotation_write(tx, id, r);
}

enum err webhook_delete(struct tx *tx, const struct id *account, const struct id *id)
{
    int64_t changed;
    enum err e =
        db_exec(tx->db, SQL(webhook_delete, .account_id = account, .id = id, .deleted_at = tx->now_us), &changed);
    return e || !changed ? e : cancel_deliveries(tx, account, id);
}

enum err webhook_find(struct tx *tx, const struct id *account, const struct id *id, bool *ret_deleted)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(webhook_exists, .account_id = account, .id = id), &c);
    if (!e)
        *ret_deleted = v_set(row_webhook_exists(&c, NULL).deleted_at);
    return e;
}

enum err webhook_test(struct tx *tx, const struct id *account, const struct id *id, struct id *ret_delivery)
{
    bool deleted;
    enum err e = webhook_find(tx, account, id, &deleted);
    if (e)
        return e;
    if (deleted)
        return ERR_NOT_FOUND;
    return event_write_to(tx, EVENT_WEBHOOK_TEST, account, id, &(struct event_data){0}, ret_delivery);
}
