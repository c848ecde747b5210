/* The hub's own: hub.c has the registry and the thread, hub_stream.c what runs on the loops, hub_read.c the reads. */
#pragma once
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "api/hub.h"
#include "api/hub_nodes.h"
#include "base/mailbox.h"
#include "domain/tx.h"
#include "http/server.h"

#define HUB_READS  64  /* buildings in one transaction */
#define HUB_CHECKS 64  /* keys in one transaction */
#define HUB_LIMIT  200 /* events of one building in one transaction */

struct hub_building;

struct hub_stream {
    struct hub *hub;
    struct http_conn *conn;
    unsigned loop;
    uint64_t number; /* never used again */
    struct hub_reader reader;
    int64_t seq; /* of the last event that was sent; the loop's */

    /* The rest is guarded by the hub's mutex. */
    int64_t given; /* the last event that was posted to the loop */
    unsigned round;
    struct hub_building *building;
    TAILQ_ENTRY(hub_stream) all, sibling;
};
TAILQ_HEAD(hub_streams, hub_stream);

struct hub_building {
    struct id id;
    struct hub_streams streams;
    bool grown; /* in the hub's list `grown` */
    TAILQ_ENTRY(hub_building) grown_entry;
};

TAILQ_HEAD(hub_grown, hub_building);

/* Rendered events, shared by the loops. */
struct hub_block {
    atomic_uint references;
    int64_t first; /* number of the first event */
    size_t count;
    size_t starts[HUB_LIMIT];  /* where each begins */
    uint32_t types[HUB_LIMIT]; /* 1 << enum feed_type of each */
    struct buf bytes;
};

/* Work for a loop. */
struct hub_post {
    struct hub_post *next;
    struct hub_block *block; /* NULL: the streams must end */
    size_t count;
    uint64_t numbers[]; /* of the streams */
};

struct hub_loop {
    GHashTable *streams; /* by number; the loop's own */
    struct mailbox *mailbox;
    struct mail mail;
    /* Guarded by the hub's mutex. */
    struct hub_post *first, **last;
    bool posted;
    struct hub *hub;
};

struct hub {
    const struct config *config;
    struct store *store;
    struct hub_nodes *nodes; /* NULL: one process has the store */
    pthread_t thread;
    bool running;
    unsigned most;

    pthread_mutex_t mutex; /* for all below */
    pthread_cond_t wake;
    bool stop;
    GHashTable *buildings; /* by ID */
    GHashTable *keys;      /* key ID -> number of its streams */
    struct hub_grown grown;
    struct hub_streams streams; /* those whose keys were checked longest ago come first */
    unsigned total, round;
    bool checking;      /* keys are being checked: of streams that do not have `round` yet */
    bool keys_changed;  /* since the last round began */
    int64_t checked_us; /* when it began, monotonic */
    uint64_t numbers;
    struct hub_loop loops[HTTP_MAX_LOOPS];
};

/* ---- hub_read.c ---- */

/* A building whose feed is to be read. */
struct hub_read {
    struct id building_id;
    int64_t after;
    struct hub_block *block; /* of the events that were read; NULL: none */
    bool lost;               /* the events after `after` are gone */
    bool more;
};
/* In one transaction. *ret: the blocks belong to the caller. */
enum err hub_read_feeds(struct store *s, struct hub_read *reads, size_t count) CHECKED;
void hub_block_unref(struct hub_block *b);

struct hub_check {
    uint64_t number;
    struct hub_reader reader;
    bool refused; /* the key may not read the building any more */
};
enum err hub_check_keys(struct store *s, const struct config *c, struct hub_check *checks, size_t count) CHECKED;

/* ---- hub.c ---- */
/* It is read next. */
void hub_mark_grown(struct hub *h, struct hub_building *b);
