#include "event/data.h"

const char *const event_type_names[] = {
#define V(symbol, text) [EVENT_##symbol] = text,
#include "tbl/events.def"
#undef V
    NULL,
};

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
