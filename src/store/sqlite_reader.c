/* Submitted reads. They run on separate threads so that they do not delay the writer; lengthy reads have another thread
 * so that they do not delay other reads. */
#include <sys/resource.h>
#include <unistd.h>

#include "store/sqlite.h"

#define NICE_LENGTHY 10 /* requests and calls come first */

static void *reader(void *arg)
{
    struct sqlite_reader *r = arg;
    struct sqlite_store *s = r->store;
    if (r->lengthy)
        (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE_LENGTHY); /* Linux: of this thread alone */
    for (;;) {
        struct store_task *task = task_queue_take(&r->queue);
        if (task && r->lengthy)
            sqlite_checkpoint_offer(s);
        if (task)
            store_task_done(task, sqlite_read(&s->base, store_task_run, task));
        else if (atomic_load(&r->stop))
            return NULL;
        else
            task_queue_wait(&r->queue, -1);
    }
}

static enum err reader_start(struct sqlite_store *s, struct sqlite_reader *r, bool lengthy)
{
    r->store = s;
    r->lengthy = lengthy;
    if (pthread_create(&r->thread, NULL, reader, r))
        return ERR_IO;
    r->running = true;
    return ERR_NONE;
}

static void reader_stop(struct sqlite_reader *r)
{
    if (!r->running)
        return;
    atomic_store(&r->stop, true);
    task_queue_wake(&r->queue);
    pthread_join(r->thread, NULL);
    r->running = false;
}

enum err sqlite_readers_start(struct sqlite_store *s)
{
    enum err e = reader_start(s, &s->reader, false);
    return e ? e : reader_start(s, &s->lengthy_reader, true);
}

void sqlite_readers_stop(struct sqlite_store *s)
{
    reader_stop(&s->reader);
    reader_stop(&s->lengthy_reader);
}
