/* Recorded greetings of a building. */
#include "admin/routes.h"
#include "api/parts.h"
#include "base/crypto.h"
#include "domain/recording.h"

#define AUDIO_TEXT_MAX ((RECORDING_MAX * 4 + 2) / 3) /* characters of base64url */
#define BODY_MAX       (AUDIO_TEXT_MAX + 1024)

struct greeting_body {
    struct val building_id, which, audio;
};
struct greeting_item {
    struct val which, seconds, created_at;
    struct id id; /* not in the reply */
};
struct greetings_reply {
    struct val data;
};
struct greeting_removed {
    struct val which, removed;
};

#define BUILDING FIELD(struct greeting_body, building_id, T_ID, .flags = F_REQUIRED, .error = ERR_INVALID_BUILDING)
#define WHICH    FIELD(struct greeting_body, which, T_STRING, .flags = F_REQUIRED, .values = recording_names)

static const struct field set_fields[] = {
    BUILDING,
    WHICH,
    FIELD(struct greeting_body, audio, T_STRING, .flags = F_REQUIRED, .max = AUDIO_TEXT_MAX,
          .doc = "mu-law, 8 kHz, in base64url"),
};
static const struct shape set_shape = SHAPE(struct greeting_body, "AdminGreetingSet", set_fields);

static const struct field list_query_fields[] = {BUILDING};
static const struct shape list_query = SHAPE(struct greeting_body, "AdminGreetingsQuery", list_query_fields);
static const struct field remove_query_fields[] = {BUILDING, WHICH};
static const struct shape remove_query = SHAPE(struct greeting_body, "AdminGreetingQuery", remove_query_fields);

static const struct field item_fields[] = {
    FIELD(struct greeting_item, which, T_STRING, .flags = F_REQUIRED),
    FIELD(struct greeting_item, seconds, T_INT, .flags = F_REQUIRED, .doc = "rounded up"),
    FIELD(struct greeting_item, created_at, T_TIME, .flags = F_REQUIRED),
};
static const struct shape item_shape = SHAPE(struct greeting_item, "AdminGreeting", item_fields);
static const struct field list_fields[] = {
    FIELD(struct greetings_reply, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &item_shape),
};
static const struct shape list_shape = SHAPE(struct greetings_reply, "AdminGreetings", list_fields);
static const struct field removed_fields[] = {
    FIELD(struct greeting_removed, which, T_STRING, .flags = F_REQUIRED),
    FIELD(struct greeting_removed, removed, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape removed_shape = SHAPE(struct greeting_removed, "AdminGreetingRemoved", removed_fields);

static enum greeting which_of(struct val v)
{
    int i = 0;
    while (recording_names[i] && !str_eq(v.s, str_z(recording_names[i])))
        i++;
    return (enum greeting)i;
}

static enum err reply_list(struct request *q, struct reply *p, const struct id *building, int status)
{
    struct recording list[GREETING_COUNT];
    size_t count;
    enum err e = recording_list(&q->tx, building, list, &count);
    if (e)
        return e;
    struct greeting_item *items = arena_array(q->tx.arena, struct greeting_item, GREETING_COUNT);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct greeting_item){
            .which = v_str(str_z(recording_names[list[i].which])),
            .seconds = v_int((list[i].length + RECORDING_RATE - 1) / RECORDING_RATE),
            .created_at = v_time(list[i].created_at_us),
            .id = list[i].id,
        };
    struct greetings_reply *body = arena_new(q->tx.arena, struct greetings_reply);
    body->data = v_list(items, count);
    return reply_ok(p, status, &list_shape, body);
}

static enum err list_greetings(struct request *q, struct reply *p)
{
    const struct greeting_body *query = q->query;
    const struct id building = admin_id(query->building_id);
    q->subject = arena_printf(q->tx.arena, "building=%s", building.text);
    return reply_list(q, p, &building, 200);
}

static enum err set_greeting(struct request *q, struct reply *p)
{
    const struct greeting_body *body = q->body;
    const struct id building = admin_id(body->building_id);
    struct str audio;
    if (!base64url_decode(q->tx.arena, body->audio.s, &audio))
        return tx_fail(&q->tx, ERR_BAD_REQUEST, "audio must be base64url");
    q->subject = arena_printf(q->tx.arena, "building=%s which=%.*s", building.text, STR_ARG(body->which.s));
    enum err e = recording_put(&q->tx, &building, which_of(body->which), audio);
    return e ? e : reply_list(q, p, &building, 201);
}

static void prepare_recording(struct request *q)
{
    const struct greeting_body *body = q->body;
    const struct greetings_reply *reply = q->reply.body;
    const struct greeting_item *items = reply->data.ptr;
    const struct speech_part *g = q->parts->speech;
    for (size_t i = 0; g && i < reply->data.count; i++)
        if (str_eq(items[i].which.s, body->which.s))
            g->prepare(g->arg, true, id_str(&items[i].id));
}

static enum err remove_greeting(struct request *q, struct reply *p)
{
    const struct greeting_body *query = q->query;
    const struct id building = admin_id(query->building_id);
    q->subject = arena_printf(q->tx.arena, "building=%s which=%.*s", building.text, STR_ARG(query->which.s));
    enum err e = recording_remove(&q->tx, &building, which_of(query->which));
    if (e == ERR_NOT_FOUND)
        return tx_fail(&q->tx, e, "the building has no such recording");
    if (e)
        return e;
    return reply_copy(q, p, 200, &removed_shape, &(struct greeting_removed){query->which, v_bool(true)});
}

static const struct route rows[] = {
    ROUTE("adminListGreetings", GET, "/admin/greetings", .credential = CRED_CONTROL, .personal = true,
          .query = &list_query, .run = RUN_READ, .handler = list_greetings, .reply = &list_shape,
          .doc = ROUTE_DOC("Greetings", 200, "List the recorded greetings of a building")),
    ROUTE("adminSetGreeting", POST, "/admin/greetings", .credential = CRED_CONTROL, .body = &set_shape,
          .body_error = ERR_BAD_REQUEST, .body_max = BODY_MAX, .run = RUN_WRITE, .handler = set_greeting,
          .committed = prepare_recording, .reply = &list_shape,
          .doc = ROUTE_DOC("Greetings", 201, "Play a recording in place of a greeting's text")),
    ROUTE("adminRemoveGreeting", DELETE, "/admin/greetings", .credential = CRED_CONTROL, .query = &remove_query,
          .run = RUN_WRITE, .handler = remove_greeting, .reply = &removed_shape,
          .doc = ROUTE_DOC("Greetings", 200, "Remove a recorded greeting")),
};
const struct route_set admin_greeting_routes = ROUTE_SET(rows);
