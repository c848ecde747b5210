/* A lock-free queue of tasks for one store thread: any thread pushes, one thread takes. Urgent tasks and others have a
 * list each, in order of submission. */
#pragma once
#include "store/parker.h"
#include "store/store.h"

struct task_list {
    struct store_task *_Atomic newest; /* pushed but not yet fetched, newest first */
    struct store_task *oldest;         /* fetched, oldest first; only the taker uses it */
};

struct task_queue {
    struct task_list urgent, others;
    struct parker taker;
};

/* Any thread. */
void task_queue_push(struct task_queue *q, struct store_task *task);
/* Wakes the taker without a task. Any thread. */
void task_queue_wake(struct task_queue *q);
/* The oldest urgent task, or else the oldest task, or NULL. Only for the taker. */
struct store_task *task_queue_take(struct task_queue *q);
/* The oldest task of a list, or NULL. Only for the taker. */
struct store_task *task_list_take(struct task_list *l);
/* Sleeps until a task was pushed, or task_queue_wake called, since the last wait; for at most max_us unless that is
 * negative. Only for the taker. */
void task_queue_wait(struct task_queue *q, int64_t max_us);
