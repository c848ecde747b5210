#include "api/hub_nodes.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define GATHER_US  20000
#define RESYNC_US  (HTTP_STREAM_BEAT_MS * 1000LL)
#define DEAF_US    2000000LL /* the same without a connection: nothing is heard */
#define AGAIN_MS   500       /* after a failure */
#define NOTICE_MAX 7900      /* PostgreSQL: less than 8000 bytes */
#define WORD_KEYS  "keys"
#define WORD_ALL   "all"

struct hub_nodes {
    struct hub_nodes_listener listener;
    struct db *own;
    pthread_t thread;
    bool running;
    int wake;

    pthread_mutex_t mutex; /* for all below */
    bool stop, active, full;
    struct buf words; /* to be told: IDs of buildings, WORD_KEYS */
};

static void rouse(struct hub_nodes *n)
{
    const uint64_t one = 1;
    const ssize_t written = write(n->wake, &one, sizeof one);
    (void)written;
}

static void put_word(struct hub_nodes *n, const char *word)
{
    if (n->words.n + ID_LEN + 1 > NOTICE_MAX)
        n->full = true;
    else
        buf_printf(&n->words, "%s%s", n->words.n ? " " : "", word);
}

void hub_nodes_note(struct hub_nodes *n, unsigned topics, const struct store_fed *fed)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->mutex);
    const bool quiet = !n->active || (!n->words.n && !n->full);
    n->active = true;
    if (topics & TOPIC_KEYS)
        put_word(n, WORD_KEYS);
    for (size_t i = 0; fed && i < fed->count; i++)
        put_word(n, fed->buildings[i].text);
    n->full |= fed && fed->more;
    if (quiet)
        rouse(n);
    pthread_mutex_unlock(&n->mutex);
}

/* ---- hearing ---- */

static void heard(void *context, struct str text)
{
    struct hub_nodes *n = context;
    struct store_fed fed = {.count = 0};
    unsigned topics = TOPIC_FEED;
    for (struct str rest = text; rest.p;) {
        const struct str word = str_cut(rest, ' ', &rest);
        if (str_eq(word, STR(WORD_KEYS)))
            topics |= TOPIC_KEYS;
        else if (str_eq(word, STR(WORD_ALL)))
            fed.more = true;
        else if (fed.count < STORE_FED_MAX && id_parse(word, &fed.buildings[fed.count]))
            fed.count++;
        else
            fed.more = true;
    }
    n->listener.heard(n->listener.context, topics, &fed);
}

/* ---- telling ---- */

static enum err tell_run(void *arg, struct db *db)
{
    CURSOR c;
    return db_one(db, SQL(feed_tell, .building_id = *(const struct str *)arg), &c);
}

/* Returns false on failure; then everybody is told to read all, later. */
static bool tell(struct hub_nodes *n)
{
    char space[NOTICE_MAX + 1];
    pthread_mutex_lock(&n->mutex);
    struct str text = n->full ? STR(WORD_ALL " " WORD_KEYS) : str_n(space, n->words.n);
    if (!n->full && n->words.n)
        memcpy(space, n->words.p, n->words.n);
    n->words.n = 0;
    n->full = false;
    pthread_mutex_unlock(&n->mutex);
    const bool told = store_own_run(n->own, tell_run, &text) == ERR_NONE;
    pthread_mutex_lock(&n->mutex);
    n->full |= !told;
    pthread_mutex_unlock(&n->mutex);
    return told;
}

/* ---- the thread ---- */

struct state {
    bool stop, active, pending;
};

static struct state look(struct hub_nodes *n)
{
    pthread_mutex_lock(&n->mutex);
    const struct state s = {n->stop, n->active, n->words.n || n->full};
    pthread_mutex_unlock(&n->mutex);
    return s;
}

static void drain(int fd)
{
    uint64_t count;
    const ssize_t got = read(fd, &count, sizeof count);
    (void)got;
}

static void pause_ms(const struct hub_nodes *n, int ms)
{
    (void)poll(&(struct pollfd){.fd = n->wake, .events = POLLIN}, 1, ms);
    drain(n->wake);
}

static int ms_until(int64_t at_us)
{
    const int64_t left_us = at_us - clock_monotonic_us();
    return left_us > 0 ? (int)(left_us / 1000) + 1 : 0;
}

/* Has all feeds with readers read again, if that was not done for so long. */
static void resync(struct hub_nodes *n, int64_t after_us, int64_t *synced_us)
{
    const int64_t now_us = clock_monotonic_us();
    if (now_us < *synced_us + after_us)
        return;
    n->listener.resync(n->listener.context);
    *synced_us = now_us;
}

static void *nodes_thread(void *arg)
{
    struct hub_nodes *n = arg;
    int64_t told_us = 0, synced_us = 0;
    for (struct state s = look(n); !s.stop; s = look(n)) {
        bool anew = false;
        if (!s.active) {
            pause_ms(n, HTTP_STREAM_BEAT_MS);
            continue;
        }
        const int wait_ms = ms_until(s.pending ? told_us + GATHER_US : synced_us + RESYNC_US);
        if (store_own_hear(n->own, n->wake, wait_ms, heard, n, &anew)) {
            resync(n, DEAF_US, &synced_us);
            pause_ms(n, AGAIN_MS);
            continue;
        }
        drain(n->wake);
        resync(n, anew ? 0 : RESYNC_US, &synced_us);
        if (look(n).pending && clock_monotonic_us() >= told_us + GATHER_US) {
            told_us = clock_monotonic_us();
            if (!tell(n))
                pause_ms(n, AGAIN_MS);
        }
    }
    return NULL;
}

enum err hub_nodes_new(struct store *store, struct hub_nodes_listener listener, struct hub_nodes **ret)
{
    struct db *own = store_own_new(store);
    *ret = NULL;
    if (!own)
        return ERR_NONE;
    struct hub_nodes *n = mem_new(struct hub_nodes);
    n->listener = listener;
    n->own = own;
    n->words = BUF(2 * NOTICE_MAX);
    pthread_mutex_init(&n->mutex, NULL);
    n->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    n->running = n->wake >= 0 && pthread_create(&n->thread, NULL, nodes_thread, n) == 0;
    if (!n->running) {
        hub_nodes_free(n);
        return ERR_IO;
    }
    *ret = n;
    return ERR_NONE;
}

void hub_nodes_free(struct hub_nodes *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->mutex);
    n->stop = true;
    pthread_mutex_unlock(&n->mutex);
    if (n->running) {
        rouse(n);
        pthread_join(n->thread, NULL);
    }
    if (n->wake >= 0)
        close(n->wake);
    buf_done(&n->words);
    pthread_mutex_destroy(&n->mutex);
    store_own_free(n->own);
    free(n);
}
