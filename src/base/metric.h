/* Metrics: one cell for each series of tbl/metrics.def, and the page that shows them in Prometheus' text format 0.0.4.
 *
 * Counting is one relaxed addition, on any thread: metric_add(&metrics.log_records[METRIC_LEVEL_WARN], 1). The series
 * of two labels are in the order of the first: metrics.x[first * METRIC_SECOND_VALUES + second]. */
#pragma once
#include <stdatomic.h>

#include "base/buf.h"

/* Upper limits of the buckets of every histogram, in microseconds; one more has no limit. */
#define METRIC_BUCKETS_US 1000, 5000, 25000, 100000, 500000, 1000000, 2500000, 10000000
#define METRIC_BUCKETS    8

#define V(symbol, text)                    METRIC_##symbol,
#define LABEL(symbol, name, values)        enum metric_label_##symbol{values METRIC_##symbol##_VALUES};
#define LABEL_AT_START(symbol, name, most) enum metric_label_##symbol{METRIC_##symbol##_VALUES = (most)};
#include "tbl/metrics.def"
#undef V

/* The texts of their values. */
#define LABEL(symbol, name, values) extern const char *const metric_values_##symbol[METRIC_##symbol##_VALUES];
#include "tbl/metrics.def"

/* The labels whose values are set at the start. */
enum metric_label {
#define LABEL_AT_START(symbol, name, most) METRIC_LABEL_##symbol,
#include "tbl/metrics.def"
    METRIC_LABELS
};

struct metric_histogram {
    _Atomic int64_t counts[METRIC_BUCKETS + 1], sum_us;
};

struct metrics {
#define COUNTER(cells, name, label, label2, unit, help)                                                                \
    _Atomic int64_t cells[METRIC_##label##_VALUES * METRIC_##label2##_VALUES];
#define GAUGE(cells, name, label, label2, unit, help) COUNTER(cells, name, label, label2, unit, help)
#define HISTOGRAM(cells, name, label, help)           struct metric_histogram cells[METRIC_##label##_VALUES];
#include "tbl/metrics.def"
};
extern struct metrics metrics;

static inline void metric_add(_Atomic int64_t *cell, int64_t n)
{
    atomic_fetch_add_explicit(cell, n, memory_order_relaxed);
}
/* Of a gauge. METRIC_ABSENT: the series is not shown. */
#define METRIC_ABSENT INT64_MIN
static inline void metric_set(_Atomic int64_t *cell, int64_t value)
{
    atomic_store_explicit(cell, value, memory_order_relaxed);
}
static inline int64_t metric_get(_Atomic int64_t *cell)
{
    return atomic_load_explicit(cell, memory_order_relaxed);
}
void metric_observe(struct metric_histogram *h, int64_t us);

/* Before threads count, with texts that live as long as the process. Values beyond the label's most are dropped. */
void metric_name_values(enum metric_label label, const char *const *values, size_t count);
/* The labels of the metric of kind INFO: name="value",… */
void metric_set_info(const char *labels);

/* Appends the page. */
void metric_render(struct buf *out);
