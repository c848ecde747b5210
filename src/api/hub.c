#include "api/hub_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/mem.h"

#define CHECK_US   (HTTP_STREAM_BEAT_MS * 1000LL)
#define SOON_US    250000 /* after keys have changed; rounds do not follow faster */
#define AGAIN_US   250000 /* after the store has failed */
#define STREAMS_OF 4      /* three of so many connections may be streams */

/* ---- news ---- */

void hub_mark_grown(struct hub *h, struct hub_building *b)
{
    if (b->grown)
        TAILQ_REMOVE(&h->grown, b, grown_entry);
    b->grown = true;
    TAILQ_INSERT_HEAD(&h->grown, b, grown_entry);
    pthread_cond_signal(&h->wake);
}

static void mark_all(struct hub *h)
{
    GHashTableIter i;
    gpointer value;
    g_hash_table_iter_init(&i, h->buildings);
    while (g_hash_table_iter_next(&i, NULL, &value)) {
        struct hub_building *b = value;
        if (!b->grown)
            TAILQ_INSERT_TAIL(&h->grown, b, grown_entry);
        b->grown = true;
    }
    pthread_cond_signal(&h->wake);
}

static void mark_fed(struct hub *h, const struct store_fed *fed)
{
    for (size_t i = 0; i < fed->count && g_hash_table_size(h->buildings); i++) {
        struct hub_building *b = g_hash_table_lookup(h->buildings, fed->buildings[i].text);
        if (b)
            hub_mark_grown(h, b);
    }
    if (fed->more)
        mark_all(h);
}

/* The same as hub_changed, told by another node. */
static void hub_heard(void *context, unsigned topics, const struct store_fed *fed)
{
    struct hub *h = context;
    if (!(topics & (TOPIC_FEED | TOPIC_KEYS)))
        return;
    pthread_mutex_lock(&h->mutex);
    mark_fed(h, fed);
    h->keys_changed |= (topics & TOPIC_KEYS) != 0;
    if (topics & TOPIC_KEYS)
        pthread_cond_signal(&h->wake);
    pthread_mutex_unlock(&h->mutex);
}

/* Reads all feeds with readers again, after the feeds that are known to have grown. */
static void hub_resync(void *context)
{
    struct hub *h = context;
    pthread_mutex_lock(&h->mutex);
    mark_all(h);
    pthread_mutex_unlock(&h->mutex);
}

void hub_changed(struct hub *h, unsigned topics, const struct store_fed *fed)
{
    hub_heard(h, topics, fed);
    pthread_mutex_lock(&h->mutex);
    if (topics & (TOPIC_FEED | TOPIC_KEYS))
        hub_nodes_note(h->nodes, topics, fed);
    pthread_mutex_unlock(&h->mutex);
}

enum err hub_room(struct hub *h, const struct id *key)
{
    pthread_mutex_lock(&h->mutex);
    const guint count = GPOINTER_TO_UINT(g_hash_table_lookup(h->keys, key->text));
    const bool full = h->total >= h->most;
    pthread_mutex_unlock(&h->mutex);
    return full ? ERR_SERVICE_UNAVAILABLE : count >= HUB_STREAMS_A_KEY ? ERR_RATE_LIMIT_EXCEEDED : ERR_NONE;
}

/* ---- posts; with the mutex ---- */

static bool wants(const struct hub_stream *s, const struct hub_block *b)
{
    return s->given + 1 >= b->first && s->given < b->first + (int64_t)b->count - 1;
}

static void queue_post(struct hub *h, unsigned loop, struct hub_post *p)
{
    struct hub_loop *l = &h->loops[loop];
    *l->last = p;
    l->last = &p->next;
    if (!l->posted)
        mailbox_post(l->mailbox, &l->mail);
    l->posted = true;
}

static struct hub_post *post_new(size_t most, struct hub_block *b)
{
    struct hub_post *p = mem_bytes(sizeof *p + most * sizeof p->numbers[0]);
    *p = (struct hub_post){.block = b};
    if (b)
        atomic_fetch_add(&b->references, 1);
    return p;
}

/* Gives the block to the building's readers. Readers that came after it was read, and miss more, are read for again. */
static void give(struct hub *h, struct hub_building *b, struct hub_block *block)
{
    struct hub_post *posts[HTTP_MAX_LOOPS] = {NULL};
    struct hub_stream *s;
    size_t most = 0;
    TAILQ_FOREACH (s, &b->streams, sibling)
        most++;
    TAILQ_FOREACH (s, &b->streams, sibling) {
        if (!wants(s, block)) {
            if (s->given + 1 < block->first)
                hub_mark_grown(h, b);
            continue;
        }
        s->given = block->first + (int64_t)block->count - 1;
        if (!posts[s->loop])
            posts[s->loop] = post_new(most, block);
        posts[s->loop]->numbers[posts[s->loop]->count++] = s->number;
    }
    for (unsigned i = 0; i < HTTP_MAX_LOOPS; i++)
        if (posts[i])
            queue_post(h, i, posts[i]);
}

static void end_stream(struct hub *h, const struct hub_stream *s)
{
    struct hub_post *p = post_new(1, NULL);
    p->numbers[p->count++] = s->number;
    queue_post(h, s->loop, p);
}

/* ---- reading; on the hub's thread ---- */

static size_t take_grown(struct hub *h, struct hub_read *ret)
{
    size_t n = 0;
    struct hub_building *b;
    while (n < HUB_READS && (b = TAILQ_FIRST(&h->grown))) {
        TAILQ_REMOVE(&h->grown, b, grown_entry);
        b->grown = false;
        ret[n] = (struct hub_read){.building_id = b->id, .after = INT64_MAX};
        struct hub_stream *s;
        TAILQ_FOREACH (s, &b->streams, sibling)
            if (s->given < ret[n].after)
                ret[n].after = s->given;
        n++;
    }
    return n;
}

static void settle_read(struct hub *h, const struct hub_read *r, enum err e)
{
    struct hub_building *b = g_hash_table_lookup(h->buildings, r->building_id.text);
    struct hub_stream *s;
    if (!b)
        return;
    if (r->block && !e)
        give(h, b, r->block);
    if (r->more || e)
        hub_mark_grown(h, b);
    if (r->lost && !e) /* they come back, and are told to begin again */
        TAILQ_FOREACH (s, &b->streams, sibling)
            if (s->given <= r->after)
                end_stream(h, s);
}

/* Returns whether the store answered. Called with the mutex, which it gives up meanwhile. */
static bool read_grown(struct hub *h)
{
    struct hub_read reads[HUB_READS];
    const size_t n = take_grown(h, reads);
    pthread_mutex_unlock(&h->mutex);
    const enum err e = n ? hub_read_feeds(h->store, reads, n) : ERR_NONE;
    pthread_mutex_lock(&h->mutex);
    for (size_t i = 0; i < n; i++) {
        settle_read(h, &reads[i], e);
        hub_block_unref(reads[i].block);
    }
    return !e;
}

/* ---- keys; on the hub's thread ---- */

static bool round_due(const struct hub *h, int64_t now_us)
{
    const int64_t pause_us = h->keys_changed ? SOON_US : CHECK_US;
    return h->total && !h->checking && now_us >= h->checked_us + pause_us;
}

static void begin_round(struct hub *h, int64_t now_us)
{
    h->checking = true;
    h->keys_changed = false;
    h->checked_us = now_us;
    h->round++;
}

static size_t take_unchecked(struct hub *h, struct hub_check *ret)
{
    size_t n = 0;
    struct hub_stream *s;
    while (n < HUB_CHECKS && (s = TAILQ_FIRST(&h->streams)) && s->round != h->round) {
        ret[n++] = (struct hub_check){.number = s->number, .reader = s->reader};
        s->round = h->round;
        TAILQ_REMOVE(&h->streams, s, all);
        TAILQ_INSERT_TAIL(&h->streams, s, all);
    }
    h->checking = n == HUB_CHECKS;
    return n;
}

static void end_refused(struct hub *h, const struct hub_check *c)
{
    struct hub_building *b = g_hash_table_lookup(h->buildings, c->reader.building_id.text);
    struct hub_stream *s;
    if (b)
        TAILQ_FOREACH (s, &b->streams, sibling)
            if (s->number == c->number)
                end_stream(h, s);
}

static bool check_some(struct hub *h)
{
    struct hub_check checks[HUB_CHECKS];
    const size_t n = take_unchecked(h, checks);
    pthread_mutex_unlock(&h->mutex);
    const enum err e = n ? hub_check_keys(h->store, h->config, checks, n) : ERR_NONE;
    pthread_mutex_lock(&h->mutex);
    for (size_t i = 0; !e && i < n; i++)
        if (checks[i].refused)
            end_refused(h, &checks[i]);
    h->keys_changed |= e != ERR_NONE; /* the next round comes soon */
    return !e;
}

/* ---- the thread ---- */

static void wait_us(struct hub *h, int64_t us)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += us % US_PER_S * 1000;
    until.tv_sec += us / US_PER_S + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&h->wake, &h->mutex, &until);
}

static int64_t idle_us(const struct hub *h, int64_t now_us)
{
    if (!h->total)
        return CHECK_US;
    const int64_t due_us = h->checked_us + (h->keys_changed ? SOON_US : CHECK_US);
    return due_us > now_us ? due_us - now_us : 0;
}

static void *hub_thread(void *arg)
{
    struct hub *h = arg;
    pthread_mutex_lock(&h->mutex);
    while (!h->stop) {
        const int64_t now_us = clock_monotonic_us();
        bool answered = true;
        if (round_due(h, now_us))
            begin_round(h, now_us);
        if (!TAILQ_EMPTY(&h->grown))
            answered = read_grown(h);
        if (answered && h->checking)
            answered = check_some(h);
        if (!answered && !h->stop)
            wait_us(h, AGAIN_US);
        else if (TAILQ_EMPTY(&h->grown) && !h->checking && !h->stop && idle_us(h, now_us))
            wait_us(h, idle_us(h, now_us));
    }
    pthread_mutex_unlock(&h->mutex);
    return NULL;
}

/* ---- life ---- */

/* As the HTTP server computes its connections. */
static unsigned most_streams(const struct config *c)
{
    struct rlimit files;
    rlim_t connections = (rlim_t)c->http_connections;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / 2 < connections)
        connections = files.rlim_cur / 2;
    return (unsigned)(connections - connections / STREAMS_OF);
}

enum err hub_new(const struct config *c, struct store *store, struct hub **ret)
{
    struct hub *h = mem_new(struct hub);
    pthread_condattr_t monotonic;
    h->config = c;
    h->store = store;
    h->most = most_streams(c);
    h->buildings = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free);
    h->keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    TAILQ_INIT(&h->grown);
    TAILQ_INIT(&h->streams);
    pthread_mutex_init(&h->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&h->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&h->thread, NULL, hub_thread, h)) {
        hub_free(h);
        return ERR_IO;
    }
    h->running = true;
    enum err e = hub_nodes_new(store, (struct hub_nodes_listener){hub_heard, hub_resync, h}, &h->nodes);
    if (e)
        hub_free(h);
    else
        *ret = h;
    return e;
}

void hub_stop(struct hub *h)
{
    if (!h || !h->running)
        return;
    pthread_mutex_lock(&h->mutex);
    struct hub_nodes *nodes = h->nodes;
    h->nodes = NULL; /* the store's threads note no more */
    pthread_mutex_unlock(&h->mutex);
    hub_nodes_free(nodes);
    pthread_mutex_lock(&h->mutex);
    h->stop = true;
    pthread_cond_signal(&h->wake);
    pthread_mutex_unlock(&h->mutex);
    pthread_join(h->thread, NULL);
    h->running = false;
}

static void free_posts(struct hub_loop *l)
{
    while (l->first) {
        struct hub_post *p = l->first;
        l->first = p->next;
        hub_block_unref(p->block);
        free(p);
    }
    if (l->streams)
        g_hash_table_destroy(l->streams);
}

void hub_free(struct hub *h)
{
    if (!h)
        return;
    hub_stop(h);
    for (unsigned i = 0; i < HTTP_MAX_LOOPS; i++)
        free_posts(&h->loops[i]);
    g_hash_table_destroy(h->buildings);
    g_hash_table_destroy(h->keys);
    pthread_cond_destroy(&h->wake);
    pthread_mutex_destroy(&h->mutex);
    free(h);
}
