/* The questions of the hub to the store. */
#include <stdlib.h>

#include "api/hub_private.h"
#include "base/clock.h"
#include "base/mem.h"
#include "domain/building.h"
#include "domain/feed.h"
#include "domain/key.h"

#define BLOCK_MAX (1u << 20)

/* ---- events ---- */

static void put_event(struct buf *b, const struct feed_event *e)
{
    buf_printf(b, "id: %lld\nevent: %.*s\ndata: ", (long long)e->seq, STR_ARG(e->type));
    feed_put(b, e);
    buf_lit(b, "\n\n");
}

static struct hub_block *block_of(const struct feed_event *events, size_t count)
{
    struct hub_block *b = mem_new(struct hub_block);
    atomic_init(&b->references, 1);
    b->bytes = BUF(BLOCK_MAX);
    b->first = events[0].seq;
    for (; b->count < count && events[b->count].seq == b->first + (int64_t)b->count; b->count++) {
        const int type = str_index(events[b->count].type, feed_type_names);
        b->types[b->count] = type < 0 ? 0 : 1u << type;
        b->starts[b->count] = b->bytes.n;
        put_event(&b->bytes, &events[b->count]);
    }
    return b;
}

void hub_block_unref(struct hub_block *b)
{
    if (!b || atomic_fetch_sub(&b->references, 1) > 1)
        return;
    buf_done(&b->bytes);
    free(b);
}

struct reading {
    struct hub_read *reads;
    size_t count;
};

static enum err read_one(struct tx *tx, struct hub_read *r)
{
    const struct feed_event *events;
    size_t count;
    hub_block_unref(r->block);
    r->block = NULL;
    r->lost = r->more = false;
    enum err e = feed_read(tx, &r->building_id, r->after, HUB_LIMIT, &events, &count);
    if (e || !count)
        return e;
    r->lost = events[0].seq != r->after + 1;
    r->block = r->lost ? NULL : block_of(events, count);
    r->more = r->block && (count == HUB_LIMIT || r->block->count < count);
    return ERR_NONE;
}

static enum err read_run(void *arg, struct db *db)
{
    struct reading *r = arg;
    enum err e = ERR_NONE;
    for (size_t i = 0; !e && i < r->count; i++) {
        struct arena arena;
        arena_init(&arena, NULL, 0);
        e = read_one(&(struct tx){.arena = &arena, .db = db}, &r->reads[i]);
        arena_done(&arena);
    }
    return e;
}

enum err hub_read_feeds(struct store *s, struct hub_read *reads, size_t count)
{
    return store_run(s, STORE_READ, read_run, &(struct reading){reads, count});
}

/* ---- keys ---- */

struct checking {
    const struct config *config;
    struct hub_check *checks;
    size_t count;
};

static enum err check_building(struct tx *tx, const struct principal *who, const struct id *building)
{
    bool linked;
    if (id_given(&who->building_id))
        return id_equal(&who->building_id, building) ? ERR_NONE : ERR_BUILDING_NOT_FOUND;
    if (id_equal(&who->primary_id, building))
        return ERR_NONE;
    return building_of(tx, &who->account_id, building, &linked);
}

/* As the gate checks a request. A subscription that has ended also ends the stream, which may come back as any other
 * request of that key. */
static enum err check_reader(struct tx *tx, const struct hub_reader *r)
{
    struct principal who;
    enum err e = key_authenticate(tx, r->hash, &who);
    if (e)
        return e;
    if (who.expires_at_us <= tx->now_us || !id_equal(&who.key_id, &r->key_id))
        return ERR_INVALID_KEY;
    if ((r->scopes & ~who.scopes) || (r->subscribed && !who.subscribed))
        return ERR_INSUFFICIENT_SCOPE;
    return check_building(tx, &who, &r->building_id);
}

static bool is_refusal(enum err e)
{
    return e == ERR_INVALID_KEY || e == ERR_AUTHENTICATION_REQUIRED || e == ERR_INSUFFICIENT_SCOPE ||
           e == ERR_BUILDING_NOT_FOUND;
}

static enum err check_run(void *arg, struct db *db)
{
    struct checking *c = arg;
    struct arena arena;
    enum err e = ERR_NONE;
    arena_init(&arena, NULL, 0);
    struct tx tx = {.arena = &arena, .db = db, .config = c->config, .now_us = clock_now_us()};
    for (size_t i = 0; !e && i < c->count; i++) {
        e = check_reader(&tx, &c->checks[i].reader);
        c->checks[i].refused = is_refusal(e);
        e = is_refusal(e) ? ERR_NONE : e;
    }
    arena_done(&arena);
    return e;
}

enum err hub_check_keys(struct store *s, const struct config *c, struct hub_check *checks, size_t count)
{
    return store_run(s, STORE_READ, check_run, &(struct checking){c, checks, count});
}
