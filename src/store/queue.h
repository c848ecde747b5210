/* Jobs on their way to one store thread: any thread pushes, lock-free; one takes. Urgent ones and others stand in a
 * list each, in order of submission. */
#pragma once
#include "store/parker.h"
#include "store/store.h"

struct job_list {
    struct store_job *_Atomic newest; /* pushed and not yet fetched, newest first */
    struct store_job *oldest;         /* fetched, oldest first; the taker's */
};

struct job_queue {
    struct job_list urgent, others;
    struct parker taker;
};

/* Any thread. */
void job_queue_push(struct job_queue *q, struct store_job *job);
/* Wakes the taker without a job. Any thread. */
void job_queue_wake(struct job_queue *q);
/* The oldest urgent job, or else the oldest job, or NULL. The taker's thread. */
struct store_job *job_queue_take(struct job_queue *q);
/* The oldest of one list, or NULL. The taker's thread. */
struct store_job *job_list_take(struct job_list *l);
/* Sleeps until something was pushed or job_queue_wake was called since the last wait. The taker's thread. */
void job_queue_wait(struct job_queue *q);
