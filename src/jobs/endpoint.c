#include "jobs/endpoint.h"

#include <assert.h>
#include <glib.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

#define SLOW_US US_PER_S /* a slower answer makes the endpoint slow */

/* How long an endpoint without attempts is remembered. A slow one is remembered for longer than the longest pause
 * between two attempts, unless there are too many. */
#define KEPT_US      (60 * US_PER_S)
#define SLOW_KEPT_US (3 * 3600 * US_PER_S)
#define SLOW_MANY    4096

struct endpoint {
    struct id webhook_id, account_id;
    struct attempt *held; /* a list */
    unsigned held_count, active;
    unsigned window; /* the most that may be active */
    bool slow;
    int64_t used_us; /* monotonic: the end of the last attempt */
};

struct endpoints {
    GHashTable *table; /* by webhook_id */
    unsigned held, active, active_slow;
};

struct endpoints *endpoints_new(void)
{
    struct endpoints *s = mem_new(struct endpoints);
    s->table = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free);
    return s;
}

static void free_held(gpointer key, gpointer value, gpointer unused)
{
    struct endpoint *endpoint = value;
    (void)key, (void)unused;
    while (endpoint->held) {
        struct attempt *a = endpoint->held;
        endpoint->held = a->next;
        attempt_free(a);
    }
}

void endpoints_free(struct endpoints *s)
{
    if (!s)
        return;
    g_hash_table_foreach(s->table, free_held, NULL);
    g_hash_table_destroy(s->table);
    free(s);
}

unsigned endpoints_held(const struct endpoints *s)
{
    return s->held;
}

static unsigned min_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* max - used, but never below 0. */
static unsigned remaining(unsigned max, unsigned used)
{
    return max - min_of(used, max);
}

unsigned endpoints_room(const struct endpoints *s)
{
    return min_of(remaining(ENDPOINTS_ACTIVE_MAX, s->active), remaining(ENDPOINTS_HELD_MAX, s->held));
}

/* ---- the offer ---- */

/* Endpoints that were last used before are evicted. */
struct horizon {
    int64_t us, slow_us;
};

static gboolean is_expired(gpointer key, gpointer value, gpointer arg)
{
    const struct endpoint *endpoint = value;
    const struct horizon *horizon = arg;
    (void)key;
    return !endpoint->held && endpoint->used_us < (endpoint->slow ? horizon->slow_us : horizon->us);
}

static void evict_expired(struct endpoints *s)
{
    int64_t now_us = clock_monotonic_us();
    bool many = g_hash_table_size(s->table) > SLOW_MANY;
    struct horizon horizon = {.us = now_us - KEPT_US, .slow_us = now_us - (many ? KEPT_US : SLOW_KEPT_US)};
    g_hash_table_foreach_remove(s->table, is_expired, &horizon);
}

static int compare_endpoints(const void *a, const void *b)
{
    return strcmp((*(struct endpoint *const *)a)->webhook_id.text, (*(struct endpoint *const *)b)->webhook_id.text);
}

static struct endpoint **sorted_endpoints(const struct endpoints *s, struct arena *a, size_t count)
{
    struct endpoint **list = arena_array(a, struct endpoint *, count + 1);
    GHashTableIter i;
    gpointer endpoint;
    size_t n = 0;
    g_hash_table_iter_init(&i, s->table);
    while (g_hash_table_iter_next(&i, NULL, &endpoint))
        list[n++] = endpoint;
    if (n)
        qsort(list, n, sizeof(struct endpoint *), compare_endpoints);
    return list;
}

static const struct id *held_ids(const struct endpoint *endpoint, struct arena *a)
{
    struct id *ids = arena_array(a, struct id, endpoint->held_count);
    size_t n = 0;
    for (const struct attempt *i = endpoint->held; i; i = i->next)
        ids[n++] = i->result.id;
    return ids;
}

void endpoints_offer(struct endpoints *s, struct arena *a, struct delivery_take *ret)
{
    evict_expired(s);
    size_t count = g_hash_table_size(s->table);
    struct endpoint **list = sorted_endpoints(s, a, count);
    struct delivery_lane *lanes = arena_array(a, struct delivery_lane, count + 1);
    for (size_t i = 0; i < count; i++)
        lanes[i] =
            (struct delivery_lane){.webhook_id = list[i]->webhook_id,
                                   .account_id = list[i]->account_id,
                                   .held = held_ids(list[i], a),
                                   .held_count = list[i]->held_count,
                                   .active = list[i]->active,
                                   .room = min_of(remaining(list[i]->window, list[i]->active), ENDPOINT_OFFER_MAX),
                                   .slow = list[i]->slow};
    ret->lanes = lanes;
    ret->lane_count = count;
    ret->lane_room = ENDPOINT_WINDOW_FIRST;
    ret->room = min_of(endpoints_room(s), ENDPOINTS_OFFER_MAX);
    ret->slow_room = remaining(ENDPOINTS_SLOW_MAX, s->active_slow);
    ret->account_max = ENDPOINTS_ACTIVE_MAX / ENDPOINTS_ACCOUNT;
    ret->account_slow_max = ENDPOINTS_SLOW_MAX / ENDPOINTS_ACCOUNT;
}

/* ---- attempts ---- */

static struct endpoint *find_or_add(struct endpoints *s, const struct id *webhook, const struct id *account)
{
    struct endpoint *endpoint = g_hash_table_lookup(s->table, webhook->text);
    if (endpoint)
        return endpoint;
    endpoint = mem_new(struct endpoint);
    endpoint->webhook_id = *webhook;
    endpoint->account_id = *account;
    endpoint->window = ENDPOINT_WINDOW_FIRST;
    g_hash_table_insert(s->table, endpoint->webhook_id.text, endpoint);
    return endpoint;
}

void endpoints_begin(struct endpoints *s, struct attempt *a)
{
    struct endpoint *endpoint = find_or_add(s, &a->result.webhook_id, &a->account_id);
    a->endpoint = endpoint;
    a->began_us = clock_monotonic_us();
    a->previous = NULL;
    a->next = endpoint->held;
    if (a->next)
        a->next->previous = a;
    endpoint->held = a;
    endpoint->held_count++;
    endpoint->active++;
    s->held++;
    s->active++;
    s->active_slow += endpoint->slow;
}

static void set_slow(struct endpoints *s, struct endpoint *endpoint, bool slow)
{
    if (endpoint->slow && !slow)
        s->active_slow -= endpoint->active;
    if (!endpoint->slow && slow)
        s->active_slow += endpoint->active;
    endpoint->slow = slow;
}

void endpoints_end(struct endpoints *s, struct attempt *a)
{
    struct endpoint *endpoint = a->endpoint;
    assert(endpoint->active > 0);
    endpoint->used_us = clock_monotonic_us();
    endpoint->active--;
    s->active--;
    s->active_slow -= endpoint->slow;
    if (a->post.timed_out) {
        endpoint->window = 1;
        set_slow(s, endpoint, true);
    } else if (a->post.status) {
        endpoint->window = min_of(2 * endpoint->window, ENDPOINT_WINDOW_MAX);
        set_slow(s, endpoint, endpoint->used_us - a->began_us > SLOW_US);
    }
}

void endpoints_remove(struct endpoints *s, struct attempt *a)
{
    struct endpoint *endpoint = a->endpoint;
    if (a->next)
        a->next->previous = a->previous;
    if (a->previous)
        a->previous->next = a->next;
    else
        endpoint->held = a->next;
    endpoint->held_count--;
    s->held--;
    attempt_free(a);
}
