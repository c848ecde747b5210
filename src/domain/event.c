#include "domain/event.h"

#define DATA_MAX 8192 /* of an event, as JSON: two labels are the most of it */

static const char *const type_texts[] = {
#define V(symbol, text) [EVENT_##symbol] = text,
#include "tbl/events.def"
#undef V
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

enum err event_write(struct op *op, enum event_type type, const struct id *account, const struct id *building,
                     const struct event_data *data, struct event_id *ret_id)
{
    struct event_id id = {"evt_"};
    memcpy(id.text + 4, id_new(op->now_us).text, ID_LEN + 1);
    struct buf json = BUF(DATA_MAX);
    schema_write(&event_data_shapes[type], data, &json);
    enum err e = ERR_INTERNAL_ERROR;
    if (!json.full)
        e = db_exec(op->db, SQL_EVENT_INSERT,
                    DB_ARGS(v_str(id_str(account)), v_str(str_z(id.text)),
                            building ? v_str(id_str(building)) : v_null(), v_str(str_z(type_texts[type])),
                            v_int(op->now_us), v_str(buf_view(&json))),
                    NULL);
    buf_done(&json);
    if (!e && ret_id)
        *ret_id = id;
    return e;
}
