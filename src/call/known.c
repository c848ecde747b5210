#include "call/known.h"

#include <assert.h>
#include <glib.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/wait.h"
#include "call/call.h"
#include "domain/work.h"

#define DOORS_MAX  1024
#define OLD_US     (24 * 3600 * US_PER_S) /* after the last read, a door is not used any more */
#define PERIOD_US  (60 * US_PER_S)        /* between two reads of all doors, */
#define CHANGED_US (5 * US_PER_S)         /* and after a change */

struct known_door {
    char number[CALL_NUMBER_MAX]; /* dialled */
    int64_t read_us;              /* monotonic */
    uint64_t change, changed;     /* of the memory: before the read, and at the last change of the account */
    struct id account_id, building_id;
    char tones[4];
    struct release release;
    char phones[CALL_PHONES_MAX][CALL_NUMBER_MAX]; /* "": no such phone; the forwarding phone is the first */
    struct ring ring;                              /* without the numbers */
    bool browsers;
};

struct known {
    pthread_mutex_t lock; /* for the doors and their changes */
    GHashTable *doors;    /* known_door by number */
    uint64_t change;      /* counts changes */
    /* The thread that reads all doors. */
    bool started;
    struct rhythm rhythm;
    struct store *store;
    const struct config *config;
};

/* ---- a door ---- */

static void keep_number(char to[static CALL_NUMBER_MAX], struct str number)
{
    const size_t n = number.p && number.n < CALL_NUMBER_MAX ? number.n : 0;
    memcpy(to, n ? number.p : "", n);
    to[n] = '\0';
}

static void fill_door(struct known_door *to, const struct access_decision *d, uint64_t change)
{
    to->read_us = clock_monotonic_us();
    to->change = change;
    to->account_id = d->account_id;
    to->building_id = d->building_id;
    memcpy(to->tones, d->tones, sizeof to->tones);
    to->release = d->release;
    to->ring = d->ring;
    to->ring.quiet = 0;
    to->ring.quiet_browsers = false;
    to->browsers = d->browsers;
    keep_number(to->phones[0], d->forward_to);
    for (size_t i = 0; i < RING_PHONES_MAX; i++)
        keep_number(to->phones[1 + i], i < d->ring.count ? d->ring.numbers[i] : STR_NONE);
    memset(to->ring.numbers, 0, sizeof to->ring.numbers);
}

static struct access_decision decision_of(const struct known_door *door, struct arena *a)
{
    struct access_decision d = {.verdict = ACCESS_FORWARD,
                                .reason = ACCESS_FAILED,
                                .account_id = door->account_id,
                                .building_id = door->building_id,
                                .release = door->release,
                                .ring = door->ring,
                                .browsers = door->browsers};
    memcpy(d.tones, door->tones, sizeof d.tones);
    if (door->phones[0][0])
        d.forward_to = arena_str(a, str_z(door->phones[0]));
    for (size_t i = 0; i < d.ring.count; i++)
        d.ring.numbers[i] = arena_str(a, str_z(door->phones[1 + i]));
    return d;
}

/* ---- the memory; the callers hold the lock ---- */

static void drop_oldest(struct known *k)
{
    GHashTableIter at;
    gpointer door;
    const struct known_door *oldest = NULL;
    g_hash_table_iter_init(&at, k->doors);
    while (g_hash_table_iter_next(&at, NULL, &door))
        if (!oldest || ((const struct known_door *)door)->read_us < oldest->read_us)
            oldest = door;
    if (oldest)
        g_hash_table_remove(k->doors, oldest->number);
}

static void keep_door(struct known *k, const char *number, const struct access_decision *d, uint64_t change)
{
    assert(number);
    struct known_door *door = g_hash_table_lookup(k->doors, number);
    if (d->verdict == ACCESS_REJECT && d->reason == ACCESS_UNKNOWN_NUMBER) {
        g_hash_table_remove(k->doors, number);
        return;
    }
    if (!id_given(&d->building_id) || strlen(number) >= CALL_NUMBER_MAX)
        return;
    if (!door) {
        if (g_hash_table_size(k->doors) >= DOORS_MAX)
            drop_oldest(k);
        door = mem_new(struct known_door);
        memcpy(door->number, number, strlen(number) + 1);
        g_hash_table_insert(k->doors, door->number, door);
    }
    if (!id_equal(&door->account_id, &d->account_id)) /* its changes so far are not known */
        door->changed = k->change;
    fill_door(door, d, change);
}

uint64_t known_changes(struct known *k)
{
    if (!k)
        return 0;
    pthread_mutex_lock(&k->lock);
    const uint64_t changes = k->change;
    pthread_mutex_unlock(&k->lock);
    return changes;
}

void known_note(struct known *k, uint64_t changes, const char *number, const struct access_decision *d)
{
    if (!k)
        return;
    pthread_mutex_lock(&k->lock);
    keep_door(k, number, d, changes);
    pthread_mutex_unlock(&k->lock);
}

bool known_find(struct known *k, const char *number, struct arena *a, struct access_decision *ret)
{
    if (!k)
        return false;
    pthread_mutex_lock(&k->lock);
    const struct known_door *door = g_hash_table_lookup(k->doors, number);
    const bool found = door && door->change >= door->changed && clock_monotonic_us() - door->read_us < OLD_US;
    if (found)
        *ret = decision_of(door, a);
    pthread_mutex_unlock(&k->lock);
    return found;
}

static bool is_changed(const struct known_door *door, const struct store_fed *fed)
{
    for (size_t i = 0; i < fed->door_count; i++)
        if (id_equal(&fed->doors[i], &door->account_id))
            return true;
    return fed->all_doors;
}

void known_changed(struct known *k, const struct store_fed *fed)
{
    GHashTableIter at;
    gpointer value;
    if (!k)
        return;
    pthread_mutex_lock(&k->lock);
    k->change++;
    g_hash_table_iter_init(&at, k->doors);
    while (g_hash_table_iter_next(&at, NULL, &value)) {
        struct known_door *door = value;
        if (is_changed(door, fed))
            door->changed = k->change;
    }
    pthread_mutex_unlock(&k->lock);
}

/* ---- the read of all ---- */

/* The numbers are copied: calls note doors meanwhile. */
static char (*copy_numbers(struct known *k, struct arena *a, size_t *ret_count))[CALL_NUMBER_MAX]
{
    GHashTableIter at;
    gpointer number;
    size_t n = 0;
    pthread_mutex_lock(&k->lock);
    char(*list)[CALL_NUMBER_MAX] = arena_alloc(a, (g_hash_table_size(k->doors) + 1) * sizeof *list);
    g_hash_table_iter_init(&at, k->doors);
    while (g_hash_table_iter_next(&at, &number, NULL))
        memcpy(list[n++], number, CALL_NUMBER_MAX);
    pthread_mutex_unlock(&k->lock);
    *ret_count = n;
    return list;
}

struct door_read {
    struct known *known;
    uint64_t changes; /* before all reads */
    const char *number;
};

static enum err read_door(struct tx *tx, void *arg)
{
    const struct door_read *read = arg;
    struct access_decision d;
    enum err e = access_look(tx, str_z(read->number), STR_NONE, &d);
    if (!e)
        known_note(read->known, read->changes, read->number, &d);
    return e;
}

/* One after the other, so that they delay no other read. A door whose read fails stays as it was. */
static void read_doors(struct known *k, uint64_t changes)
{
    struct arena arena;
    size_t count;
    enum err e = ERR_NONE;
    arena_init(&arena, NULL, 0);
    char(*numbers)[CALL_NUMBER_MAX] = copy_numbers(k, &arena, &count);
    for (size_t i = 0; !e && i < count; i++)
        e = work_once(k->store, k->config, STORE_READ, read_door, &(struct door_read){k, changes, numbers[i]});
    arena_done(&arena);
}

static void *run_known(void *arg)
{
    struct known *k = arg;
    int64_t read_us = clock_monotonic_us();
    uint64_t seen = known_changes(k);
    while (rhythm_pause(&k->rhythm, clock_monotonic_us() + US_PER_S)) {
        const uint64_t changes = known_changes(k);
        if (clock_monotonic_us() - read_us < (changes == seen ? PERIOD_US : CHANGED_US))
            continue;
        read_us = clock_monotonic_us();
        seen = changes;
        read_doors(k, changes);
    }
    return NULL;
}

/* ---- life ---- */

struct known *known_new(void)
{
    struct known *k = mem_new(struct known);
    pthread_mutex_init(&k->lock, NULL);
    k->doors = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free);
    return k;
}

enum err known_start(struct known *k, struct store *s, const struct config *config)
{
    k->store = s;
    k->config = config;
    enum err e = rhythm_start(&k->rhythm, "doors", run_known, k);
    k->started = !e;
    return e;
}

void known_stop(struct known *k)
{
    if (k && k->started)
        rhythm_stop(&k->rhythm);
    if (k)
        k->started = false;
}

void known_free(struct known *k)
{
    if (!k)
        return;
    known_stop(k);
    g_hash_table_destroy(k->doors);
    pthread_mutex_destroy(&k->lock);
    free(k);
}
