#include "domain/feed.h"

#include "base/json.h"
#include "base/schema.h"
#include "domain/list.h"

#define DATA_MAX 2048 /* of the data as JSON; a label is most of it */

const char *const feed_type_names[] = {
#define V(symbol, text, fields, doc) [FEED_##symbol] = text,
#include "tbl/feed.def"
#undef V
    NULL,
};

/* ---- data ---- */

#define DATA(member, type, ...)     FIELD(struct feed_data, member, type, .flags = F_REQUIRED, __VA_ARGS__)
#define NULLABLE(member, type, ...) FIELD(struct feed_data, member, type, .flags = F_REQUIRED | F_NULLABLE, __VA_ARGS__)
#define CALL                        DATA(call_id, T_ID, .doc = "the call: GET /v1/calls/{id}")

static const struct field step_fields[] = {CALL};
static const struct field caller_fields[] = {
    CALL, NULLABLE(caller, T_STRING, .doc = "the caller's number, which can be forged; null: withheld"),
    FIELD(struct feed_data, quiet, T_BOOL, .doc = "true: others ring, so that nobody does who is in quiet hours")};
static const struct field phone_fields[] = {CALL, NULLABLE(number, T_STRING, .doc = "the last digits of the phone")};
static const struct field reason_fields[] = {CALL, DATA(reason, T_STRING, .doc = "why")};
static const struct field release_fields[] = {
    CALL, DATA(reason, T_STRING, .doc = "timer, routine or passcode"), DATA(unlock_id, T_ID, .doc = "the grant"),
    DATA(label, T_STRING, .doc = "its label"),
    NULLABLE(remaining_uses, T_NUMBER, .doc = "uses left after this one; null: unlimited")};
static const struct field listening_fields[] = {CALL, DATA(key_id, T_ID, .doc = "the key by which it listens")};
static const struct field end_fields[] = {CALL, DATA(outcome, T_STRING, .values = call_record_outcome_names),
                                          DATA(ended_by, T_STRING, .values = call_ended_by_names)};
static const struct field grant_fields[] = {DATA(unlock_id, T_ID, .doc = "the grant: GET /v1/unlock/{id}"),
                                            NULLABLE(version, T_NUMBER, .doc = "its version; null: revoked")};

#define FIELDS(name)     (name##_fields), sizeof(name##_fields) / sizeof *(name##_fields)
#define DATA_SHAPE(kind) static const struct shape kind##_shape = SHAPE(struct feed_data, "Feed_" #kind, kind##_fields)
DATA_SHAPE(step);
DATA_SHAPE(caller);
DATA_SHAPE(phone);
DATA_SHAPE(reason);
DATA_SHAPE(release);
DATA_SHAPE(end);
DATA_SHAPE(listening);
DATA_SHAPE(grant);
static const struct shape nothing_shape = {.name = "Feed_nothing", .size = sizeof(struct feed_data)};

static const struct shape *const feed_shapes[FEED_TYPE_COUNT] = {
#define V(symbol, text, fields, doc) [FEED_##symbol] = &fields##_shape,
#include "tbl/feed.def"
#undef V
};

/* ---- writing ---- */

static enum err add_as(struct tx *tx, enum sql count, const struct id *building, enum feed_type type, int64_t at_us,
                       const struct feed_data *data)
{
    char space[DATA_MAX];
    struct buf json = {.p = space, .cap = sizeof space, .max = sizeof space};
    schema_write(feed_shapes[type], data, &json);
    if (json.full)
        return ERR_INTERNAL_ERROR;
    db_fed(tx->db, building);
    enum err e = db_exec(tx->db, SQL_AS(count, feed_count, .building_id = building), NULL);
    return e ? e
             : db_exec(tx->db,
                       SQL(feed_insert, .building_id = building, .at = at_us, .type = str_z(feed_type_names[type]),
                           .data = buf_view(&json)),
                       NULL);
}

enum err feed_add(struct tx *tx, const struct id *building, enum feed_type type, int64_t at_us,
                  const struct feed_data *data)
{
    return add_as(tx, SQL_FEED_COUNT, building, type, at_us, data);
}

enum err feed_add_again(struct tx *tx, const struct id *building, enum feed_type type, int64_t at_us,
                        const struct feed_data *data)
{
    return add_as(tx, SQL_FEED_COUNT_AGAIN, building, type, at_us, data);
}

enum err feed_grant(struct tx *tx, const struct id *building, enum feed_type type, const struct id *grant,
                    int64_t version)
{
    const struct feed_data data = {.unlock_id = v_str(id_str(grant)),
                                   .version = type == FEED_GRANT_REVOKED ? v_null() : v_int(version)};
    return feed_add(tx, building, type, tx->now_us, &data);
}

enum err feed_settings(struct tx *tx, const struct id *building)
{
    return feed_add(tx, building, FEED_SETTINGS_CHANGED, tx->now_us, &(struct feed_data){0});
}

#define RELABELLED_MAX 500 /* events of one grant in 24 hours */

/* The data with another label. */
static enum err put_label(struct tx *tx, struct str data, struct str label, struct str *ret)
{
    char space[DATA_MAX];
    struct buf json = {.p = space, .cap = sizeof space, .max = sizeof space};
    json_t *j;
    enum err e = json_read(data, &j);
    if (e)
        return ERR_INTERNAL_ERROR;
    json_object_set_new(j, "label", json_stringn(label.p, label.n));
    json_canonical(j, &json);
    json_decref(j);
    *ret = arena_str(tx->arena, buf_view(&json));
    return json.full ? ERR_INTERNAL_ERROR : ERR_NONE;
}

enum err feed_relabel(struct tx *tx, const struct id *building, const struct id *grant, struct str label)
{
    struct feed_event *list = arena_array(tx->arena, struct feed_event, RELABELLED_MAX);
    const struct str pattern = arena_printf(tx->arena, "%%\"unlock_id\":\"%s\"%%", grant->text);
    size_t n = 0;
    bool more;
    CURSOR c;
    enum err e =
        db_query(tx->db, SQL(feed_of_grant, .building_id = building, .pattern = pattern, .limit = RELABELLED_MAX), &c);
    while (!e && !(e = db_next(&c, &more)) && more && n < RELABELLED_MAX) {
        const struct row_feed_of_grant row = row_feed_of_grant(&c, tx->arena);
        list[n++] = (struct feed_event){.seq = row.seq, .data = row.data};
    }
    for (size_t i = 0; !e && i < n; i++) {
        struct str data;
        e = put_label(tx, list[i].data, label, &data);
        if (!e)
            e = db_exec(tx->db, SQL(feed_data, .building_id = building, .seq = list[i].seq, .data = data), NULL);
    }
    return e;
}

/* ---- reading ---- */

enum err feed_newest(struct tx *tx, const struct id *building, int64_t *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(feed_newest, .building_id = building), &c);
    if (!e || e == ERR_NOT_FOUND)
        *ret = e ? 0 : row_feed_newest(&c, NULL).seq;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

enum err feed_read(struct tx *tx, const struct id *building, int64_t after, int64_t limit,
                   const struct feed_event **ret, size_t *ret_count)
{
    struct feed_event *list = NULL;
    size_t n = 0, room = 0;
    bool more;
    CURSOR c;
    enum err e = db_query(tx->db, SQL(feed_read, .building_id = building, .after = after, .limit = limit), &c);
    while (!e && !(e = db_next(&c, &more)) && more) {
        list = list_room(tx->arena, list, n, &room, sizeof *list);
        const struct row_feed_read row = row_feed_read(&c, tx->arena);
        list[n++] = (struct feed_event){.seq = row.seq, .at_us = row.at, .type = row.type, .data = row.data};
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = n;
    return ERR_NONE;
}

/* The ID in the data of an event of a call, where it is the first member; STR_NONE for other events. */
static struct str call_of(const struct feed_event *e)
{
    static const char before[] = "{\"call_id\":\"";
    const size_t skip = sizeof before - 1;
    if (e->data.n < skip + ID_LEN || memcmp(e->data.p, before, skip) != 0)
        return STR_NONE;
    return (struct str){e->data.p + skip, ID_LEN};
}

static bool ends_later(const struct feed_event *events, size_t count, size_t i)
{
    const struct str call = call_of(&events[i]);
    for (; i < count; i++)
        if (str_eq(events[i].type, STR("call.ended")) && str_eq(call_of(&events[i]), call))
            return true;
    return false;
}

enum err feed_calls_now(struct tx *tx, const struct id *building, int64_t newest, const struct feed_event **ret,
                        size_t *ret_count)
{
    const struct feed_event *events = NULL;
    size_t count = 0, n = 0;
    const int64_t after = newest > FEED_RECENT ? newest - FEED_RECENT : 0;
    enum err e = newest ? feed_read(tx, building, after, FEED_RECENT, &events, &count) : ERR_NONE;
    if (e)
        return e;
    struct feed_event *list = arena_array(tx->arena, struct feed_event, count + 1);
    for (size_t i = 0; i < count; i++)
        if (call_of(&events[i]).n && !ends_later(events, count, i))
            list[n++] = events[i];
    *ret = list;
    *ret_count = n;
    return ERR_NONE;
}

void feed_put(struct buf *out, const struct feed_event *e)
{
    const bool has_data = e->data.n > 2;
    buf_printf(out, "{\"seq\":%lld,\"type\":\"%.*s\",\"at\":", (long long)e->seq, STR_ARG(e->type));
    json_put_time(out, e->at_us);
    buf_str(out, has_data ? STR(",") : STR("}"));
    buf_str(out, has_data ? str_from(e->data, 1) : STR(""));
}

enum err feed_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL(feed_purge, .before = before_us, .limit = limit), ret_count);
}
