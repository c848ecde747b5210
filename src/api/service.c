#include <stdio.h>
#include <stdlib.h>

#include "api/constant.h"
#include "api/hub.h"
#include "api/openapi.h"
#include "api/service_private.h"
#include "base/mem.h"

#define BLOCKING_WORKERS 32 /* at most: threads that mostly wait for providers or for a building operation to end */

static enum err open_journal(struct service *s)
{
    const struct config *c = s->config;
    char directory[4096];
    if (c->log_keep_requests_h == 0)
        return ERR_NONE;
    snprintf(directory, sizeof directory, "%s/requests", c->top_data_dir);
    return journal_new(directory, c->log_keep_requests_h, &s->journal);
}

static void free_text(void *constant)
{
    constant_done(constant);
    free(constant);
}

static GHashTable *make_texts(const struct route_set *const *sets, size_t count)
{
    GHashTable *texts = g_hash_table_new_full(NULL, NULL, NULL, free_text);
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < sets[s]->count; i++) {
            const struct route *row = &sets[s]->rows[i];
            if (!row->text)
                continue;
            struct http_content *c = mem_new(struct http_content);
            constant_init(c, str_z(row->text));
            g_hash_table_insert(texts, (void *)(uintptr_t)row, c);
        }
    return texts;
}

/* The value of the label `operation` for a route: its operationId if it is part of the contract; operations of the
 * operator, the sandbox and the providers, and pages, share a value. */
static const char *operation_name(const struct route *row)
{
    if (row->credential == CRED_CONTROL)
        return "admin";
    if (row->credential == CRED_LOOPBACK)
        return "sandbox";
    if (row->flags & ROUTE_PAGE)
        return "page";
    return row->verify && row->credential == CRED_NONE ? "hook" : row->operation_id;
}

static unsigned add_operation(struct service *s, unsigned *count, const char *name)
{
    unsigned i = 0;
    while (i < *count && strcmp(s->operation_names[i], name) != 0)
        i++;
    if (i == METRIC_OPERATION_VALUES)
        return 0;
    if (i == *count)
        s->operation_names[(*count)++] = name;
    return i;
}

/* The first value is for requests without a route. */
static void name_operations(struct service *s)
{
    unsigned count = 0;
    s->operations = g_hash_table_new(NULL, NULL);
    add_operation(s, &count, "none");
    for (size_t k = 0; k < s->set_count; k++)
        for (size_t i = 0; i < s->sets[k]->count; i++) {
            const struct route *row = &s->sets[k]->rows[i];
            g_hash_table_insert(s->operations, (void *)(uintptr_t)row,
                                GUINT_TO_POINTER(add_operation(s, &count, operation_name(row))));
        }
    metric_name_values(METRIC_LABEL_OPERATION, s->operation_names, count);
}

enum err service_new(const struct service_options *options, struct service **ret)
{
    struct service *s = mem_new(struct service);
    s->config = options->config;
    s->sets = options->sets;
    s->set_count = options->set_count;
    s->contract = options->openapi;
    s->parts = options->parts;
    s->parts.started_us = clock_monotonic_us();
    s->gate.config = options->config;
    s->gate.limiter = limiter_new();
    s->gate.jobs = options->parts.jobs;
    atomic_init(&s->gate.keys_epoch, 1);
    s->router = router_new(options->sets, options->set_count);
    name_operations(s);
    s->texts = make_texts(options->sets, options->set_count);
    s->blocking = g_thread_pool_new(service_run_blocking, s, BLOCKING_WORKERS, FALSE, NULL);
    if (!s->blocking || open_journal(s) || hub_new(options->config, options->parts.store, &s->parts.hub)) {
        service_free(s);
        return ERR_IO;
    }
    *ret = s;
    return ERR_NONE;
}

struct parts *service_parts(struct service *s)
{
    return &s->parts;
}

void service_stop(struct service *s)
{
    if (s->blocking)
        g_thread_pool_free(s->blocking, TRUE, TRUE);
    (void)atomic_load_explicit(&s->blocking_ends, memory_order_acquire);
    s->blocking = NULL;
    hub_stop(s->parts.hub);
}

void service_free(struct service *s)
{
    if (!s)
        return;
    service_stop(s);
    hub_free(s->parts.hub);
    journal_free(s->journal);
    router_free(s->router);
    limiter_free(s->gate.limiter);
    if (s->openapi_made)
        constant_done(&s->openapi);
    buf_done(&s->openapi_text);
    g_clear_pointer(&s->texts, g_hash_table_destroy);
    g_clear_pointer(&s->operations, g_hash_table_destroy);
    metric_name_values(METRIC_LABEL_OPERATION, NULL, 0);
    free(s);
}

const struct http_content *service_openapi(struct service *s)
{
    if (g_once_init_enter(&s->openapi_made)) {
        s->openapi_text = BUF(OPENAPI_MAX);
        openapi_document(s->contract, s->parts.public_url, &s->openapi_text);
        constant_init(&s->openapi, buf_view(&s->openapi_text));
        g_once_init_leave(&s->openapi_made, 1);
    }
    return &s->openapi;
}

void service_changed(struct service *s, unsigned topics, const struct store_fed *fed)
{
    if (topics & TOPIC_KEYS)
        atomic_fetch_add(&s->gate.keys_epoch, 1);
    hub_changed(s->parts.hub, topics, fed);
}
