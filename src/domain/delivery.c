#include "domain/delivery.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "domain/row.h"

#define WALK       64        /* lanes read at once */
#define LANES_TEXT (1 << 20) /* the maximum of a list of lanes, as JSON */

/* ---- taking ---- */

/* One pass over the due lanes. */
struct round {
    struct tx *tx;
    struct delivery_take *t;
    unsigned room, slow_room;            /* left */
    bool passed;                         /* a slow endpoint was skipped for lack of slow_room */
    struct delivery_place before_passed; /* before the first skipped one */
    size_t list_size;                    /* allocated */
    struct delivery_place stops[WALK];
    size_t stop_count;
    struct buf settled; /* JSON: lanes whose time is computed again */
};

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static int delivery_compare(const void *key, const void *item)
{
    const struct id *id = key;
    const struct delivery_lane *lane = item;
    return strcmp(id->text, lane->webhook_id.text);
}

static struct delivery_lane lane_of(const struct delivery_take *t, const struct id *webhook)
{
    const struct delivery_lane *known = NULL;
    if (t->lane_count)
        known = bsearch(webhook, t->lanes, t->lane_count, sizeof *t->lanes, delivery_compare);
    return known ? *known : (struct delivery_lane){.webhook_id = *webhook, .room = t->lane_room};
}

static struct delivery delivery_read(const struct cursor *c, const struct id *webhook, struct arena *a)
{
    const struct str secret = col_blob(c, COL_DELIVERY_SECRET);
    const struct str previous = col_blob(c, COL_DELIVERY_PREVIOUS_SECRET);
    return (struct delivery){
        .webhook_id = *webhook,
        .id = col_id(c, COL_DELIVERY_ID),
        .attempts = col_int(c, COL_DELIVERY_ATTEMPTS),
        .lease = col_int(c, COL_DELIVERY_LEASED_UNTIL),
        .url = col_copy(c, COL_DELIVERY_URL, a),
        .secret = arena_str(a, secret),
        .previous_secret = previous.n ? arena_str(a, previous) : STR_NONE,
        .event_id = col_copy(c, COL_DELIVERY_EVENT_ID, a),
        .type = col_copy(c, COL_DELIVERY_TYPE, a),
        .data = col_copy(c, COL_DELIVERY_DATA, a),
        .trace = col_copy(c, COL_DELIVERY_TRACE, a),
        .event_created_us = col_int(c, COL_DELIVERY_CREATED_AT),
    };
}

static struct str list_held(const struct delivery_lane *lane, struct arena *a)
{
    struct buf json = BUF(2 + lane->held_count * (ID_LEN + 3));
    buf_char(&json, '[');
    for (size_t i = 0; i < lane->held_count; i++) {
        if (i)
            buf_char(&json, ',');
        json_put_str(&json, id_str(&lane->held[i]));
    }
    buf_char(&json, ']');
    struct str list = arena_str(a, buf_view(&json));
    buf_done(&json);
    return list;
}

/* Adds a lane to a list for delivery_settle. */
static void list_lane(struct buf *json, const struct id *webhook)
{
    buf_char(json, json->n ? ',' : '[');
    json_put_str(json, id_str(webhook));
}

/* Computes the times of the lanes again. */
static enum err delivery_settle(struct tx *tx, struct buf *lanes)
{
    if (!lanes->n)
        return ERR_NONE;
    buf_char(lanes, ']');
    if (lanes->full)
        return ERR_INTERNAL_ERROR;
    return db_exec(tx->db, SQL_DELIVERY_LANE_SETTLE, DB_ARGS(v_str(buf_view(lanes)), v_int(tx->now_us)), NULL);
}

/* Takes due deliveries of one endpoint that are not held. */
static enum err take_lane(struct round *r, const struct delivery_lane *lane, unsigned room)
{
    struct delivery_take *t = r->t;
    struct arena *a = r->tx->arena;
    unsigned wanted = least(room, r->room), found = 0;
    bool more;
    CURSOR c;
    enum err e = db_query(r->tx->db, SQL_DELIVERY_TAKE,
                          DB_ARGS(v_str(id_str(&lane->webhook_id)), v_int(r->tx->now_us), v_int(wanted),
                                  v_str(list_held(lane, a)), v_str(id_str(&t->node))),
                          &c);
    for (; !e && !(e = db_next(&c, &more)) && more && found < wanted; found++) {
        t->list = list_room(a, t->list, t->count, &r->list_size, sizeof *t->list);
        t->list[t->count++] = delivery_read(&c, &lane->webhook_id, a);
    }
    r->room -= found;
    r->slow_room -= lane->slow ? found : 0;
    t->more |= found == wanted;
    if (t->writing)
        list_lane(&r->settled, &lane->webhook_id);
    else
        t->again |= !found && !lane->held_count;
    return e;
}

static void delivery_expect(struct round *r, int64_t due_us)
{
    if (due_us < r->t->next_us)
        r->t->next_us = due_us;
}

/* Notes the time of the next delivery that is not due yet: those before it may be held for longer. */
static enum err look_ahead(struct round *r, const struct id *webhook)
{
    CURSOR c;
    enum err e = db_one(r->tx->db, SQL_DELIVERY_NEXT, DB_ARGS(v_str(id_str(webhook)), v_int(r->tx->now_us)), &c);
    if (!e)
        delivery_expect(r, col_int(&c, COL_DELIVERY_NEXT_DUE_AT));
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static void delivery_pass(struct round *r, const struct delivery_lane *lane, const struct delivery_place *before)
{
    r->t->more = true;
    if (!lane->room || r->passed)
        return;
    r->passed = true;
    r->before_passed = *before;
}

static enum err delivery_visit(struct round *r, const struct delivery_place *at)
{
    const struct delivery_place before = r->t->last;
    r->t->last = *at;
    const struct delivery_lane lane = lane_of(r->t, &at->webhook_id);
    const unsigned room = lane.slow ? least(lane.room, r->slow_room) : lane.room;
    enum err e = look_ahead(r, &at->webhook_id);
    if (!e && room)
        return take_lane(r, &lane, room);
    delivery_pass(r, &lane, &before);
    return e;
}

/* Reads the next lanes after a place. */
static enum err find_stops(struct round *r, const struct delivery_place *behind, unsigned count)
{
    bool more;
    CURSOR c;
    enum err e = db_query(r->tx->db, SQL_DELIVERY_LANES,
                          DB_ARGS(v_int(behind->due_us), v_str(str_z(behind->webhook_id.text)), v_int(count)), &c);
    r->stop_count = 0;
    while (!e && !(e = db_next(&c, &more)) && more && r->stop_count < count)
        r->stops[r->stop_count++] =
            (struct delivery_place){col_int(&c, COL_DELIVERY_LANES_DUE_AT), col_id(&c, COL_DELIVERY_LANES_WEBHOOK_ID)};
    return e;
}

static bool is_behind(const struct delivery_place *a, const struct delivery_place *b)
{
    return a->due_us != b->due_us ? a->due_us > b->due_us : strcmp(a->webhook_id.text, b->webhook_id.text) > 0;
}

/* Visits the lanes after `from`, up to the last due one, or to `to`. */
static enum err delivery_walk(struct round *r, const struct delivery_place *from, const struct delivery_place *to)
{
    r->t->last = *from;
    do {
        enum err e = find_stops(r, &r->t->last, WALK);
        for (size_t i = 0; !e && i < r->stop_count; i++) {
            const struct delivery_place *at = &r->stops[i];
            if (at->due_us > r->tx->now_us)
                delivery_expect(r, at->due_us);
            if (at->due_us > r->tx->now_us || (to && is_behind(at, to)))
                return ERR_NONE;
            r->t->more |= r->room == 0;
            if (r->room == 0)
                return ERR_NONE;
            e = delivery_visit(r, at);
        }
        if (e)
            return e;
    } while (r->stop_count == WALK);
    return ERR_NONE;
}

/* Visits all due lanes once, beginning after t->after. */
static enum err go_round(struct round *r)
{
    static const struct delivery_place first;
    struct delivery_take *t = r->t;
    const bool begun = id_given(&t->after.webhook_id);
    enum err e = delivery_walk(r, &t->after, NULL);
    if (!e && begun && r->room > 0)
        e = delivery_walk(r, &first, &t->after);
    if (r->room == 0)
        t->more |= begun;
    else if (r->passed)
        t->last = r->before_passed; /* the others had their turn */
    return e ? e : delivery_settle(r->tx, &r->settled);
}

/* Sets `again` if a lane is due, else notes when the first one will be. */
static enum err look_first(struct round *r)
{
    enum err e = find_stops(r, &(struct delivery_place){.due_us = 0}, 1);
    r->t->last = r->t->after;
    if (e || !r->stop_count)
        return e;
    delivery_expect(r, r->stops[0].due_us);
    r->t->again = r->stops[0].due_us <= r->tx->now_us;
    return ERR_NONE;
}

enum err delivery_take(struct tx *tx, struct delivery_take *t)
{
    struct round r = {.tx = tx, .t = t, .room = t->room, .slow_room = t->slow_room, .settled = BUF(LANES_TEXT)};
    t->list = NULL;
    t->count = 0;
    t->next_us = INT64_MAX;
    t->more = t->again = false;
    enum err e = t->leases && !t->writing ? look_first(&r) : go_round(&r);
    buf_done(&r.settled);
    return e;
}

/* ---- recording ---- */

/* When the next attempt after a failed one is due. */
static int64_t next_us(int64_t attempt, int64_t ended_us)
{
    static const int64_t pauses_min[] = {1, 5, 30, 120};
    assert(attempt >= 1 && attempt < DELIVERY_ATTEMPTS);
    return ended_us + pauses_min[attempt - 1] * 60 * US_PER_S;
}

static enum err delivery_record_one(struct tx *tx, const struct delivery_result *r)
{
    const char *status = "delivered";
    int64_t due_us = r->ended_us;
    if (r->failure && r->attempt >= DELIVERY_ATTEMPTS) {
        status = "failed";
    } else if (r->failure) {
        status = "pending";
        due_us = next_us(r->attempt, r->ended_us);
    }
    return db_exec(tx->db, SQL_DELIVERY_RECORD,
                   DB_ARGS(v_str(id_str(&r->webhook_id)), v_str(id_str(&r->id)), v_int(r->attempt),
                           v_str(str_z(status)), v_int(due_us), v_int(r->ended_us),
                           r->status_code ? v_int(r->status_code) : v_null(), v_str(str_z(r->failure)),
                           v_int(r->lease)),
                   NULL);
}

enum err delivery_record(struct tx *tx, const struct delivery_result *list, size_t count)
{
    struct buf lanes = BUF(LANES_TEXT);
    enum err e = ERR_NONE;
    for (size_t i = 0; !e && i < count; i++) {
        e = delivery_record_one(tx, &list[i]);
        list_lane(&lanes, &list[i].webhook_id);
    }
    if (!e)
        e = delivery_settle(tx, &lanes);
    buf_done(&lanes);
    return e;
}
