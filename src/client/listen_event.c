#include "client/listen_event.h"

#include <stdio.h>

#include "base/crypto.h"
#include "base/json.h"

#define DATA_MAX 8192

/* A line of the stream, as far as it is needed. */
struct line {
    struct val seq, type, at, reason, unlock_id, label, remaining_uses;
};
#define LINE(member, ftype, ...) FIELD(struct line, member, ftype, __VA_ARGS__)
static const struct field line_fields[] = {
    LINE(seq, T_INT, .flags = F_REQUIRED, .max = INT64_MAX),
    LINE(type, T_STRING, .flags = F_REQUIRED),
    LINE(at, T_TIME, .flags = F_REQUIRED),
    LINE(reason, T_STRING),
    LINE(unlock_id, T_ID),
    LINE(label, T_STRING),
    LINE(remaining_uses, T_INT, .flags = F_NULLABLE, .max = INT32_MAX),
};
static const struct shape line_shape = SHAPE(struct line, "FeedLine", line_fields, .open = true);

enum stream_type {
#define V(symbol, text, fields, doc) STREAM_##symbol,
#include "tbl/feed.def"
#undef V
};

static const char *const stream_types[] = {
#define V(symbol, text, fields, doc) [STREAM_##symbol] = text,
#include "tbl/feed.def"
#undef V
};

/* The webhook event of a type of the stream. */
static const struct {
    enum stream_type of;
    enum event_type type;
} types[] = {
    {STREAM_CALL_RELEASED, EVENT_ACCESS_GRANTED},
    {STREAM_CALL_FORWARDED, EVENT_ACCESS_CALL_FORWARDED},
    {STREAM_CALL_CODE_WRONG, EVENT_ACCESS_DENIED},
};

static bool read_stream_line(struct str text, struct arena *a, struct line *ret)
{
    struct schema_fault fault;
    json_t *object = NULL;
    const bool read = !json_read(text, &object) && json_is_object(object) &&
                      schema_read(&line_shape, object, ERR_BAD_REQUEST, a, ret, &fault);
    json_decref(object);
    return read;
}

/* Made of the building, the number in its stream and the type. */
static struct event_id event_id_of(const struct remote_building *b, int64_t seq, enum event_type type)
{
    char text[128], hex[2 * SHA256_LEN + 1];
    unsigned char hash[SHA256_LEN];
    struct event_id id;
    const int n = snprintf(text, sizeof text, "%s %lld %s", b->id.text, (long long)seq, event_type_names[type]);
    crypto_sha256(str_n(text, (size_t)n), hash);
    hex_encode(hash, sizeof hash, hex);
    snprintf(id.text, sizeof id.text, "evt_%.24s", hex);
    return id;
}

static struct listen_event make_event(const struct remote_building *b, const struct line *l, enum event_type type,
                                      int64_t occurred_us, struct arena *a)
{
    const struct event_data data = {
        .building_id = v_str(id_str(&b->id)),
        .building_label = v_str(b->label.p ? b->label : STR("")),
        .unlock_id = l->unlock_id,
        .unlock_type = l->reason,
        .label = l->label,
        .remaining_uses = l->remaining_uses.kind == VAL_ABSENT ? v_null() : l->remaining_uses,
        .occurred_at = v_time(occurred_us),
    };
    struct buf json = BUF(DATA_MAX);
    schema_write(&event_data_shapes[type], &data, &json);
    const struct listen_event e = {.type = type,
                                   .id = event_id_of(b, l->seq.i, type),
                                   .created_us = l->at.i,
                                   .data = arena_str(a, buf_view(&json))};
    buf_done(&json);
    return e;
}

/* Whether the line has all members of the events of a release. */
static bool is_whole(const struct line *l)
{
    return l->reason.kind == VAL_STR && l->unlock_id.kind == VAL_STR && l->label.kind == VAL_STR;
}

size_t listen_events(const struct remote_building *building, struct str line, struct arena *a,
                     struct listen_event ret[static LISTEN_EVENTS_MAX])
{
    struct line l;
    size_t n = 0;
    if (!read_stream_line(line, a, &l))
        return 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!str_eq(l.type.s, str_z(stream_types[types[i].of])))
            continue;
        const bool release = types[i].type == EVENT_ACCESS_GRANTED;
        if (release && !is_whole(&l))
            return 0;
        ret[n++] = make_event(building, &l, types[i].type, l.at.i, a);
        /* As in domain/access_door.c: the second one must sort after the first. */
        if (release && l.remaining_uses.kind == VAL_INT && l.remaining_uses.i == 0)
            ret[n++] = make_event(building, &l, EVENT_UNLOCK_NO_USES_REMAINING, l.at.i + 1000, a);
    }
    return n;
}

struct listen_event listen_test_event(int64_t now_us)
{
    struct listen_event e = {.type = EVENT_WEBHOOK_TEST, .created_us = now_us, .data = STR("{}")};
    snprintf(e.id.text, sizeof e.id.text, "evt_%s", id_new(now_us).text);
    return e;
}
