#include "store/task_queue.h"

void task_queue_push(struct task_queue *q, struct store_task *task)
{
    struct task_list *l = task->urgent ? &q->urgent : &q->others;
    struct store_task *newest = atomic_load_explicit(&l->newest, memory_order_relaxed);
    do
        task->next = newest;
    while (
        !atomic_compare_exchange_weak_explicit(&l->newest, &newest, task, memory_order_acq_rel, memory_order_relaxed));
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
        struct store_task *task = atomic_exchange_explicit(&l->newest, NULL, memory_order_acq_rel);
        while (task) {
            struct store_task *next = task->next;
            task->next = l->oldest;
            l->oldest = task;
            task = next;
        }
    }
    struct store_task *task = l->oldest;
    if (task)
        l->oldest = task->next;
    return task;
}

struct store_task *task_queue_take(struct task_queue *q)
{
    struct store_task *task = task_list_take(&q->urgent);
    return task ? task : task_list_take(&q->others);
}

static bool is_empty(struct task_list *l)
{
    return !l->oldest && !atomic_load(&l->newest);
}

void task_queue_wait(struct task_queue *q, int64_t max_us)
{
    if (is_empty(&q->urgent) && is_empty(&q->others))
        park_for(&q->taker, max_us);
}
