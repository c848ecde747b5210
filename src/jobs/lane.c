#include "jobs/lane.h"

#include <assert.h>
#include <glib.h>
#include <stdlib.h>

#include "base/clock.h"

#define SLOW_US US_PER_S /* an answer that takes longer is slow */

/* How long a lane is remembered that has no attempts: a slow one for longer than the longest pause between two, as long
 * as there are not too many. */
#define KEPT_US      (60 * US_PER_S)
#define SLOW_KEPT_US (3 * 3600 * US_PER_S)
#define SLOW_MANY    4096

struct lane {
    struct id webhook_id;
    struct attempt *held;
    unsigned held_count, under_way;
    unsigned most; /* under way at once */
    bool slow;
    int64_t used_us; /* when an attempt last ended, monotonic */
};

struct lanes {
    GHashTable *table; /* by webhook_id */
    unsigned held, under_way, under_way_slow;
};

struct lanes *lanes_new(void)
{
    struct lanes *l = calloc(1, sizeof *l);
    if (!l)
        abort();
    l->table = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free);
    return l;
}

static void free_held(gpointer key, gpointer value, gpointer unused)
{
    struct lane *lane = value;
    (void)key, (void)unused;
    while (lane->held) {
        struct attempt *a = lane->held;
        lane->held = a->next;
        attempt_free(a);
    }
}

void lanes_free(struct lanes *l)
{
    if (!l)
        return;
    g_hash_table_foreach(l->table, free_held, NULL);
    g_hash_table_destroy(l->table);
    free(l);
}

unsigned lanes_held(const struct lanes *l)
{
    return l->held;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned lanes_room(const struct lanes *l)
{
    return least(LANES_MOST - least(l->under_way, LANES_MOST), LANES_HELD - least(l->held, LANES_HELD));
}

/* ---- what may be taken ---- */

/* Lanes that were used before are forgotten. */
struct horizon {
    int64_t us, slow_us;
};

static gboolean is_forgotten(gpointer key, gpointer value, gpointer arg)
{
    const struct lane *lane = value;
    const struct horizon *horizon = arg;
    (void)key;
    return !lane->held && lane->used_us < (lane->slow ? horizon->slow_us : horizon->us);
}

static void forget(struct lanes *l)
{
    int64_t now_us = clock_monotonic_us();
    bool many = g_hash_table_size(l->table) > SLOW_MANY;
    struct horizon horizon = {.us = now_us - KEPT_US, .slow_us = now_us - (many ? KEPT_US : SLOW_KEPT_US)};
    g_hash_table_foreach_remove(l->table, is_forgotten, &horizon);
}

static int compare(const void *a, const void *b)
{
    return strcmp((*(struct lane *const *)a)->webhook_id.text, (*(struct lane *const *)b)->webhook_id.text);
}

static struct lane **sort(const struct lanes *l, struct arena *a, size_t count)
{
    struct lane **list = arena_array(a, struct lane *, count + 1);
    GHashTableIter i;
    gpointer lane;
    size_t n = 0;
    g_hash_table_iter_init(&i, l->table);
    while (g_hash_table_iter_next(&i, NULL, &lane))
        list[n++] = lane;
    if (n)
        qsort(list, n, sizeof(struct lane *), compare);
    return list;
}

static const struct id *copy_held(const struct lane *lane, struct arena *a)
{
    struct id *ids = arena_array(a, struct id, lane->held_count);
    size_t n = 0;
    for (const struct attempt *i = lane->held; i; i = i->next)
        ids[n++] = i->result.id;
    return ids;
}

static unsigned room_of(const struct lane *lane)
{
    return least(lane->most - least(lane->under_way, lane->most), LANE_STEP);
}

void lanes_offer(struct lanes *l, struct arena *a, struct delivery_take *ret)
{
    forget(l);
    size_t count = g_hash_table_size(l->table);
    struct lane **list = sort(l, a, count);
    struct delivery_lane *offered = arena_array(a, struct delivery_lane, count + 1);
    for (size_t i = 0; i < count; i++)
        offered[i] = (struct delivery_lane){.webhook_id = list[i]->webhook_id,
                                            .held = copy_held(list[i], a),
                                            .held_count = list[i]->held_count,
                                            .room = room_of(list[i]),
                                            .slow = list[i]->slow};
    ret->lanes = offered;
    ret->lane_count = count;
    ret->lane_room = LANE_FIRST;
    ret->room = least(lanes_room(l), LANES_STEP);
    ret->slow_room = LANES_MOST_SLOW - least(l->under_way_slow, LANES_MOST_SLOW);
}

/* ---- attempts ---- */

static struct lane *lane_of(struct lanes *l, const struct id *webhook)
{
    struct lane *lane = g_hash_table_lookup(l->table, webhook->text);
    if (lane)
        return lane;
    lane = calloc(1, sizeof *lane);
    if (!lane)
        abort();
    lane->webhook_id = *webhook;
    lane->most = LANE_FIRST;
    g_hash_table_insert(l->table, lane->webhook_id.text, lane);
    return lane;
}

void lanes_enter(struct lanes *l, struct attempt *a)
{
    struct lane *lane = lane_of(l, &a->result.webhook_id);
    a->lane = lane;
    a->began_us = clock_monotonic_us();
    a->previous = NULL;
    a->next = lane->held;
    if (a->next)
        a->next->previous = a;
    lane->held = a;
    lane->held_count++;
    lane->under_way++;
    l->held++;
    l->under_way++;
    l->under_way_slow += lane->slow;
}

static void set_slow(struct lanes *l, struct lane *lane, bool slow)
{
    if (lane->slow && !slow)
        l->under_way_slow -= lane->under_way;
    if (!lane->slow && slow)
        l->under_way_slow += lane->under_way;
    lane->slow = slow;
}

void lanes_end(struct lanes *l, struct attempt *a)
{
    struct lane *lane = a->lane;
    assert(lane->under_way > 0);
    lane->used_us = clock_monotonic_us();
    lane->under_way--;
    l->under_way--;
    l->under_way_slow -= lane->slow;
    if (a->post.timed_out) {
        lane->most = 1;
        set_slow(l, lane, true);
    } else if (a->post.status) {
        lane->most = least(2 * lane->most, LANE_MOST);
        set_slow(l, lane, lane->used_us - a->began_us > SLOW_US);
    }
}

void lanes_leave(struct lanes *l, struct attempt *a)
{
    struct lane *lane = a->lane;
    if (a->next)
        a->next->previous = a->previous;
    if (a->previous)
        a->previous->next = a->next;
    else
        lane->held = a->next;
    lane->held_count--;
    l->held--;
    attempt_free(a);
}
