#include "call/story_task.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/log.h"
#include "base/mem.h"

#define REPEAT_US     (10 * US_PER_S)
#define REPEAT_FOR_US (3600 * US_PER_S)
#define FAILED_MAX    1000 /* writes that wait to be repeated */

/* A write of a call. The next one of the call is submitted when this one is done. */
struct story_task {
    struct store_task task;
    struct story story;
    int64_t at_ms; /* the end of the call; -1: it goes on */
    struct store *store;
    const struct config *config;
    struct story_task *next; /* waits for this one */
    unsigned references;     /* of the story, and of the store */
    bool done;
    struct story_task *later;    /* in `failed` */
    int64_t failed_us, again_us; /* the first failure, 0: none; and the next attempt: monotonic */
};

/* For the members from `next` on, and for `failed`. A call writes seldom, so one lock serves all. */
static pthread_mutex_t chains = PTHREAD_MUTEX_INITIALIZER;

/* The writes that wait to be repeated, with all that follows each. */
static struct {
    struct story_task *first;
    size_t count;
} failed;

static void story_unref(struct story_task *t)
{
    pthread_mutex_lock(&chains);
    const bool last = t && --t->references == 0;
    pthread_mutex_unlock(&chains);
    if (last)
        free(t);
}

static enum err story_task_run(struct store_task *task, struct db *db)
{
    struct story_task *t = container_of(task, struct story_task, task);
    struct story story = t->story; /* the task may run again */
    struct arena arena;
    arena_init(&arena, NULL, 0);
    struct tx tx = {.arena = &arena, .db = db, .config = t->config, .now_us = clock_now_us()};
    const enum err e = t->at_ms >= 0 ? story_write(&tx, &story, t->at_ms) : story_feed(&tx, &story);
    arena_done(&arena);
    return e;
}

/* All that is known of a call whose record is lost. Its steps have neither keys nor codes. */
static void log_lost(const struct story_task *t, enum err why)
{
    const struct call_arrival *a = &t->story.arrival;
    const struct call_end *end = &t->story.end;
    char steps[CALL_RECORD_STEPS_MAX + 1];
    size_t n = t->story.n;
    memcpy(steps, t->story.steps, n);
    while (n && steps[n - 1] == '\n')
        n--;
    for (size_t i = 0; i < n; i++)
        steps[i] = steps[i] == '\n' ? ';' : steps[i];
    log_error("call record not written call=%s error=%s account=%s building=%s number=%s caller=%s source=%s "
              "started_us=%lld lasted_ms=%lld outcome=%s reason=%s grant=%s resident_opened=%d steps=\"%.*s\"",
              a->id.text, err_info(why)->code, end->account_id.text, end->building_id.text, a->dialled, a->caller,
              a->source, (long long)a->started_us, (long long)t->at_ms, call_record_outcome_names[end->outcome],
              access_reason_names[end->reason], end->grant_id.text, end->resident_opened, (int)n, steps);
}

/* Returns the write that has waited for this one. */
static struct story_task *story_task_end(struct story_task *t)
{
    pthread_mutex_lock(&chains);
    struct story_task *next = t->next;
    t->done = true;
    pthread_mutex_unlock(&chains);
    story_unref(t);
    return next;
}

/* Lets the write wait to be repeated. Returns false if it must not. */
static bool story_put_off(struct story_task *t)
{
    const int64_t now_us = clock_monotonic_us();
    pthread_mutex_lock(&chains);
    t->failed_us = t->failed_us ? t->failed_us : now_us;
    const bool puts = now_us - t->failed_us < REPEAT_FOR_US && failed.count < FAILED_MAX;
    if (puts) {
        t->again_us = now_us + REPEAT_US;
        t->later = failed.first;
        failed.first = t;
        failed.count++;
    }
    pthread_mutex_unlock(&chains);
    return puts;
}

static void story_task_done(struct store_task *task, enum err result)
{
    struct story_task *t = container_of(task, struct story_task, task);
    if (result && story_put_off(t))
        return;
    if (result)
        log_lost(t, result);
    struct story_task *next = story_task_end(t);
    if (next)
        store_submit(next->store, &next->task);
}

/* Takes a write that is due; `all`: any. */
static struct story_task *take_failed(int64_t now_us, bool all)
{
    pthread_mutex_lock(&chains);
    struct story_task **at = &failed.first;
    while (*at && !all && (*at)->again_us > now_us)
        at = &(*at)->later;
    struct story_task *t = *at;
    if (t) {
        *at = t->later;
        failed.count--;
    }
    pthread_mutex_unlock(&chains);
    return t;
}

void story_repeat(bool all)
{
    const int64_t now_us = clock_monotonic_us();
    struct story_task *t;
    while ((t = take_failed(now_us, all)))
        store_submit(t->store, &t->task);
}

void story_stop(void)
{
    struct story_task *t;
    while ((t = take_failed(0, true)))
        while (t) {
            log_lost(t, ERR_SERVICE_UNAVAILABLE);
            t = story_task_end(t);
        }
}

/* Submits t, or has the last write of the call do it. */
static void story_follow(struct story *s, struct story_task *t)
{
    struct story_task *last = s->last;
    pthread_mutex_lock(&chains);
    const bool waits = last && !last->done;
    if (waits)
        last->next = t;
    pthread_mutex_unlock(&chains);
    if (!waits)
        store_submit(t->store, &t->task);
    story_unref(last);
}

static struct story_task *story_task_new(const struct story *s, int64_t at_ms, struct store *store,
                                         const struct config *config, unsigned references)
{
    struct story_task *t = mem_new(struct story_task);
    t->task = (struct store_task){.mode = STORE_WRITE, .run = story_task_run, .done = story_task_done};
    t->story = *s;
    t->at_ms = at_ms;
    t->store = store;
    t->config = config;
    t->references = references;
    return t;
}

void story_live(struct story *s, struct store *store, const struct config *config)
{
    if (!story_has_news(s))
        return;
    struct story_task *t = story_task_new(s, -1, store, config, 2);
    s->fed = s->n;
    s->unlogged = false;
    story_follow(s, t);
    s->last = t;
}

void story_drop(struct story *s)
{
    story_unref(s->last);
    s->last = NULL;
}

void story_submit(struct story *s, int64_t at_ms, struct store *store, const struct config *config)
{
    if (s->recorded)
        story_follow(s, story_task_new(s, at_ms, store, config, 1));
    else
        story_unref(s->last);
    s->last = NULL;
}
