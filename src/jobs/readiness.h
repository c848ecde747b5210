/* Whether the service can do its work now (SERVICE-21): it neither starts nor stops, the store answers within
 * 1.5 seconds and can be written, its schema and its master key fit, and the node's heartbeats and clock are in order.
 * Each question reads the store, at most ten times a second, on a thread that waits for nothing else. While commits
 * fail, it also writes once a second: nothing else may, and then nothing would tell that commits succeed again. */
#pragma once
#include "base/buf.h"
#include "base/config.h"
#include "store/store.h"

struct readiness;

struct readiness_options {
    const struct config *config;
    struct store *store;                 /* NULL: not there yet, which is a reason; see readiness_set_store */
    const char *(*stage)(void);          /* a stage other than serving, "stopping"; NULL: serving. Any thread */
    const char *(*fault)(void *context); /* heartbeat_fault(), told if there is no other reason; NULL: none */
    void *context;
};

/* Starts the thread. */
enum err readiness_new(const struct readiness_options *options, struct readiness **ret) CHECKED;
/* The store is there. Once. */
void readiness_set_store(struct readiness *r, struct store *store);
/* Answers all that have asked, then ends the thread. Call it when nobody asks any more, before the store is closed. */
void readiness_stop(struct readiness *r);
/* Must follow the store's close: its threads may still have a read of the thread's. */
void readiness_free(struct readiness *r);

#define READINESS_REASONS_MAX 5
struct readiness_state {
    const char *reasons[READINESS_REASONS_MAX]; /* why it is not ready: texts that never change */
    size_t reason_count;                        /* 0: ready */
    const char *warning;                        /* of the store, which does not count; NULL: none */
    bool silent;                                /* the store did not answer */
    int schema;                                 /* the store's version of the schema; 0: unknown */
};

struct readiness_question {
    struct readiness_question *next; /* owned by readiness */
    /* Called once, on the thread of readiness; must not block. */
    void (*answer)(struct readiness_question *q, const struct readiness_state *state);
};
/* Any thread. The answer follows within little more than 1.5 seconds; the question must stay alive until then. */
void readiness_ask(struct readiness *r, struct readiness_question *q);
/* The same, waiting. */
struct readiness_state readiness_wait(struct readiness *r);
/* Appends {"ready":false,"reasons":["starting"]} and a line feed, with "warnings":["…"] if there is one. */
void readiness_write(const struct readiness_state *state, struct buf *out);
