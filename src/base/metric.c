#include "base/metric.h"

#include "base/clock.h"

#define SERIES_LABELS_MAX 200

struct metrics metrics;

struct metric_label_row {
    const char *name;
    size_t count;
    const char *const *values; /* NULL: set at the start */
    int at_start;              /* which of those; -1: none */
};

enum metric_kind { KIND_COUNTER, KIND_GAUGE, KIND_HISTOGRAM, KIND_INFO };
enum metric_unit { UNIT_ONE, UNIT_US };

struct metric_row {
    enum metric_kind kind;
    enum metric_unit unit;
    const char *name, *help;
    void *cells;
    const struct metric_label_row *labels[2];
};

#define V(symbol, text) text,
#define LABEL(symbol, label, texts)                                                                                    \
    const char *const metric_values_##symbol[METRIC_##symbol##_VALUES] = {texts};                                      \
    static const struct metric_label_row label_##symbol = {label, METRIC_##symbol##_VALUES, metric_values_##symbol, -1};
#define LABEL_AT_START(symbol, label, most)                                                                            \
    static const struct metric_label_row label_##symbol = {label, most, NULL, METRIC_LABEL_##symbol};
#include "tbl/metrics.def"
#undef V

static const struct metric_row rows[] = {
#define COUNTER(cells, name, label, label2, unit, help)                                                                \
    {KIND_COUNTER, UNIT_##unit, name, help, metrics.cells, {&label_##label, &label_##label2}},
#define GAUGE(cells, name, label, label2, unit, help)                                                                  \
    {KIND_GAUGE, UNIT_##unit, name, help, metrics.cells, {&label_##label, &label_##label2}},
#define HISTOGRAM(cells, name, label, help)                                                                            \
    {KIND_HISTOGRAM, UNIT_US, name, help, metrics.cells, {&label_##label, &label_NONE}},
#define INFO(cells, name, help) {KIND_INFO, UNIT_ONE, name, help, NULL, {&label_NONE, &label_NONE}},
#include "tbl/metrics.def"
};

static struct {
    const char *const *values;
    size_t count;
} set_at_start[METRIC_LABELS + 1];
static const char *info_labels = "";

static const int64_t limits_us[METRIC_BUCKETS] = {METRIC_BUCKETS_US};

void metric_observe(struct metric_histogram *h, int64_t us)
{
    size_t i = 0;
    while (i < METRIC_BUCKETS && us > limits_us[i])
        i++;
    metric_add(&h->counts[i], 1);
    metric_add(&h->sum_us, us);
}

void metric_name_values(enum metric_label label, const char *const *values, size_t count)
{
    set_at_start[label].values = values;
    set_at_start[label].count = count;
}

void metric_set_info(const char *labels)
{
    info_labels = labels;
}

/* ---- the page ---- */

/* The text of a label's value; NULL: it has none. */
static const char *label_value_text(const struct metric_label_row *label, size_t i)
{
    if (label->values)
        return label->values[i];
    return i < set_at_start[label->at_start].count ? set_at_start[label->at_start].values[i] : NULL;
}

static bool put_label(struct buf *out, const struct metric_label_row *label, size_t i)
{
    const char *text = label_value_text(label, i);
    if (text && label != &label_NONE)
        buf_printf(out, "%s%s=\"%s\"", out->n ? "," : "", label->name, text);
    return text != NULL;
}

/* Writes the labels of the series; false if it does not exist. */
static bool put_labels(struct buf *out, const struct metric_row *row, size_t series)
{
    const size_t second = row->labels[1]->count;
    out->n = 0;
    return put_label(out, row->labels[0], series / second) && put_label(out, row->labels[1], series % second);
}

static void put_us(struct buf *out, int64_t us)
{
    const uint64_t size = us < 0 ? -(uint64_t)us : (uint64_t)us;
    buf_printf(out, "%s%llu.%06llu\n", us < 0 ? "-" : "", (unsigned long long)size / US_PER_S,
               (unsigned long long)size % US_PER_S);
}

static void put_sample(struct buf *out, const char *name, const char *suffix, struct str labels)
{
    buf_printf(out, "%s%s", name, suffix);
    if (labels.n)
        buf_printf(out, "{%.*s}", STR_ARG(labels));
    buf_char(out, ' ');
}

static void put_metric_line(struct buf *out, const struct metric_row *row, struct str labels, _Atomic int64_t *cell)
{
    const int64_t value = metric_get(cell);
    const bool sparse = row->labels[1] != &label_NONE && !row->labels[0]->values;
    if (value == METRIC_ABSENT || (sparse && value == 0))
        return;
    put_sample(out, row->name, "", labels);
    if (row->unit == UNIT_US)
        put_us(out, value);
    else
        buf_printf(out, "%lld\n", (long long)value);
}

/* The counts of the buckets are added up, because Prometheus' buckets include the ones below. */
static void put_histogram(struct buf *out, const struct metric_row *row, struct str labels, struct metric_histogram *h)
{
    int64_t sum = 0;
    for (size_t i = 0; i <= METRIC_BUCKETS; i++) {
        sum += metric_get(&h->counts[i]);
        buf_printf(out, "%s_bucket{%.*s%sle=\"", row->name, STR_ARG(labels), labels.n ? "," : "");
        if (i < METRIC_BUCKETS)
            buf_printf(out, "%g", (double)limits_us[i] / US_PER_S);
        else
            buf_lit(out, "+Inf");
        buf_printf(out, "\"} %lld\n", (long long)sum);
    }
    put_sample(out, row->name, "_sum", labels);
    put_us(out, metric_get(&h->sum_us));
    put_sample(out, row->name, "_count", labels);
    buf_printf(out, "%lld\n", (long long)sum);
}

static void put_series(struct buf *out, const struct metric_row *row, size_t series, struct str labels)
{
    switch (row->kind) {
    case KIND_COUNTER:
    case KIND_GAUGE:
        put_metric_line(out, row, labels, (_Atomic int64_t *)row->cells + series);
        return;
    case KIND_HISTOGRAM:
        put_histogram(out, row, labels, (struct metric_histogram *)row->cells + series);
        return;
    case KIND_INFO:
        put_sample(out, row->name, "", str_z(info_labels));
        buf_lit(out, "1\n");
        return;
    }
}

void metric_render(struct buf *out)
{
    static const char *const kinds[] = {
        [KIND_COUNTER] = "counter", [KIND_GAUGE] = "gauge", [KIND_HISTOGRAM] = "histogram", [KIND_INFO] = "gauge"};
    struct buf labels = BUF(SERIES_LABELS_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct metric_row *row = &rows[i];
        const size_t before = out->n;
        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name, kinds[row->kind]);
        const size_t head = out->n;
        for (size_t s = 0; s < row->labels[0]->count * row->labels[1]->count; s++)
            if (put_labels(&labels, row, s))
                put_series(out, row, s, buf_view(&labels));
        if (out->n == head)
            out->n = before; /* no series */
    }
    buf_done(&labels);
}
