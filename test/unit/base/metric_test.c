#include "base/metric.h"

#include <pthread.h>

#include "base/log.h"
#include "unit.h"

/* The page; the caller frees it. */
static struct buf page(void)
{
    struct buf b = BUF(1u << 20);
    metric_render(&b);
    assert_false(b.full);
    return b;
}

static bool page_has(const char *line)
{
    struct buf b = page();
    buf_char(&b, '\0');
    const bool found = strstr(b.p, line) != NULL;
    buf_done(&b);
    return found;
}

static void a_log_record_raises_exactly_the_series_of_its_level(void **state)
{
    (void)state;
    assert_true(page_has("\nportero_log_records_total{level=\"warn\"} 0\n"));
    log_warn("metric_test=1");
    log_debug("below the level");
    assert_true(page_has("\nportero_log_records_total{level=\"warn\"} 1\n"));
    assert_true(page_has("\nportero_log_records_total{level=\"error\"} 0\n"));
    assert_true(page_has("\nportero_log_records_total{level=\"debug\"} 0\n"));
}

static void a_time_is_shown_in_seconds_and_an_absent_gauge_not_at_all(void **state)
{
    (void)state;
    metric_set(metrics.start_time, 1234567890000042);
    assert_true(page_has("\n# TYPE portero_start_time_seconds gauge\nportero_start_time_seconds 1234567890.000042\n"));
    metric_set(metrics.start_time, -42);
    assert_true(page_has("\nportero_start_time_seconds -0.000042\n"));
    metric_set(metrics.start_time, METRIC_ABSENT);
    assert_false(page_has("portero_start_time_seconds"));
}

static void the_labels_of_the_build_are_shown(void **state)
{
    (void)state;
    metric_set_info("version=\"1\",engine=\"sqlite\"");
    assert_true(page_has("portero_build_info{version=\"1\",engine=\"sqlite\"} 1\n"));
}

#define THREADS 4
#define TIMES   20000

static void *add_often(void *unused)
{
    for (int i = 0; i < TIMES; i++)
        metric_add(&metrics.log_records[METRIC_LEVEL_INFO], 1);
    return unused;
}

static void no_count_of_any_thread_is_lost(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    const int64_t before = metric_get(&metrics.log_records[METRIC_LEVEL_INFO]);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_often, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(metric_get(&metrics.log_records[METRIC_LEVEL_INFO]) - before, THREADS * TIMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_record_raises_exactly_the_series_of_its_level),
        cmocka_unit_test(a_time_is_shown_in_seconds_and_an_absent_gauge_not_at_all),
        cmocka_unit_test(the_labels_of_the_build_are_shown),
        cmocka_unit_test(no_count_of_any_thread_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
