#include "store/task_queue.h"

void task_queue_push(struct task_queue *q, struct store_task *job)
{
    struct task_list *l = job->urgent ? &q->urgent : &q->others;
    struct store_task *newest = atomic_load_explicit(&l->newest, memory_order_relaxed);
    do
        job->next = newest;
    while (
        !atomic_compare_exchange_weak_explicit(&l->newest, &newest, job, memory_order_acq_rel, memory_order_relaxed));
    if (!newest)
        unpark(&q->taker);
}

void task_queue_wake(struct task_queue *q)
{
    unpark(&q->taker);
}

struct store_task *task_list_take(struct task_list *l)
{
    if (!l->oldest && atomic_load_explicit(&l->newest, memory_order_relaxed)) {
        struct store_task *job = atomic_exchange_explicit(&l->newest, NULL, memory_order_acq_rel);
        while (job) {
            struct store_task *next = job->next;
            job->next = l->oldest;
            l->oldest = job;
            job = next;
        }
    }
    struct store_task *job = l->oldest;
    if (job)
        l->oldest = job->next;
    return job;
}

struct store_task *task_queue_take(struct task_queue *q)
{
    struct store_task *job = task_list_take(&q->urgent);
    return job ? job : task_list_take(&q->others);
}

static bool is_empty(struct task_list *l)
{
    return !l->oldest && !atomic_load(&l->newest);
}

void task_queue_wait(struct task_queue *q)
{
    if (is_empty(&q->urgent) && is_empty(&q->others))
        park(&q->taker);
}
