#include "resources/events.h"

#include "api/door.h"
#include "api/parts.h"
#include "domain/feed.h"
#include "resources/routes.h"

struct event_query {
    struct val after;
};

static const struct field query_fields[] = {
    FIELD(struct event_query, after, T_INT, .min = 0, .max = INT64_MAX, .error = ERR_INVALID_CURSOR,
          .doc = "number of the last event that the client has; the field Last-Event-ID counts before it"),
};
static const struct shape query_shape = SHAPE(struct event_query, "EventQuery", query_fields);

/* The client's position. Returns false if it has none. A field that no stream has sent is a position without events. */
static bool wanted_position(const struct request *q, int64_t *ret)
{
    const struct event_query *query = q->query;
    uint64_t number = INT64_MAX;
    const struct str last = http_header(q->http, STR("Last-Event-ID"), NULL);
    if (last.n)
        (void)str_to_u64(last, INT64_MAX, &number);
    else if (v_set(query->after))
        number = (uint64_t)query->after.i;
    *ret = (int64_t)number;
    return last.n || v_set(query->after);
}

/* Whether all events after that number can still be sent. */
static enum err can_resume(struct tx *tx, const struct id *building, int64_t after, int64_t newest, bool *ret)
{
    const struct feed_event *next;
    size_t count = 0;
    *ret = after == newest;
    if (after >= newest || newest - after > HUB_CATCH_UP)
        return ERR_NONE;
    enum err e = feed_read(tx, building, after, 1, &next, &count);
    *ret = !e && count && next->seq == after + 1;
    return e;
}

/* The client's position, if it has one. */
static enum err position_of(struct request *q, struct hub_reader *r)
{
    int64_t after;
    bool resumes;
    if (!wanted_position(q, &after))
        return ERR_NONE;
    enum err e = can_resume(&q->tx, &q->building_id, after, r->seq, &resumes);
    if (e)
        return e;
    r->reset = !resumes;
    r->seq = resumes ? after : r->seq;
    return ERR_NONE;
}

static void begin_events(struct request *q, struct str head)
{
    hub_open(q->parts->hub, q->http, q->loop, head, q->reply.begin_with);
}

enum err events_reader(struct request *q, uint32_t scopes, struct hub_reader **ret)
{
    struct hub_reader *r = arena_new(q->tx.arena, struct hub_reader);
    enum err e = hub_room(q->parts->hub, &q->who.key_id);
    if (e == ERR_RATE_LIMIT_EXCEEDED) {
        q->tx.retry_after_s = HTTP_STREAM_BEAT_MS / 1000;
        q->building_id = (struct id){0}; /* as in every answer that refuses before a building is selected */
        return tx_fail(&q->tx, e, "The key has 25 streams open.");
    }
    if (e)
        return e;
    r->building_id = q->building_id;
    r->key_id = q->who.key_id;
    r->scopes = scopes;
    r->subscribed = q->who.subscribed;
    e = q->door->key_hash(q, r->hash);
    if (!e)
        e = feed_newest(&q->tx, &q->building_id, &r->seq);
    if (!e)
        *ret = r;
    return e;
}

void events_reply(struct reply *p, const struct hub_reader *r)
{
    p->status = 200;
    p->raw = STR("");
    p->media = "text/event-stream";
    reply_header(p, "X-Accel-Buffering", STR("no"));
    p->begin = begin_events;
    p->begin_with = r;
}

static enum err get_events(struct request *q, struct reply *p)
{
    struct hub_reader *r;
    enum err e = events_reader(q, SCOPE(LOGS_READ), &r);
    if (!e)
        e = position_of(q, r);
    if (e)
        return e;
    events_reply(p, r);
    if (q->http->method == HTTP_HEAD)
        p->begin = NULL;
    return ERR_NONE;
}

#define V(symbol, text, fields, doc) "- `" text "`: " doc "\n"
static const char description[] =
    "Server-sent events (`text/event-stream`): what happens at the door and to grants and settings, within a moment "
    "of its commit. `id` is a number of the building that rises by one with each event, and by more after a restore. "
    "`data` is a JSON object with "
    "`seq` (that number), `type`, `at` (when it happened) and the members of the type; those of calls have `call_id`. "
    "Steps of a call may come a moment after a later decision: sort by `at`.\n\n"
#include "tbl/feed.def"
    "\nTo resume, send the last `id` as the field `Last-Event-ID`, as browsers do, or as `after`. Without either, the "
    "stream begins with the next event. An event `reset` instead says that events were missed and cannot be sent any "
    "more (events are kept for 24 hours; at most 200 are sent again): read the data again. A comment comes every 15 "
    "seconds. The stream ends when the key may no longer read the building, when the service stops, and when the "
    "client does not read; connect again with the last `id`. A key has at most 25 streams.";
#undef V

static const struct route rows[] = {
    ROUTE("streamEvents", GET, "/v1/buildings/{buildingId}/events", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(LOGS_READ), .limit = LIMIT_KEY, .building = BUILDING_PATH, .query = &query_shape,
          .run = RUN_READ, .handler = get_events, .media = "text/event-stream", .flags = ROUTE_SITE,
          .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC("Events", 200, "Events of a building as they happen", .description = description,
                           .flags = DOC_EXTENSION)),
};
const struct route_set event_routes = ROUTE_SET(rows);
