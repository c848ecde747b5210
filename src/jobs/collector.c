#include "jobs/collector.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/wait.h"
#include "domain/work.h"
#include "jobs/status.h"
#include "store/backup.h"

#define EVERY_US (5 * US_PER_S)

struct collector {
    struct collector_options options;
    const char *kinds[METRIC_JOB_VALUES];
    size_t kind_count;
    struct rhythm rhythm;
};

/* ---- the process ---- */

static int64_t resident_bytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%*d %ld", &pages) != 1) /* NOLINT(cert-err34-c): the kernel's own number */
        pages = 0;
    if (f)
        fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static int64_t open_descriptors(void)
{
    int64_t count = -1; /* the directory itself */
    GDir *d = g_dir_open("/proc/self/fd", 0, NULL);
    if (!d)
        return METRIC_ABSENT;
    while (g_dir_read_name(d))
        count++;
    g_dir_close(d);
    return count;
}

static int64_t time_us(struct timeval t)
{
    return (int64_t)t.tv_sec * US_PER_S + t.tv_usec;
}

static void collect_process(void)
{
    struct rusage used;
    struct rlimit files;
    metric_set(metrics.resident, resident_bytes());
    metric_set(metrics.open_fds, open_descriptors());
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        metric_set(metrics.max_fds, (int64_t)files.rlim_cur);
    if (getrusage(RUSAGE_SELF, &used) == 0)
        metric_set(metrics.cpu, time_us(used.ru_utime) + time_us(used.ru_stime));
}

/* ---- the service ---- */

static void collect_last_backup(const struct collector *c)
{
    int64_t at_us = 0;
    if (!backup_read_last(c->options.config, &at_us))
        at_us = 0;
    metric_set(metrics.last_backup, at_us);
}

static void collect_database_size(const struct collector *c)
{
    char path[4096];
    struct stat file;
    snprintf(path, sizeof path, "%s/portero.db", c->options.config->top_data_dir);
    metric_set(&metrics.store_bytes[METRIC_FILE_DATABASE], stat(path, &file) == 0 ? file.st_size : METRIC_ABSENT);
}

static enum metric_label_TRUNK trunk_state(const char *name)
{
    unsigned i = 0;
    while (i < METRIC_TRUNK_OTHER && strcmp(metric_values_TRUNK[i], name) != 0)
        i++;
    return (enum metric_label_TRUNK)i;
}

static void collect_trunks(struct trunk_board *board)
{
    struct trunk_status list[TRUNK_BOARD_MAX];
    int64_t counts[METRIC_TRUNK_VALUES] = {0};
    const size_t n = trunk_board_list(board, list);
    for (size_t i = 0; i < n; i++)
        counts[trunk_state(list[i].state)]++;
    for (size_t i = 0; i < METRIC_TRUNK_VALUES; i++)
        metric_set(&metrics.trunks[i], counts[i]);
}

static void collect_service(struct collector *c)
{
    const struct collector_options *o = &c->options;
    const int64_t oldest_us = store_oldest_us(o->store);
    metric_set(metrics.store_oldest, oldest_us ? clock_monotonic_us() - oldest_us : 0);
    if (!metric_get(metrics.certificate_end)) /* no HTTPS */
        metric_set(metrics.certificate_end, METRIC_ABSENT);
    if (!metric_get(metrics.sip_certificate_end)) /* no SIP over TLS */
        metric_set(metrics.sip_certificate_end, METRIC_ABSENT);
    metric_set(metrics.nodes, heartbeat_nodes(o->heartbeat));
    if (store_exclusive(o->store)) {
        collect_database_size(c);
        collect_last_backup(c);
        if (!*o->config->backup_directory)
            metric_set(metrics.followed, METRIC_ABSENT);
    }
    if (o->trunks)
        collect_trunks(o->trunks);
}

/* ---- the store ---- */

static enum err read_status(struct tx *tx, void *ret)
{
    return status_read(tx, ret);
}

struct failing {
    const struct status_failing *list;
    size_t count;
};

static enum err read_failing(struct tx *tx, void *arg)
{
    struct failing *f = arg;
    return status_failing(tx, &f->list, &f->count);
}

static int64_t failing_of(const struct failing *f, const char *kind)
{
    for (size_t i = 0; i < f->count; i++)
        if (str_eq(f->list[i].kind, str_z(kind)))
            return f->list[i].jobs;
    return 0;
}

static void publish_status(const struct collector *c, const struct status *s, const struct failing *f)
{
    metric_set(metrics.deliveries_pending, s->deliveries);
    metric_set(metrics.deliveries_oldest, s->delivery_late_us);
    metric_set(metrics.jobs_due, s->jobs);
    metric_set(metrics.jobs_oldest, s->job_late_us);
    metric_set(metrics.operations_waiting, s->operations);
    for (size_t i = 0; i < c->kind_count; i++)
        metric_set(&metrics.jobs_failing[i], failing_of(f, c->kinds[i]));
    metric_set(metrics.collected, clock_real_us());
}

/* Two transactions of one statement each: with PostgreSQL, these need no BEGIN. */
static void collect_store(struct collector *c)
{
    struct arena arena;
    struct work work = {.store = c->options.store, .config = c->options.config, .arena = &arena};
    struct status status = {0};
    struct failing failing = {0};
    arena_init(&arena, NULL, 0);
    if (!work_read(&work, read_status, &status) && !work_read(&work, read_failing, &failing))
        publish_status(c, &status, &failing);
    arena_done(&arena);
}

/* ---- the thread ---- */

static void *collector_thread(void *arg)
{
    struct collector *c = arg;
    int64_t at_us;
    do {
        at_us = clock_monotonic_us() + EVERY_US;
        collect_process();
        collect_service(c);
        if (!readiness_wait(c->options.readiness).silent)
            collect_store(c);
    } while (rhythm_pause(&c->rhythm, at_us));
    return NULL;
}

/* A series that does not apply to this engine is not shown. */
static void omit_other_engine(const struct store *s)
{
    if (store_exclusive(s)) {
        metric_set(metrics.clock_ahead, METRIC_ABSENT);
        metric_set(metrics.store_connections, METRIC_ABSENT);
        for (size_t i = 0; i < METRIC_FATE_VALUES; i++)
            metric_set(&metrics.store_settled[i], METRIC_ABSENT);
        for (size_t i = 0; i < METRIC_LEASE_VALUES; i++)
            metric_set(&metrics.leases_freed[i], METRIC_ABSENT);
        return;
    }
    metric_set(metrics.last_backup, METRIC_ABSENT);
    metric_set(metrics.followed, METRIC_ABSENT);
    metric_set(metrics.store_others, METRIC_ABSENT);
    for (size_t i = 0; i < METRIC_FILE_VALUES; i++)
        metric_set(&metrics.store_bytes[i], METRIC_ABSENT);
    for (size_t i = 0; i < METRIC_ROUND_VALUES; i++)
        metric_set(&metrics.checkpoints[i], METRIC_ABSENT);
}

static void name_kinds(struct collector *c)
{
    for (size_t i = 0; i < c->options.kind_count && i < METRIC_JOB_VALUES; i++)
        c->kinds[c->kind_count++] = c->options.kinds[i].name;
    metric_name_values(METRIC_LABEL_JOB, c->kinds, c->kind_count);
}

enum err collector_start(const struct collector_options *options, struct collector **ret)
{
    struct collector *c = mem_new(struct collector);
    c->options = *options;
    omit_other_engine(options->store);
    name_kinds(c);
    const enum err e = rhythm_start(&c->rhythm, "collector", collector_thread, c);
    if (e)
        free(c);
    else
        *ret = c;
    return e;
}

void collector_stop(struct collector *c)
{
    if (!c)
        return;
    rhythm_stop(&c->rhythm);
    metric_name_values(METRIC_LABEL_JOB, NULL, 0);
    free(c);
}
