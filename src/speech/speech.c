#include "speech/speech.h"

#include <glib.h>
#include <pthread.h>
#include <re/re.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/container_of.h"
#include "base/log.h"
#include "speech/clips.h"
#include "speech/synth.h"

#define NICE_SPEECH 5

/* A text or a recording: asked for, or in the cache. */
struct entry {
    struct mail mail;
    struct le waiting; /* in speech->waiting */
    struct le used;    /* in speech->used, once ready */
    struct speech *speech;
    struct clip *clip;
    bool ready;
    bool failed;
    size_t length;
    char key[]; /* NUL-terminated: T and the text, or R and the name of a recording */
};

struct speech {
    struct speech_options options;
    pthread_t thread;
    GHashTable *entries; /* by key */
    struct list used;    /* of the ready ones, the least recently used first */
    size_t bytes;        /* of the ready ones */
    unsigned pending;    /* entries that are not ready */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct list waiting; /* for the thread; the next one first */
    bool stop;
};

/* ---- the cache ---- */

static void entry_free(void *arg)
{
    struct entry *e = arg;
    list_unlink(&e->used);
    list_unlink(&e->waiting);
    clip_unref(e->clip);
    free(e);
}

static size_t entry_bytes(const struct entry *e)
{
    return sizeof *e + e->length + (e->clip ? sizeof *e->clip + e->clip->length : 0);
}

static void entry_drop(struct speech *s, struct entry *e)
{
    s->bytes -= entry_bytes(e);
    g_hash_table_remove(s->entries, e->key);
}

static void on_prepared(struct mail *m)
{
    struct entry *e = container_of(m, struct entry, mail);
    struct speech *s = e->speech;
    s->pending--;
    e->ready = true;
    log_debug("speech prepared kind=%s samples=%u waiting=%u", e->key[0] == 'T' ? "text" : "recording",
              e->clip ? e->clip->length : 0, s->pending);
    list_append(&s->used, &e->used, e);
    s->bytes += entry_bytes(e);
    while (s->bytes > s->options.cache_bytes)
        entry_drop(s, list_ledata(s->used.head));
}

/* ---- the thread ---- */

static struct entry *next_entry(struct speech *s)
{
    pthread_mutex_lock(&s->lock);
    while (!s->waiting.head && !s->stop)
        pthread_cond_wait(&s->wake, &s->lock);
    struct entry *e = s->stop ? NULL : list_ledata(s->waiting.head);
    if (e)
        list_unlink(&e->waiting);
    pthread_mutex_unlock(&s->lock);
    return e;
}

static struct clip *say(struct str text)
{
    for (const struct rendered *r = clips; r->text; r++)
        if (str_eq(text, str_z(r->text))) {
            struct clip *clip = clip_new(r->length);
            memcpy(clip->ulaw, r->ulaw, r->length);
            return clip;
        }
    return synth_render(text);
}

static void prepare_entry(const struct speech *s, struct entry *e)
{
    const struct str name = str_n(e->key + 1, e->length - 1);
    if (e->key[0] == 'T')
        e->clip = say(name);
    else
        e->failed = !s->options.fetch(s->options.arg, name, &e->clip);
}

/* Packets come first, also if the service was started with a real-time priority. */
static void yield_to_calls(void)
{
    (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &(struct sched_param){0});
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE_SPEECH); /* Linux: of this thread alone */
}

static void *speech_run(void *arg)
{
    struct speech *s = arg;
    struct entry *e;
    yield_to_calls();
    while ((e = next_entry(s))) {
        prepare_entry(s, e);
        e->mail.run = on_prepared;
        mailbox_post(s->options.box, &e->mail);
    }
    return NULL;
}

/* ---- asking ---- */

static void entry_queue(struct entry *e, bool first)
{
    struct speech *s = e->speech;
    pthread_mutex_lock(&s->lock);
    (first ? list_prepend : list_append)(&s->waiting, &e->waiting, e);
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

/* Moves it to the front, unless the thread has it. */
static void entry_hurry(struct entry *e)
{
    struct speech *s = e->speech;
    pthread_mutex_lock(&s->lock);
    if (e->waiting.list) {
        list_unlink(&e->waiting);
        list_prepend(&s->waiting, &e->waiting, e);
    }
    pthread_mutex_unlock(&s->lock);
}

/* The entry; a new one is queued. NULL if too many wait. */
static struct entry *entry_get(struct speech *s, const struct speech_source *source, bool first)
{
    const size_t length = source->name.n + 1;
    struct entry *e = mem_new_with(struct entry, length + 1);
    e->speech = s;
    e->length = length;
    e->key[0] = source->recording ? 'R' : 'T';
    memcpy(e->key + 1, source->name.p, source->name.n);
    struct entry *known = g_hash_table_lookup(s->entries, e->key);
    if (known || s->pending == SPEECH_QUEUE_MAX) {
        free(e);
        return known;
    }
    s->pending++;
    g_hash_table_insert(s->entries, e->key, e);
    entry_queue(e, first);
    return e;
}

static void entry_touch(struct speech *s, struct entry *e)
{
    list_unlink(&e->used);
    list_append(&s->used, &e->used, e);
}

void speech_ask(struct speech *s, const struct speech_source *source)
{
    struct entry *e = entry_get(s, source, false);
    if (e && e->ready)
        entry_touch(s, e);
}

void speech_ask_ahead(struct speech *s, const struct speech_source *source)
{
    if (s->pending < SPEECH_AHEAD_MAX)
        speech_ask(s, source);
}

enum speech_state speech_take(struct speech *s, const struct speech_source *source, struct clip **ret)
{
    struct entry *e = entry_get(s, source, true);
    if (!e)
        return SPEECH_REFUSED;
    if (!e->ready) {
        entry_hurry(e);
        return SPEECH_PENDING;
    }
    entry_touch(s, e);
    *ret = clip_ref(e->clip);
    if (e->failed) /* the next call tries again */
        entry_drop(s, e);
    return SPEECH_READY;
}

/* ---- life ---- */

static void speech_release(struct speech *s)
{
    g_hash_table_destroy(s->entries);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

enum err speech_new(struct speech **ret, const struct speech_options *options)
{
    enum err e = synth_load();
    if (e)
        return e;
    struct speech *s = mem_new(struct speech);
    s->options = *options;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    s->entries = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, entry_free);
    if (pthread_create(&s->thread, NULL, speech_run, s)) {
        speech_release(s);
        return ERR_IO;
    }
    pthread_setname_np(s->thread, "speech");
    *ret = s;
    return ERR_NONE;
}

void speech_free(struct speech *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    speech_release(s);
}
