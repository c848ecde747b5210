/* Reads that were submitted as jobs: one thread of their own, so that they never hold up the writer. */
#include "store/sqlite.h"

static enum err run_job(void *arg, struct db *db)
{
    struct store_job *job = arg;
    return job->run(job, db);
}

static void *reader(void *arg)
{
    struct sqlite_store *s = arg;
    struct sqlite_reader *r = &s->reader;
    for (;;) {
        struct store_job *job = job_queue_take(&r->queue);
        if (job)
            job->done(job, sqlite_read(&s->base, run_job, job));
        else if (atomic_load(&r->stop))
            return NULL;
        else
            job_queue_wait(&r->queue);
    }
}

enum err sqlite_reader_start(struct sqlite_store *s)
{
    if (pthread_create(&s->reader.thread, NULL, reader, s))
        return ERR_IO;
    s->reader.running = true;
    return ERR_NONE;
}

void sqlite_reader_stop(struct sqlite_store *s)
{
    if (!s->reader.running)
        return;
    atomic_store(&s->reader.stop, true);
    job_queue_wake(&s->reader.queue);
    pthread_join(s->reader.thread, NULL);
    s->reader.running = false;
}
