#include "cli/daemon.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/service.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/loaded.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/wait.h"
#include "call/known.h"
#include "cli/absence.h"
#include "cli/control.h"
#include "cli/datadir.h"
#include "cli/late.h"
#include "cli/lifecycle.h"
#include "cli/metrics_server.h"
#include "cli/served.h"
#include "cli/telephone.h"
#include "domain/master.h"
#include "domain/work.h"
#include "jobs/clock_guard.h"
#include "jobs/collector.h"
#include "jobs/copies.h"
#include "jobs/delivery.h"
#include "jobs/heartbeat.h"
#include "jobs/notices.h"
#include "resources/client_documents.h"
#include "resources/routes.h"
#include "sandbox/clock.h"
#include "sip/sip.h"
#include "site/docs.h"

#define HTTP_WAIT_MS     10000 /* for requests in progress, when stopping */
#define CALL_WAIT_MS     30000 /* for calls in progress */
#define CONTROL_MAX      4096
#define ABSENT_US        (US_PER_S / 2) /* between attempts to open the store, */
#define ABSENT_JITTER_US (US_PER_S / 2) /* and more, since other nodes wait as well */

struct daemon {
    const struct config *config;
    struct served served;
    struct store *store;
    struct known *known;
    struct providers providers;
    struct readiness *readiness;
    struct absence *absence;        /* NULL: the store is there */
    struct collector *collector;    /* NULL, as the next, */
    struct metrics_server *metrics; /* without listen.metrics */
    struct heartbeat *heartbeat;
    struct copies *copies;
    struct clock_guard *clock;
    struct jobs *jobs;
    struct late *late; /* the start of the jobs */
    struct deliveries *deliveries;
    struct notices *notices;
    struct client_documents *client_documents;
    struct service *service;
    struct docs *docs;
    struct speech_part speech;
    char local_url[HTTP_LOCAL_URL_TEXT];
    struct http_server *http;
    struct sip_agent *sip; /* NULL without SIP */
};

/* Called after each commit with topics. Commits during the start come before the parts exist. */
static void on_commit(void *context, unsigned topics, const struct store_fed *fed)
{
    struct daemon *d = context;
    if (d->service)
        service_changed(d->service, topics, fed);
    if (topics & TOPIC_DOORS)
        known_changed(d->known, fed);
    if (topics & TOPIC_JOBS && d->jobs)
        jobs_kick(d->jobs);
    if (topics & TOPIC_DELIVERIES && d->deliveries)
        deliveries_kick(d->deliveries);
    if (topics & TOPIC_NOTICES && d->notices)
        notices_kick(d->notices);
}

/* ---- parts, in the order of their dependencies ---- */

static const char *stage_name(void)
{
    const enum lifecycle stage = lifecycle_get();
    return stage == LIFECYCLE_READY ? NULL : lifecycle_name(stage);
}

/* The heartbeat begins while the service is starting, which is a reason of its own. */
static const char *node_fault(void *context)
{
    const struct daemon *d = context;
    return lifecycle_get() == LIFECYCLE_STARTING ? NULL : heartbeat_fault(d->heartbeat);
}

static enum err start_readiness(struct daemon *d, char **ret_why)
{
    (void)ret_why;
    const struct readiness_options options = {
        .config = d->config, .stage = stage_name, .fault = node_fault, .context = d};
    return readiness_new(&options, &d->readiness);
}

/* Sets the configured master keys and checks that they are the store's. */
static enum err set_master_key(struct daemon *d, char **ret_why)
{
    bool rekey = false;
    enum err e = datadir_fit_master_key(d->config, d->store, &rekey, ret_why);
    if (!e && rekey)
        log_warn("master_key secrets are sealed with the previous key, command=\"porterod rekey\"");
    return e;
}

/* With SQLite, the schema is migrated automatically; in the sandbox with PostgreSQL, unless services with an earlier
 * program are running. In production, the operator migrates a PostgreSQL store with `porterod migrate`. */
enum store_schema daemon_schema(const struct config *c)
{
    if (c->engine == ENGINE_SQLITE)
        return STORE_MIGRATE_KEPT;
    return c->production ? STORE_AS_IS : STORE_MIGRATE_ALONE;
}

static void control_path(const struct daemon *d, char *ret, size_t size)
{
    snprintf(ret, size, "%s/%s", d->config->top_data_dir, CONTROL_SOCKET);
}

static enum err start_metrics(struct daemon *d, char **ret_why)
{
    return *d->config->listen_metrics && !d->metrics
               ? metrics_server_start(d->config, d->readiness, &d->metrics, ret_why)
               : ERR_NONE;
}

/* The listeners answer while the store is not there. */
static enum err begin_absence(struct daemon *d, char **ret_why)
{
    char control[CONTROL_MAX];
    control_path(d, control, sizeof control);
    enum err e = start_metrics(d, ret_why);
    return e || d->absence ? e : absence_begin(d->config, control, d->readiness, &d->absence, ret_why);
}

/* Waits for a store that is not there. It has no end but a signal, which ends the process. */
static enum err await_store(struct daemon *d, char **ret_why)
{
    const struct config *c = d->config;
    enum err e;
    while ((e = store_open(c, daemon_schema(c), &d->store, ret_why)) == ERR_SERVICE_UNAVAILABLE) {
        absence_note(*ret_why);
        free(*ret_why);
        *ret_why = NULL;
        e = begin_absence(d, ret_why);
        if (e)
            break;
        sleep_for_us(ABSENT_US + crypto_uniform(ABSENT_JITTER_US));
    }
    absence_note(NULL);
    return e;
}

static enum err open_store(struct daemon *d, char **ret_why)
{
    const struct config *c = d->config;
    enum err e = datadir_check_owner(c, ret_why);
    if (!e)
        e = datadir_prepare(c, ret_why);
    if (!e)
        e = await_store(d, ret_why);
    if (e)
        return e;
    readiness_set_store(d->readiness, d->store);
    store_listen(d->store, on_commit, d);
    if (store_start(d->store))
        return err_why(ret_why, ERR_USAGE, "the threads of the store cannot be started");
    e = set_master_key(d, ret_why);
    if (e)
        return e;
    store_log_library(d->store);
    if (!c->production && sandbox_clock_restore(d->store))
        return err_why(ret_why, ERR_USAGE, "the sandbox's clock cannot be read from the store");
    return ERR_NONE;
}

static enum err make_jobs(struct daemon *d, char **ret_why)
{
    enum err e = providers_open(d->config, d->store, &d->providers, ret_why);
    if (e)
        return e;
    served_choose_kinds(&d->served, &d->providers);
    const struct jobs_options options = {
        .config = d->config, .store = d->store, .kinds = d->served.kinds, .kind_count = d->served.kind_count};
    d->jobs = jobs_new(&options);
    return ERR_NONE;
}

static enum err make_deliveries(struct daemon *d, char **ret_why)
{
    (void)ret_why;
    const struct deliveries_options options = {
        .config = d->config, .store = d->store, .began_us = clock_monotonic_us()};
    return deliveries_new(&options, &d->deliveries);
}

static enum err make_notices(struct daemon *d, char **ret_why)
{
    (void)ret_why;
    const struct notices_options options = {.config = d->config, .store = d->store};
    return notices_new(&options, &d->notices);
}

static void on_heartbeat(void *context)
{
    on_commit(context, TOPIC_JOBS | TOPIC_DELIVERIES | TOPIC_NOTICES, &(struct store_fed){.count = 0});
}

/* Before anything is leased, and once the port is known. */
static enum err join_nodes(struct daemon *d, char **ret_why)
{
    const char *https = http_server_https(d->http);
    const struct heartbeat_options options = {.config = d->config,
                                              .store = d->store,
                                              .address = https ? https : http_server_http(d->http),
                                              .changed = on_heartbeat,
                                              .context = d};
    return heartbeat_start(&options, &d->heartbeat, ret_why);
}

static enum err start_clock(struct daemon *d, char **ret_why)
{
    (void)ret_why;
    const struct clock_guard_options options = {
        .config = d->config, .store = d->store, .kinds = d->served.kinds, .kind_count = d->served.kind_count};
    return clock_guard_start(&options, &d->clock);
}

static enum err start_jobs(struct daemon *d, char **ret_why)
{
    (void)ret_why;
    const struct late_options options = {
        .config = d->config, .store = d->store, .heartbeat = d->heartbeat, .jobs = d->jobs};
    return late_start(&options, &d->late);
}

static enum err start_deliveries(struct daemon *d, char **ret_why)
{
    (void)ret_why;
    return deliveries_start(d->deliveries, d->heartbeat);
}

static enum err start_notices(struct daemon *d, char **ret_why)
{
    (void)ret_why;
    return notices_start(d->notices);
}

/* Before the parts that look for doors. */
static enum err start_known(struct daemon *d, char **ret_why)
{
    (void)ret_why;
    d->known = known_new();
    return known_start(d->known, d->store, d->config);
}

static enum err make_service(struct daemon *d, char **ret_why)
{
    (void)ret_why;
    served_choose_routes(&d->served, d->config, &d->providers);
    enum err e = client_documents_new(d->config, &d->client_documents);
    if (e)
        return e;
    const struct service_options options = {.config = d->config,
                                            .sets = d->served.sets,
                                            .set_count = d->served.set_count,
                                            .openapi = &openapi_contract,
                                            .parts = {.store = d->store,
                                                      .jobs = d->jobs,
                                                      .deliveries = d->deliveries,
                                                      .notices = d->notices,
                                                      .providers = &d->providers,
                                                      .readiness = d->readiness,
                                                      .known = d->known,
                                                      .client_documents = d->client_documents}};
    return service_new(&options, &d->service);
}

static enum err make_http(struct daemon *d, char **ret_why)
{
    char control[CONTROL_MAX];
    control_path(d, control, sizeof control);
    absence_end(d->absence);
    d->absence = NULL;
    return http_server_new(d->config, control, service_handler(d->service), &d->http, ret_why);
}

/* Publishes public_url, or https://localhost with the bound port if it is empty, and the documents that have it. */
static enum err publish_address(struct daemon *d, char **ret_why)
{
    struct parts *parts = service_parts(d->service);
    (void)ret_why;
    http_server_local_url(d->http, d->local_url);
    parts->public_url = *d->config->top_public_url ? d->config->top_public_url : d->local_url;
    d->docs = docs_new(d->config->production ? DOCS_PRODUCTION : DOCS_SANDBOX, parts->public_url);
    parts->find_document = docs_find;
    parts->documents = d->docs;
    return ERR_NONE;
}

static enum err start_telephone(struct daemon *d, char **ret_why)
{
    const struct telephone_options options = {.config = d->config,
                                              .store = d->store,
                                              .known = d->known,
                                              .texter = d->providers.texter,
                                              .parts = service_parts(d->service)};
    return telephone_start(&options, &d->speech, &d->sip, ret_why);
}

static enum err start_collector(struct daemon *d, char **ret_why)
{
    (void)ret_why;
    const struct collector_options options = {.config = d->config,
                                              .store = d->store,
                                              .readiness = d->readiness,
                                              .heartbeat = d->heartbeat,
                                              .trunks = d->sip ? sip_trunk_board(d->sip) : NULL,
                                              .kinds = d->served.kinds,
                                              .kind_count = d->served.kind_count};
    return *d->config->listen_metrics ? collector_start(&options, &d->collector) : ERR_NONE;
}

static enum err start_copies(struct daemon *d, char **ret_why)
{
    (void)ret_why;
    return *d->config->backup_directory ? copies_start(d->config, &d->copies) : ERR_NONE;
}

static enum err start_http(struct daemon *d, char **ret_why)
{
    return http_server_start(d->http, ret_why);
}

static const struct {
    const char *part; /* for the message, if the step gives no reason */
    enum err (*run)(struct daemon *d, char **ret_why);
} steps[] = {{"readiness", start_readiness},
             {"store", open_store},
             {"jobs", make_jobs},
             {"webhook deliveries", make_deliveries},
             {"notices", make_notices},
             {"doors in memory", start_known},
             {"interface", make_service},
             {"HTTP server", make_http},
             {"documents", publish_address},
             {"heartbeats", join_nodes},
             {"clock", start_clock},
             {"jobs", start_jobs},
             {"webhook deliveries", start_deliveries},
             {"notices", start_notices},
             {"SIP agent", start_telephone},
             {"copies", start_copies},
             {"metrics", start_collector},
             {"metrics", start_metrics},
             {"HTTP server", start_http}};

static _Atomic(const char *) starts;

const char *daemon_starts(void)
{
    return atomic_load_explicit(&starts, memory_order_relaxed);
}

enum err daemon_start(const struct config *c, struct daemon **ret, char **ret_why)
{
    struct daemon *d = mem_new(struct daemon);
    d->config = c;
    *ret_why = NULL;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        atomic_store_explicit(&starts, steps[i].part, memory_order_relaxed);
        enum err e = steps[i].run(d, ret_why);
        if (!e)
            continue;
        if (!*ret_why)
            e = err_why(ret_why, e, "%s: not enough file descriptors or threads, or the store failed", steps[i].part);
        daemon_stop(d);
        daemon_free(d);
        return e;
    }
    malloc_trim(0); /* returns memory that only the start used: migrations, the OpenAPI tree */
    *ret = d;
    return ERR_NONE;
}

void daemon_reload(struct daemon *d)
{
    char *reason = NULL;
    if (http_server_reload(d->http, &reason))
        log_error("reload certificates=kept reason=\"%s\"", reason);
    else
        log_info("reload certificates=%s", http_server_https(d->http) ? "new" : "none");
    free(reason);
    if (!loaded_configuration_is_current())
        log_warn("reload configuration=kept advice=\"it has changed: restart to apply\"");
    if (d->sip)
        sip_reload(d->sip);
}

/* HTTPS is served until the last call has ended, and is the last to close: balancers and clients learn first that the
 * service stops. All threads end before anything is freed: blocking handlers and store threads may still hold requests,
 * and store threads notify the parts of commits. */
void daemon_stop(struct daemon *d)
{
    store_wind_down(d->store);
    if (d->sip)
        sip_stop(d->sip, CALL_WAIT_MS);
    if (d->http)
        http_server_stop(d->http, HTTP_WAIT_MS);
    late_stop(d->late);
    d->late = NULL;
    if (d->jobs)
        jobs_stop(d->jobs);
    if (d->deliveries)
        deliveries_stop(d->deliveries);
    if (d->notices)
        notices_stop(d->notices);
    if (d->service)
        service_stop(d->service);
    copies_stop(d->copies);
    d->copies = NULL;
    absence_end(d->absence);
    d->absence = NULL;
    metrics_server_stop(d->metrics);
    collector_stop(d->collector);
    readiness_stop(d->readiness);
    clock_guard_stop(d->clock);
    heartbeat_stop(d->heartbeat);
    known_stop(d->known);
    store_close(d->store);
}

void daemon_free(struct daemon *d)
{
    heartbeat_free(d->heartbeat);
    metrics_server_free(d->metrics);
    readiness_free(d->readiness);
    sip_free(d->sip);
    known_free(d->known);
    http_server_free(d->http);
    service_free(d->service);
    client_documents_free(d->client_documents);
    docs_free(d->docs);
    jobs_free(d->jobs);
    deliveries_free(d->deliveries);
    notices_free(d->notices);
    providers_close(&d->providers);
    free(d);
}

int64_t daemon_turned_us(const struct daemon *d)
{
    int64_t https_us = http_server_turned_us(d->http), sip_us = INT64_MAX;
    if (d->sip)
        (void)sip_pulse(d->sip, &sip_us);
    return https_us < sip_us ? https_us : sip_us;
}

unsigned daemon_calls(const struct daemon *d)
{
    int64_t unused;
    return d->sip ? sip_pulse(d->sip, &unused) : 0;
}

const struct config *daemon_config(const struct daemon *d)
{
    return d->config;
}

void daemon_addresses(const struct daemon *d, char *ret, size_t size)
{
    const struct {
        const char *scheme, *address;
    } listeners[] = {{"https://", http_server_https(d->http)},
                     {"http://", http_server_http(d->http)},
                     {"sip:", d->sip ? sip_address(d->sip) : NULL},
                     {"metrics:", d->metrics ? metrics_server_address(d->metrics) : NULL}};
    size_t n = 0;
    *ret = '\0';
    for (size_t i = 0; i < sizeof listeners / sizeof *listeners; i++) {
        if (!listeners[i].address || n >= size)
            continue;
        int put = snprintf(ret + n, size - n, " %s%s", listeners[i].scheme, listeners[i].address);
        n += put > 0 ? (size_t)put : 0;
    }
}
