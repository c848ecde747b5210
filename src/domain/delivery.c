#include "domain/delivery.h"

#include <assert.h>
#include <glib.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "base/json.h"
#include "domain/building_webhook.h"
#include "domain/delivery_log.h"
#include "domain/event.h"
#include "domain/list.h"

#define WALK       64        /* lanes read at once */
#define LANES_TEXT (1 << 20) /* the maximum of a list of lanes, as JSON */
#define LATE_MAX   200       /* deliveries given up after one failure */

#define S  US_PER_S
#define MS (US_PER_S / 1000)
const struct delivery_plan delivery_plans[] = {
    [DELIVERY_CURRENT] = {5,
                          5000,
                          {{60 * S, 60 * S},
                           {300 * S, 300 * S},
                           {1800 * S, 1800 * S},
                           {DELIVERY_PAUSE_MAX_S * S, DELIVERY_PAUSE_MAX_S *S}}},
    [DELIVERY_EARLIER] = {3, 10000, {{5000 * MS, 7500 * MS}, {30 * S, 45 * S}}},
    [DELIVERY_EARLIER_TEST] = {1, 10000, {{0}}},
};

/* ---- the times of lanes ---- */

/* Lists of lanes whose time is computed again, JSON: of accounts, and of buildings. */
struct lanes {
    struct buf list[2];
};

static void lanes_init(struct lanes *l)
{
    for (int i = 0; i < 2; i++)
        l->list[i] = BUF(LANES_TEXT);
}

static void lanes_done(struct lanes *l)
{
    for (int i = 0; i < 2; i++)
        buf_done(&l->list[i]);
}

static void list_lane(struct lanes *l, const struct id *webhook, bool earlier)
{
    struct buf *json = &l->list[earlier];
    buf_char(json, json->n ? ',' : '[');
    json_put_str(json, id_str(webhook));
}

static enum err delivery_settle(struct tx *tx, struct lanes *l)
{
    static const enum sql statements[] = {SQL_DELIVERY_LANE_SETTLE, SQL_BUILDING_WEBHOOK_SETTLE};
    enum err e = ERR_NONE;
    for (int i = 0; !e && i < 2; i++) {
        struct buf *json = &l->list[i];
        if (!json->n)
            continue;
        buf_char(json, ']');
        e = json->full
                ? ERR_INTERNAL_ERROR
                : db_exec(tx->db, SQL_AS(statements[i], delivery_lane_settle, .ids = buf_view(json), .now = tx->now_us),
                          NULL);
    }
    return e;
}

/* ---- taking ---- */

/* A due lane. */
struct stop {
    struct delivery_place place;
    struct id account_id; /* empty: the endpoint was deleted */
    bool earlier;         /* of a building's endpoint */
};

/* The room that is left for an account's endpoints. */
struct share {
    struct id account_id;
    unsigned room, slow_room;
};

/* One pass over the due lanes. */
struct round {
    struct tx *tx;
    struct delivery_take *t;
    unsigned room, slow_room;            /* left */
    GHashTable *shares;                  /* by account_id */
    bool passed;                         /* an endpoint was skipped for lack of slow_room, or of its account's share */
    struct delivery_place before_passed; /* before the first skipped one */
    size_t list_size;                    /* allocated */
    struct stop stops[WALK];
    size_t stop_count;
    struct lanes settled;
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

static struct share *share_of(struct round *r, const struct id *account)
{
    struct share *share = g_hash_table_lookup(r->shares, account->text);
    if (share)
        return share;
    share = arena_new(r->tx->arena, struct share);
    *share = (struct share){*account, r->t->account_max, r->t->account_slow_max};
    g_hash_table_insert(r->shares, share->account_id.text, share);
    return share;
}

static void use_share(struct share *share, unsigned count, bool slow)
{
    share->room -= least(count, share->room);
    share->slow_room -= slow ? least(count, share->slow_room) : 0;
}

static unsigned room_of(const struct round *r, const struct delivery_lane *lane, const struct share *share)
{
    const unsigned room = least(lane->room, share->room);
    return lane->slow ? least(room, least(r->slow_room, share->slow_room)) : room;
}

static enum delivery_form form_of(bool earlier, struct str type)
{
    if (!earlier)
        return DELIVERY_CURRENT;
    return str_eq(type, str_z(earlier_event_names[EARLIER_WEBHOOK_TEST])) ? DELIVERY_EARLIER_TEST : DELIVERY_EARLIER;
}

static struct delivery delivery_read(const struct cursor *c, const struct stop *stop, struct arena *a)
{
    const struct row_delivery row = row_delivery(c, a);
    return (struct delivery){
        .webhook_id = stop->place.webhook_id,
        .account_id = row.account_id,
        .id = row.id,
        .form = form_of(stop->earlier, row.type),
        .attempts = row.attempts,
        .lease = row.leased_until,
        .url = row.url,
        .secret = row.secret,
        .previous_secret = row.previous_secret.n ? row.previous_secret : STR_NONE,
        .event_id = row.event_id,
        .type = row.type,
        .data = row.data,
        .trace = row.trace,
        .building_id = row.building_id,
        .event_created_us = row.created_at,
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

/* Takes due deliveries of one endpoint that are not held. */
static enum err take_lane(struct round *r, const struct stop *stop, const struct delivery_lane *lane,
                          struct share *share)
{
    struct delivery_take *t = r->t;
    struct arena *a = r->tx->arena;
    unsigned wanted = least(room_of(r, lane, share), r->room), found = 0;
    bool more;
    CURSOR c;
    enum err e = db_query(r->tx->db,
                          SQL(delivery_take, .webhook_id = &lane->webhook_id, .now = r->tx->now_us, .limit = wanted,
                              .held = list_held(lane, a), .leased_by = &t->node),
                          &c);
    for (; !e && !(e = db_next(&c, &more)) && more && found < wanted; found++) {
        t->list = list_room(a, t->list, t->count, &r->list_size, sizeof *t->list);
        t->list[t->count++] = delivery_read(&c, stop, a);
    }
    r->room -= found;
    r->slow_room -= lane->slow ? found : 0;
    use_share(share, found, lane->slow);
    t->more |= found == wanted;
    if (t->writing)
        list_lane(&r->settled, &lane->webhook_id, stop->earlier);
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
    enum err e = db_one(r->tx->db, SQL(delivery_next, .webhook_id = webhook, .now = r->tx->now_us), &c);
    if (!e)
        delivery_expect(r, row_delivery_next(&c, NULL).due_at);
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

static enum err delivery_visit(struct round *r, const struct stop *at)
{
    const struct delivery_place before = r->t->last;
    r->t->last = at->place;
    const struct delivery_lane lane = lane_of(r->t, &at->place.webhook_id);
    struct share *share = share_of(r, &at->account_id);
    enum err e = look_ahead(r, &at->place.webhook_id);
    if (!e && room_of(r, &lane, share))
        return take_lane(r, at, &lane, share);
    delivery_pass(r, &lane, &before);
    return e;
}

/* Reads the next lanes after a place. */
static enum err find_stops(struct round *r, const struct delivery_place *behind, unsigned count)
{
    bool more;
    CURSOR c;
    enum err e = db_query(
        r->tx->db,
        SQL(delivery_lanes, .after = behind->due_us, .after_id = str_z(behind->webhook_id.text), .limit = count), &c);
    r->stop_count = 0;
    while (!e && !(e = db_next(&c, &more)) && more && r->stop_count < count) {
        const struct row_delivery_lanes row = row_delivery_lanes(&c, NULL);
        r->stops[r->stop_count++] = (struct stop){
            .place = {row.due_at, row.webhook_id},
            .account_id = row.account_id,
            .earlier = row.earlier,
        };
    }
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
            const struct delivery_place *at = &r->stops[i].place;
            if (at->due_us > r->tx->now_us)
                delivery_expect(r, at->due_us);
            if (at->due_us > r->tx->now_us || (to && is_behind(at, to)))
                return ERR_NONE;
            r->t->more |= r->room == 0;
            if (r->room == 0)
                return ERR_NONE;
            e = delivery_visit(r, &r->stops[i]);
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
    delivery_expect(r, r->stops[0].place.due_us);
    r->t->again = r->stops[0].place.due_us <= r->tx->now_us;
    return ERR_NONE;
}

enum err delivery_take(struct tx *tx, struct delivery_take *t)
{
    struct round r = {.tx = tx, .t = t, .room = t->room, .slow_room = t->slow_room};
    r.shares = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < t->lane_count; i++)
        use_share(share_of(&r, &t->lanes[i].account_id), t->lanes[i].active, t->lanes[i].slow);
    lanes_init(&r.settled);
    t->list = NULL;
    t->count = 0;
    t->next_us = INT64_MAX;
    t->more = t->again = false;
    enum err e = t->leases && !t->writing ? look_first(&r) : go_round(&r);
    lanes_done(&r.settled);
    g_hash_table_destroy(r.shares);
    return e;
}

/* ---- recording ---- */

bool delivery_gives_up(const struct delivery_result *r)
{
    return r->failure && r->attempt >= delivery_plans[r->form].attempts;
}

/* When the next attempt after a failed one is due. */
static int64_t next_us(const struct delivery_result *r)
{
    const struct delivery_plan *plan = &delivery_plans[r->form];
    uint64_t random;
    assert(r->attempt >= 1 && r->attempt < plan->attempts);
    const int64_t least_us = plan->pauses[r->attempt - 1].least_us, most_us = plan->pauses[r->attempt - 1].most_us;
    crypto_random(&random, sizeof random);
    return r->ended_us + least_us + (int64_t)(random % (uint64_t)(most_us - least_us + 1));
}

static enum err delivery_record_one(struct tx *tx, struct delivery_result *r)
{
    const bool again = r->failure && !delivery_gives_up(r);
    const enum delivery_status status = !r->failure ? DELIVERY_DELIVERED : again ? DELIVERY_PENDING : DELIVERY_FAILED;
    int64_t changed;
    r->disabled = false;
    enum err e =
        db_exec(tx->db,
                SQL(delivery_record, .webhook_id = &r->webhook_id, .id = &r->id, .attempts = r->attempt,
                    .status = str_z(delivery_status_names[status]), .due_at = again ? next_us(r) : r->ended_us,
                    .attempted_at = r->ended_us, .status_code = r->status_code ? v_int(r->status_code) : v_null(),
                    .failure = str_z(r->failure), .leased_until = r->lease, .took_ms = r->took_ms),
                &changed);
    if (e || !changed || again || r->form != DELIVERY_EARLIER)
        return e;
    return building_webhook_ended(tx, &r->webhook_id, !r->failure, &r->disabled);
}

static enum err give_up_late(struct tx *tx, struct delivery_result *r)
{
    r->given_up = 0;
    if (!r->failure || !r->late)
        return ERR_NONE;
    return db_exec(tx->db,
                   SQL(delivery_late, .webhook_id = &r->webhook_id, .before = r->ended_us - DELIVERY_LATE_S * US_PER_S,
                       .failure = str_z(r->failure), .limit = LATE_MAX),
                   &r->given_up);
}

enum err delivery_record(struct tx *tx, struct delivery_result *list, size_t count)
{
    struct lanes lanes;
    enum err e = ERR_NONE;
    lanes_init(&lanes);
    for (size_t i = 0; !e && i < count; i++) {
        e = delivery_record_one(tx, &list[i]);
        if (!e)
            e = give_up_late(tx, &list[i]);
        list_lane(&lanes, &list[i].webhook_id, list[i].form != DELIVERY_CURRENT);
    }
    if (!e)
        e = delivery_settle(tx, &lanes);
    lanes_done(&lanes);
    return e;
}
