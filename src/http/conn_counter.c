#include "http/conn_counter.h"

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/metric.h"

struct http_conn_counter {
    unsigned most, most_per_address;
    atomic_uint total;
    pthread_mutex_t lock;
    GHashTable *counts; /* 64 bits of the address's block -> count; under the lock */
};

/* Only one half of a block has bits set: the first half for IPv6, the second for a mapped IPv4 address. */
static gint64 address_block(const struct net_address *a)
{
    struct net_address block = net_address_block(a);
    gint64 high, low;
    memcpy(&high, block.bytes, sizeof high);
    memcpy(&low, block.bytes + sizeof high, sizeof low);
    return high ? high : low;
}

struct http_conn_counter *http_conn_counter_new(unsigned most, unsigned most_per_address)
{
    struct http_conn_counter *c = mem_new(struct http_conn_counter);
    c->most = most;
    c->most_per_address = most_per_address;
    atomic_init(&c->total, 0);
    pthread_mutex_init(&c->lock, NULL);
    c->counts = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    return c;
}

void http_conn_counter_free(struct http_conn_counter *c)
{
    if (!c)
        return;
    g_hash_table_destroy(c->counts);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static bool add_to_block(struct http_conn_counter *c, const struct net_address *a)
{
    gint64 block = address_block(a);
    pthread_mutex_lock(&c->lock);
    unsigned count = GPOINTER_TO_UINT(g_hash_table_lookup(c->counts, &block));
    bool room = count < c->most_per_address;
    if (room)
        g_hash_table_insert(c->counts, g_memdup2(&block, sizeof block), GUINT_TO_POINTER(count + 1));
    pthread_mutex_unlock(&c->lock);
    return room;
}

static void remove_from_block(struct http_conn_counter *c, const struct net_address *a)
{
    gint64 block = address_block(a);
    pthread_mutex_lock(&c->lock);
    unsigned count = GPOINTER_TO_UINT(g_hash_table_lookup(c->counts, &block));
    if (count > 1)
        g_hash_table_insert(c->counts, g_memdup2(&block, sizeof block), GUINT_TO_POINTER(count - 1));
    else
        g_hash_table_remove(c->counts, &block);
    pthread_mutex_unlock(&c->lock);
}

enum http_admission http_conn_counter_add(struct http_conn_counter *c, const struct net_address *a, bool exempt)
{
    if (atomic_fetch_add_explicit(&c->total, 1, memory_order_relaxed) >= c->most) {
        atomic_fetch_sub_explicit(&c->total, 1, memory_order_relaxed);
        return HTTP_FULL;
    }
    if (!exempt && !add_to_block(c, a)) {
        atomic_fetch_sub_explicit(&c->total, 1, memory_order_relaxed);
        return HTTP_ADDRESS_FULL;
    }
    metric_add(metrics.http_connections, 1);
    return HTTP_ADMITTED;
}

void http_conn_counter_remove(struct http_conn_counter *c, const struct net_address *a, bool exempt)
{
    atomic_fetch_sub_explicit(&c->total, 1, memory_order_relaxed);
    metric_add(metrics.http_connections, -1);
    if (!exempt)
        remove_from_block(c, a);
}
