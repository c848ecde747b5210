#include "domain/event.h"

#include "domain/row.h"
#include "domain/webhook.h"

#define DATA_MAX 8192 /* of the data as JSON; two labels are most of it */

const char *const event_type_names[] = {
#define V(symbol, text) [EVENT_##symbol] = text,
#include "tbl/events.def"
#undef V
    NULL,
};

/* ---- data ---- */

#define PLACE                                                                                                          \
    FIELD(struct event_data, building_id, T_ID, .flags = F_REQUIRED, .doc = "the building"),                           \
        FIELD(struct event_data, building_label, T_STRING, .flags = F_REQUIRED, .doc = "its label at that time")
#define GRANT                                                                                                          \
    FIELD(struct event_data, unlock_id, T_ID, .flags = F_REQUIRED, .doc = "the grant that was used"),                  \
        FIELD(struct event_data, unlock_type, T_STRING, .flags = F_REQUIRED, .doc = "timer, passcode or routine"),     \
        FIELD(struct event_data, label, T_STRING, .flags = F_REQUIRED, .doc = "the grant's label at that time")
#define MOMENT FIELD(struct event_data, occurred_at, T_TIME, .flags = F_REQUIRED, .doc = "when it happened")

static const struct field granted_fields[] = {
    PLACE,
    GRANT,
    FIELD(struct event_data, remaining_uses, T_NUMBER, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "uses left after this one; null: unlimited"),
    MOMENT,
};
static const struct field place_fields[] = {PLACE, MOMENT};
static const struct field used_up_fields[] = {PLACE, GRANT, MOMENT};

const struct shape event_data_shapes[EVENT_TYPE_COUNT] = {
    [EVENT_ACCESS_GRANTED] = SHAPE(struct event_data, "AccessGranted", granted_fields, .doc = "a rule granted access"),
    [EVENT_ACCESS_CALL_FORWARDED] = SHAPE(struct event_data, "AccessCallForwarded", place_fields,
                                          .doc = "a buzz matched no rule and was forwarded to the resident's phone"),
    [EVENT_ACCESS_DENIED] =
        SHAPE(struct event_data, "AccessDenied", place_fields, .doc = "a wrong passcode was entered"),
    [EVENT_UNLOCK_NO_USES_REMAINING] = SHAPE(struct event_data, "UnlockNoUsesRemaining", used_up_fields,
                                             .doc = "a passcode or timer used its last use"),
    [EVENT_WEBHOOK_TEST] = {.name = "WebhookTest", .size = sizeof(struct event_data), .doc = "a test"},
};

/* ---- writing ---- */

static enum err event_insert(struct tx *tx, enum event_type type, const struct id *account, const struct id *building,
                             const struct event_data *data, struct event_id *ret)
{
    struct event_id id = {"evt_"};
    memcpy(id.text + 4, id_new(tx->now_us).text, ID_LEN + 1);
    struct buf json = BUF(DATA_MAX);
    schema_write(&event_data_shapes[type], data, &json);
    enum err e = ERR_INTERNAL_ERROR;
    if (!json.full)
        e = db_exec(tx->db, SQL_EVENT_INSERT,
                    DB_ARGS(v_str(id_str(account)), v_str(str_z(id.text)),
                            building ? v_str(id_str(building)) : v_null(), v_str(str_z(event_type_names[type])),
                            v_int(tx->now_us), v_str(buf_view(&json)), tx->trace.p ? v_str(tx->trace) : v_null()),
                    NULL);
    buf_done(&json);
    if (!e)
        *ret = id;
    return e;
}

struct listener {
    struct id webhook_id;
    bool known_due; /* its lane is due: the engine reads it in any case */
};

/* The account's endpoints that listen to the type, WEBHOOK_MAX at most. */
static enum err find_listeners(struct tx *tx, const struct id *account, enum event_type type, struct listener *ret,
                               size_t *ret_count)
{
    CURSOR c;
    size_t n = 0;
    bool more;
    enum err e = db_query(tx->db, SQL_EVENT_LISTENERS, DB_ARGS(v_str(id_str(account)), v_int(1 << type)), &c);
    if (e)
        return e;
    while (!(e = db_next(&c, &more)) && more && n < WEBHOOK_MAX)
        ret[n++] = (struct listener){col_id(&c, COL_EVENT_LISTENERS_ID),
                                     !col_null(&c, COL_EVENT_LISTENERS_DUE_AT) &&
                                         col_int(&c, COL_EVENT_LISTENERS_DUE_AT) <= tx->now_us};
    if (!e)
        *ret_count = n;
    return e;
}

static enum err event_deliver_to(struct tx *tx, const struct id *account, const struct listener *listener,
                                 struct str event, struct id *ret_delivery)
{
    const struct id id = id_new(tx->now_us);
    const struct str webhook = id_str(&listener->webhook_id);
    db_notify(tx->db, TOPIC_DELIVERIES);
    enum err e = db_exec(
        tx->db, SQL_EVENT_DELIVER,
        DB_ARGS(v_str(webhook), v_str(id_str(&id)), v_str(id_str(account)), v_str(event), v_int(tx->now_us)), NULL);
    if (!e && !listener->known_due)
        e = db_exec(tx->db, SQL_DELIVERY_LANE_LOWER, DB_ARGS(v_str(webhook), v_int(tx->now_us)), NULL);
    if (!e)
        *ret_delivery = id;
    return e;
}

enum err event_write(struct tx *tx, enum event_type type, const struct id *account, const struct id *building,
                     const struct event_data *data, struct event_id *ret_id)
{
    struct listener listeners[WEBHOOK_MAX];
    struct id delivery;
    struct event_id id = {""};
    size_t count = 0;
    enum err e = find_listeners(tx, account, type, listeners, &count);
    if (!e && count)
        e = event_insert(tx, type, account, building, data, &id);
    for (size_t i = 0; !e && i < count; i++)
        e = event_deliver_to(tx, account, &listeners[i], str_z(id.text), &delivery);
    if (!e && ret_id)
        *ret_id = id;
    return e;
}

enum err event_write_to(struct tx *tx, enum event_type type, const struct id *account, const struct id *webhook,
                        const struct event_data *data, struct id *ret_delivery)
{
    struct event_id id;
    enum err e = event_insert(tx, type, account, NULL, data, &id);
    return e ? e : event_deliver(tx, account, webhook, str_z(id.text), ret_delivery);
}

enum err event_deliver(struct tx *tx, const struct id *account, const struct id *webhook, struct str event,
                       struct id *ret_delivery)
{
    return event_deliver_to(tx, account, &(struct listener){*webhook, false}, event, ret_delivery);
}

enum err event_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL_EVENT_PURGE, DB_ARGS(v_int(before_us), v_int(limit)), ret_count);
}
