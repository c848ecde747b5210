#include "store/queue.h"

void job_queue_push(struct job_queue *q, struct store_job *job)
{
    struct store_job *newest = atomic_load_explicit(&q->newest, memory_order_relaxed);
    do
        job->next = newest;
    while (
        !atomic_compare_exchange_weak_explicit(&q->newest, &newest, job, memory_order_acq_rel, memory_order_relaxed));
    if (!newest)
        unpark(&q->taker);
}

void job_queue_wake(struct job_queue *q)
{
    unpark(&q->taker);
}

struct store_job *job_queue_take(struct job_queue *q)
{
    if (!q->oldest) {
        struct store_job *job = atomic_exchange_explicit(&q->newest, NULL, memory_order_acq_rel);
        while (job) {
            struct store_job *next = job->next;
            job->next = q->oldest;
            q->oldest = job;
            job = next;
        }
    }
    struct store_job *job = q->oldest;
    if (job)
        q->oldest = job->next;
    return job;
}

void job_queue_wait(struct job_queue *q)
{
    if (!q->oldest && !atomic_load(&q->newest))
        park(&q->taker);
}
