/* Jobs on their way to one store thread: any thread pushes, lock-free; one takes. Urgent ones and others stand in a
 * list each, in order of submission. */
#pragma once
#include "store/parker.h"
#include "store/store.h"

struct task_list {
    struct store_task *_Atomic newest; /* pushed and not yet fetched, newest first */
    struct store_task *oldest;         /* fetched, oldest first; the taker's */
};

struct task_queue {
    struct task_list urgent, others;
    struct parker taker;
};

/* Any thread. */
void task_queue_push(struct task_queue *q, struct store_task *task);
/* Wakes the taker without a job. Any thread. */
void task_queue_wake(struct task_queue *q);
/* The oldest urgent job, or else the oldest job, or NULL. The taker's thread. */
struct store_task *task_queue_take(struct task_queue *q);
/* The oldest of one list, or NULL. The taker's thread. */
struct store_task *task_list_take(struct task_list *l);
/* Sleeps until something was pushed or task_queue_wake was called since the last wait. The taker's thread. */
void task_queue_wait(struct task_queue *q);
