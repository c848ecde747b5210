#include "domain/event.h"

#include "domain/building_webhook.h"
#include "domain/grant.h"
#include "domain/webhook.h"

#define DATA_MAX 8192 /* of the data as JSON; two labels are most of it */

const char *const earlier_event_names[] = {
#define V(symbol, text) [EARLIER_##symbol] = text,
#include "tbl/earlier_events.def"
#undef V
    NULL,
};

static int index_of(struct str text, const char *const *names, unsigned count)
{
    const int i = str_index(text, names);
    return i < (int)count ? i : -1;
}

enum err event_bits(struct tx *tx, struct val texts, const char *const *names, unsigned count, enum err error,
                    uint32_t *ret)
{
    uint32_t bits = 0;
    const struct val *list = texts.ptr;
    if (texts.count == 0)
        return tx_fail(tx, error, "events must have at least one item");
    for (uint32_t i = 0; i < texts.count; i++) {
        const int type = index_of(list[i].s, names, count);
        if (type < 0)
            return tx_fail(tx, error, "events has an unknown type");
        if (bits & 1U << type) {
            tx->why = arena_printf(tx->arena, "events: %.*s is listed twice", STR_ARG(list[i].s));
            return error;
        }
        bits |= 1U << type;
    }
    *ret = bits;
    return ERR_NONE;
}

/* ---- data ---- */

#define EARLIER_MOMENT FIELD(struct event_data, occurred_at, T_TIME, .flags = F_REQUIRED)
#define EARLIER_GRANT                                                                                                  \
    FIELD(struct event_data, unlock_id, T_ID, .flags = F_REQUIRED),                                                    \
        FIELD_NAMED(struct event_data, unlock_number, "unlock_type", T_INT, .flags = F_REQUIRED),                      \
        FIELD(struct event_data, label, T_STRING, .flags = F_REQUIRED)
static const struct field completed_fields[] = {
    EARLIER_GRANT,
    FIELD(struct event_data, remaining_uses, T_NUMBER, .flags = F_REQUIRED | F_NULLABLE),
    EARLIER_MOMENT,
};
static const struct field revoked_fields[] = {EARLIER_GRANT, EARLIER_MOMENT};
static const struct field denied_fields[] = {EARLIER_MOMENT};

/* The events that are sent. The building is in the envelope. */
static const struct shape earlier_data_shapes[EARLIER_EVENT_COUNT] = {
    [EARLIER_UNLOCK_COMPLETED] = SHAPE(struct event_data, "EarlierUnlockCompleted", completed_fields),
    [EARLIER_UNLOCK_REVOKED] = SHAPE(struct event_data, "EarlierUnlockRevoked", revoked_fields),
    [EARLIER_ACCESS_DENIED] = SHAPE(struct event_data, "EarlierAccessDenied", denied_fields),
    [EARLIER_WEBHOOK_TEST] = {.name = "EarlierWebhookTest", .size = sizeof(struct event_data)},
};

/* The type of the earlier revision that stands for each. */
static const enum earlier_event earlier_of[EVENT_TYPE_COUNT] = {
    [EVENT_ACCESS_GRANTED] = EARLIER_UNLOCK_COMPLETED,
    [EVENT_ACCESS_CALL_FORWARDED] = EARLIER_NONE,
    [EVENT_ACCESS_DENIED] = EARLIER_ACCESS_DENIED,
    [EVENT_UNLOCK_NO_USES_REMAINING] = EARLIER_NONE,
    [EVENT_WEBHOOK_TEST] = EARLIER_NONE,
};

/* ---- writing ---- */

/* An event of either revision. */
struct written {
    const char *type;
    const struct shape *shape;
    const struct event_data *data;
    const struct id *account, *building; /* building: NULL without one */
};

static enum err event_insert(struct tx *tx, const struct written *w, struct event_id *ret)
{
    struct event_id id = {"evt_"};
    memcpy(id.text + 4, id_new(tx->now_us).text, ID_LEN + 1);
    struct buf json = BUF(DATA_MAX);
    schema_write(w->shape, w->data, &json);
    enum err e = ERR_INTERNAL_ERROR;
    if (!json.full)
        e = db_exec(tx->db,
                    SQL(event_insert, .account_id = w->account, .id = str_z(id.text), .building_id = w->building,
                        .type = str_z(w->type), .created_at = tx->now_us, .data = buf_view(&json), .trace = tx->trace),
                    NULL);
    buf_done(&json);
    if (!e)
        *ret = id;
    return e;
}

struct listener {
    struct id webhook_id;
    bool earlier;   /* an endpoint of the building */
    bool known_due; /* its lane is due: the engine reads it in any case */
};

#define LISTENERS_MAX (WEBHOOK_MAX + BUILDING_WEBHOOK_MAX)

static struct listener listener_read(const struct cursor *c, int64_t now_us)
{
    const struct row_event_listeners row = row_event_listeners(c, NULL);
    return (struct listener){
        .webhook_id = row.id,
        .earlier = row.earlier,
        .known_due = v_set(row.due_at) && row.due_at.i <= now_us,
    };
}

/* The endpoints of the account and of the building that listen to a type of `events` and of `earlier`, bits. */
static enum err find_listeners(struct tx *tx, const struct id *account, uint32_t events, const struct id *building,
                               uint32_t earlier, struct listener ret[static LISTENERS_MAX], size_t *ret_count)
{
    CURSOR c;
    size_t n = 0;
    bool more;
    enum err e = db_query(tx->db,
                          SQL(event_listeners, .account_id = account, .events = events, .building_id = building,
                              .earlier_events = earlier),
                          &c);
    if (e)
        return e;
    while (!(e = db_next(&c, &more)) && more && n < LISTENERS_MAX)
        ret[n++] = listener_read(&c, tx->now_us);
    if (!e)
        *ret_count = n;
    return e;
}

static enum err event_deliver_to(struct tx *tx, const struct id *account, const struct listener *listener,
                                 struct str event, struct id *ret_delivery)
{
    const struct id id = id_new(tx->now_us);
    const enum sql lower = listener->earlier ? SQL_BUILDING_WEBHOOK_LOWER : SQL_DELIVERY_LANE_LOWER;
    db_notify(tx->db, TOPIC_DELIVERIES);
    enum err e = db_exec(tx->db,
                         SQL(event_deliver, .webhook_id = &listener->webhook_id, .id = &id, .account_id = account,
                             .event_id = event, .created_at = tx->now_us),
                         NULL);
    if (!e && !listener->known_due)
        e = db_exec(tx->db,
                    SQL_AS(lower, delivery_lane_lower, .webhook_id = &listener->webhook_id, .due_at = tx->now_us),
                    NULL);
    if (!e)
        *ret_delivery = id;
    return e;
}

/* Writes the event for the listeners of its revision, if there are any. */
static enum err write_for(struct tx *tx, const struct written *w, bool earlier, const struct listener *list,
                          size_t count, struct event_id *ret_id)
{
    struct event_id id = {""};
    struct id delivery;
    enum err e = ERR_NONE;
    for (size_t i = 0; !e && i < count; i++) {
        if (list[i].earlier != earlier)
            continue;
        if (!*id.text)
            e = event_insert(tx, w, &id);
        if (!e)
            e = event_deliver_to(tx, w->account, &list[i], str_z(id.text), &delivery);
    }
    if (!e && ret_id)
        *ret_id = id;
    return e;
}

static enum err write_earlier_for(struct tx *tx, enum earlier_event type, struct written w, const struct listener *list,
                                  size_t count)
{
    if (type == EARLIER_NONE)
        return ERR_NONE;
    struct event_data data = *w.data;
    if (v_given(data.unlock_type))
        data.unlock_number = v_int(1 + str_index(data.unlock_type.s, grant_type_names));
    w.type = earlier_event_names[type];
    w.shape = &earlier_data_shapes[type];
    w.data = &data;
    return write_for(tx, &w, true, list, count, NULL);
}

static uint32_t bit_of(enum earlier_event type)
{
    return type == EARLIER_NONE ? 0 : 1U << type;
}

enum err event_write(struct tx *tx, enum event_type type, const struct id *account, const struct id *building,
                     const struct event_data *data, struct event_id *ret_id)
{
    const struct written w = {event_type_names[type], &event_data_shapes[type], data, account, building};
    struct listener list[LISTENERS_MAX];
    size_t count = 0;
    enum err e = find_listeners(tx, account, 1U << type, building, bit_of(earlier_of[type]), list, &count);
    if (!e)
        e = write_for(tx, &w, false, list, count, ret_id);
    return e ? e : write_earlier_for(tx, earlier_of[type], w, list, count);
}

enum err event_write_earlier(struct tx *tx, enum earlier_event type, const struct id *account,
                             const struct id *building, const struct event_data *data)
{
    struct listener list[LISTENERS_MAX];
    size_t count = 0;
    enum err e = find_listeners(tx, account, 0, building, bit_of(type), list, &count);
    return e ? e : write_earlier_for(tx, type, (struct written){NULL, NULL, data, account, building}, list, count);
}

enum err event_write_to(struct tx *tx, enum event_type type, const struct id *account, const struct id *webhook,
                        const struct event_data *data, struct id *ret_delivery)
{
    const struct written w = {event_type_names[type], &event_data_shapes[type], data, account, NULL};
    struct event_id id;
    enum err e = event_insert(tx, &w, &id);
    return e ? e : event_deliver(tx, account, webhook, str_z(id.text), ret_delivery);
}

enum err event_write_earlier_test(struct tx *tx, const struct id *account, const struct id *building,
                                  const struct id *webhook, struct id *ret_delivery)
{
    const struct event_data data = {0};
    const struct written w = {earlier_event_names[EARLIER_WEBHOOK_TEST], &earlier_data_shapes[EARLIER_WEBHOOK_TEST],
                              &data, account, building};
    const struct listener listener = {.webhook_id = *webhook, .earlier = true};
    struct event_id id;
    enum err e = event_insert(tx, &w, &id);
    return e ? e : event_deliver_to(tx, account, &listener, str_z(id.text), ret_delivery);
}

enum err event_deliver(struct tx *tx, const struct id *account, const struct id *webhook, struct str event,
                       struct id *ret_delivery)
{
    return event_deliver_to(tx, account, &(struct listener){.webhook_id = *webhook}, event, ret_delivery);
}

enum err event_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL(event_purge, .before = before_us, .limit = limit), ret_count);
}
