/* The parts of the service that its files share. */
#pragma once
#include <glib.h>
#include <stdatomic.h>

#include "api/gate.h"
#include "api/journal.h"
#include "api/reply.h"
#include "api/router.h"
#include "api/service.h"
#include "base/metric.h"

/* State of one loop thread; no other thread may access it. */
struct loop {
    struct db *session; /* NULL if reads must be submitted to the store */
    struct gate_cache *cache;
    struct reply_buffers buffers;
};

struct service {
    const struct config *config;
    const struct route_set *const *sets;
    size_t set_count;
    struct gate gate;
    struct router *router;
    GThreadPool *blocking; /* runs the handlers of RUN_BLOCKING: service_run_blocking */
    atomic_uint blocking_ends;
    struct journal *journal; /* NULL: disabled */
    const struct openapi *contract;
    gsize openapi_made; /* for g_once_init_enter */
    struct buf openapi_text;
    struct http_content openapi;
    GHashTable *operations; /* route row -> value of the label `operation` */
    const char *operation_names[METRIC_OPERATION_VALUES];
    GHashTable *texts; /* route row -> struct http_content, for rows with a text */
    struct parts parts;
    struct loop loops[HTTP_MAX_LOOPS];
};

/* On a thread of the pool: runs the handler of a struct request and hands the request back to its loop. */
void service_run_blocking(void *request, void *service);
