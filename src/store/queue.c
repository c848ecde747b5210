#include "store/queue.h"

void job_queue_push(struct job_queue *q, struct store_job *job)
{
    struct job_list *l = job->urgent ? &q->urgent : &q->others;
    struct store_job *newest = atomic_load_explicit(&l->newest, memory_order_relaxed);
    do
        job->next = newest;
    while (
        !atomic_compare_exchange_weak_explicit(&l->newest, &newest, job, memory_order_acq_rel, memory_order_relaxed));
    if (!newest)
        unpark(&q->taker);
}

void job_queue_wake(struct job_queue *q)
{
    unpark(&q->taker);
}

struct store_job *job_list_take(struct job_list *l)
{
    if (!l->oldest && atomic_load_explicit(&l->newest, memory_order_relaxed)) {
        struct store_job *job = atomic_exchange_explicit(&l->newest, NULL, memory_order_acq_rel);
        while (job) {
            struct store_job *next = job->next;
            job->next = l->oldest;
            l->oldest = job;
            job = next;
        }
    }
    struct store_job *job = l->oldest;
    if (job)
        l->oldest = job->next;
    return job;
}

struct store_job *job_queue_take(struct job_queue *q)
{
    struct store_job *job = job_list_take(&q->urgent);
    return job ? job : job_list_take(&q->others);
}

static bool is_empty(struct job_list *l)
{
    return !l->oldest && !atomic_load(&l->newest);
}

void job_queue_wait(struct job_queue *q)
{
    if (is_empty(&q->urgent) && is_empty(&q->others))
        park(&q->taker);
}
