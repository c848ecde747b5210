#include "domain/building_webhook.h"

#include "domain/delivery_log.h"
#include "domain/event.h"
#include "domain/master.h"
#include "domain/webhook.h"

/* ---- creation ---- */

static struct building_webhook building_webhook_read(const struct row_building_webhook *r)
{
    return (struct building_webhook){
        .id = r->id,
        .building_id = r->building_id,
        .created_us = r->created_at,
        .url = r->url,
        .events = (uint32_t)r->events,
        .description = r->description,
        .active = r->active,
    };
}

enum err building_webhook_replay(struct tx *tx, const struct building_webhook_request *request,
                                 struct building_webhook *ret, struct str *ret_secret)
{
    if (!request->key.p)
        return ERR_NOT_FOUND;
    CURSOR c;
    struct str secret;
    enum err e = db_one(
        tx->db, SQL(building_webhook_by_request, .building_id = request->building, .request_id = request->key), &c);
    if (e)
        return e;
    const struct row_building_webhook_by_request row = row_building_webhook_by_request(&c, tx->arena);
    if (!str_eq(row.request_hash, str_n((const char *)request->hash, SHA256_LEN)))
        return ERR_IDEMPOTENCY_CONFLICT;
    if (!crypto_open(WEBHOOK_PURPOSE, row.secret, tx->arena, &secret))
        return ERR_SECRET_DECRYPT_FAILED;
    *ret = building_webhook_read(&row.building_webhook);
    *ret_secret = secret;
    return ERR_NONE;
}

static enum err check_count(struct tx *tx, const struct id *building)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_webhook_count, .building_id = building), &c);
    if (e)
        return e;
    const struct row_building_webhook_count row = row_building_webhook_count(&c, NULL);
    return row.webhooks < BUILDING_WEBHOOK_MAX ? ERR_NONE : ERR_MAX_WEBHOOKS_EXCEEDED;
}

static struct str make_hex_secret(struct arena *a)
{
    unsigned char random[BUILDING_WEBHOOK_SECRET_LEN / 2];
    char *text = arena_alloc(a, BUILDING_WEBHOOK_SECRET_LEN + 1);
    crypto_random(random, sizeof random);
    hex_encode(random, sizeof random, text);
    crypto_wipe(random, sizeof random);
    return str_n(text, BUILDING_WEBHOOK_SECRET_LEN);
}

static enum err building_webhook_insert(struct tx *tx, const struct building_webhook_request *request,
                                        const struct building_webhook *w, struct str secret)
{
    int64_t changed;
    struct str sealed;
    enum err e = master_seal(tx, WEBHOOK_PURPOSE, secret, &sealed);
    if (e)
        return e;
    e = db_exec(tx->db,
                SQL(building_webhook_insert, .account_id = request->account, .building_id = request->building,
                    .id = &w->id, .created_at = w->created_us, .url = w->url, .events = w->events,
                    .description = w->description, .secret = sealed, .request_id = request->key,
                    .request_hash = request->key.p ? str_bytes(request->hash, SHA256_LEN) : STR_NONE),
                &changed);
    return e || changed ? e : ERR_RETRY; /* another request inserted the key: a lost race */
}

enum err building_webhook_create(struct tx *tx, const struct building_webhook_request *request,
                                 const struct building_webhook *wanted, struct building_webhook *ret,
                                 struct str *ret_secret, bool *ret_replayed)
{
    enum err e = building_webhook_replay(tx, request, ret, ret_secret);
    if (!e)
        *ret_replayed = true;
    if (e != ERR_NOT_FOUND)
        return e;
    e = check_count(tx, request->building);
    if (e)
        return e;
    struct building_webhook w = *wanted;
    w.id = id_new(tx->now_us);
    w.building_id = *request->building;
    w.created_us = tx->now_us;
    w.active = true;
    const struct str secret = make_hex_secret(tx->arena);
    e = building_webhook_insert(tx, request, &w, secret);
    if (e)
        return e;
    *ret = w;
    *ret_secret = secret;
    *ret_replayed = false;
    return ERR_NONE;
}

/* ---- reading ---- */

enum err building_webhook_list(struct tx *tx, const struct id *building, const struct building_webhook **ret,
                               size_t *ret_count)
{
    CURSOR c;
    bool more;
    size_t n = 0;
    struct building_webhook *list = arena_array(tx->arena, struct building_webhook, BUILDING_WEBHOOK_MAX);
    enum err e = db_query(tx->db, SQL(building_webhook_list, .building_id = building), &c);
    if (e)
        return e;
    while (!(e = db_next(&c, &more)) && more && n < BUILDING_WEBHOOK_MAX) {
        const struct row_building_webhook row = row_building_webhook(&c, tx->arena);
        list[n++] = building_webhook_read(&row);
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = n;
    return ERR_NONE;
}

/* ---- changes ---- */

static enum err cancel_pending(struct tx *tx, const struct id *id)
{
    db_notify(tx->db, TOPIC_DELIVERIES);
    return db_exec(tx->db, SQL(building_webhook_cancel, .webhook_id = id), NULL);
}

enum err building_webhook_update(struct tx *tx, const struct id *building, const struct id *id,
                                 const struct building_webhook_change *change, struct building_webhook *ret)
{
    CURSOR c;
    const bool described = v_given(change->description);
    enum err e = db_one(tx->db,
                        SQL(building_webhook_update, .building_id = building, .id = id, .url = change->url,
                            .events = change->events ? v_int(change->events) : v_null(), .described = described,
                            .description = described && v_set(change->description) ? change->description.s : STR_NONE,
                            .active = v_given(change->active) ? v_bool(change->active.b) : v_null()),
                        &c);
    if (e)
        return e;
    const struct row_building_webhook row = row_building_webhook(&c, tx->arena);
    *ret = building_webhook_read(&row);
    db_end(&c);
    return ret->active ? ERR_NONE : cancel_pending(tx, id);
}

enum err building_webhook_delete(struct tx *tx, const struct id *building, const struct id *id)
{
    int64_t changed;
    enum err e = db_exec(
        tx->db, SQL(building_webhook_delete, .building_id = building, .id = id, .deleted_at = tx->now_us), &changed);
    return e || !changed ? e : cancel_pending(tx, id);
}

enum err building_webhook_end_all(struct tx *tx, const struct id *account)
{
    enum err e = db_exec(tx->db, SQL(building_webhook_end_all, .account_id = account, .deleted_at = tx->now_us), NULL);
    return e ? e : db_exec(tx->db, SQL(building_webhook_cancel_all, .account_id = account), NULL);
}

/* ---- tests ---- */

enum err building_webhook_test(struct tx *tx, const struct id *account, const struct id *building, const struct id *id,
                               struct id *ret_delivery)
{
    {
        CURSOR c;
        enum err e = db_one(tx->db, SQL(building_webhook_exists, .building_id = building, .id = id), &c);
        if (e)
            return e;
    }
    return event_write_earlier_test(tx, account, building, id, ret_delivery);
}

enum err building_webhook_outcome(struct tx *tx, const struct id *id, const struct id *delivery,
                                  struct building_webhook_outcome *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_webhook_outcome, .webhook_id = id, .id = delivery), &c);
    if (e)
        return e;
    const struct row_building_webhook_outcome row = row_building_webhook_outcome(&c, tx->arena);
    const int status = str_index(row.status, delivery_status_names);
    *ret = (struct building_webhook_outcome){
        .ended = status != DELIVERY_PENDING,
        .delivered = status == DELIVERY_DELIVERED,
        .status_code = v_int_or(row.status_code, 0),
        .took_ms = v_int_or(row.took_ms, 0),
        .failure = row.failure,
    };
    return ERR_NONE;
}

/* ---- results ---- */

enum err building_webhook_ended(struct tx *tx, const struct id *id, bool delivered, bool *ret_disabled)
{
    *ret_disabled = false;
    if (delivered)
        return db_exec(tx->db, SQL(building_webhook_success, .id = id), NULL);
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_webhook_failure, .id = id, .most = BUILDING_WEBHOOK_FAILURES), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    const struct row_building_webhook_failure row = row_building_webhook_failure(&c, NULL);
    *ret_disabled = row.failures == BUILDING_WEBHOOK_FAILURES;
    db_end(&c);
    return row.active ? ERR_NONE : cancel_pending(tx, id);
}
