/* The queue of deliveries: taking them in turns, and recording attempts. */
#include "domain/building_fixture.h"

#include "base/buf.h"
#include "base/crypto.h"
#include "domain/delivery.h"
#include "domain/event.h"
#include "domain/webhook.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* An ID that sorts by n. */
static struct id id_of(int n)
{
    struct id id;
    snprintf(id.text, sizeof id.text, "%024d", n);
    return id;
}

static void add_endpoint(struct building_fixture *fx, int n)
{
    fixture_sql(fx, arena_printf(&fx->arena,
                                 "INSERT INTO webhook (account_id, id, created_at, url, events, secret) VALUES "
                                 "('%s', '%s', 0, 'https://hook%d.example/', 31, %s)",
                                 fx->account.text, id_of(n).text, n,
                                 fx->fixture->config.engine == ENGINE_SQLITE ? "X'01'" : "'\\x01'")
                        .p);
}

static void add(struct building_fixture *fx, int endpoint, int delivery, int64_t due_us)
{
    fixture_sql(fx, arena_printf(&fx->arena,
                                 "INSERT INTO event (account_id, id, type, created_at, data) VALUES "
                                 "('%s', 'evt_%s', 'access.denied', %lld, '{\"n\":%d}')",
                                 fx->account.text, id_of(delivery).text, (long long)fx->now_us, delivery)
                        .p);
    fixture_sql(fx,
                arena_printf(&fx->arena,
                             "INSERT INTO delivery (webhook_id, id, account_id, event_id, created_at, due_at) VALUES "
                             "('%s', '%s', '%s', 'evt_%s', 0, %lld)",
                             id_of(endpoint).text, id_of(delivery).text, fx->account.text, id_of(delivery).text,
                             (long long)due_us)
                    .p);
    fixture_sql(fx, arena_printf(&fx->arena,
                                 "INSERT INTO delivery_lane (webhook_id, due_at) VALUES ('%s', %lld) ON CONFLICT "
                                 "(webhook_id) DO UPDATE SET due_at = excluded.due_at "
                                 "WHERE delivery_lane.due_at > excluded.due_at",
                                 id_of(endpoint).text, (long long)due_us)
                        .p);
}

static enum err take_run(struct tx *tx, void *arg)
{
    return delivery_take(tx, arg);
}

static void take(struct building_fixture *fx, struct delivery_take *t)
{
    if (!t->account_max)
        t->account_max = t->account_slow_max = 1000;
    t->leases = !store_exclusive(fx->fixture->store);
    t->writing = false;
    assert_int_equal(fixture_run(fx, STORE_READ, take_run, t), ERR_NONE);
    t->writing = t->again;
    if (t->again)
        assert_int_equal(fixture_run(fx, STORE_WRITE, take_run, t), ERR_NONE);
}

/* The numbers of the deliveries taken, in their order: "3 1 2". */
static void taken(struct building_fixture *fx, const struct delivery_take *t, const char *wanted)
{
    struct buf got = BUF(10000);
    for (size_t i = 0; i < t->count; i++)
        buf_printf(&got, "%s%d", i ? " " : "", atoi(t->list[i].id.text));
    const char *text = arena_str(&fx->arena, buf_view(&got)).p;
    buf_done(&got);
    assert_string_equal(text, wanted);
}

static void free_leases(struct building_fixture *fx)
{
    fixture_sql(fx, "UPDATE delivery SET leased_until = 0");
    fixture_sql(fx, arena_printf(&fx->arena, "UPDATE delivery_lane SET due_at = %lld", (long long)fx->now_us).p);
}

/* Each take begins behind the one before, and leaves some for want of room. */
static void taken_in_turns(struct building_fixture *fx, struct delivery_take *t, const char *const *rounds,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        take(fx, t);
        taken(fx, t, rounds[i]);
        assert_true(t->more);
        t->after = t->last;
        free_leases(fx);
    }
}

struct record {
    struct delivery_result *list;
    size_t count;
};

static enum err record_run(struct tx *tx, void *arg)
{
    const struct record *r = arg;
    return delivery_record(tx, r->list, r->count);
}

static void record(struct building_fixture *fx, struct delivery_result result)
{
    assert_int_equal(fixture_run(fx, STORE_WRITE, record_run, &(struct record){&result, 1}), ERR_NONE);
}

/* Status, attempts, status code and failure of a delivery, and the seconds until it is due. */
static void is_now(struct building_fixture *fx, int delivery, const char *wanted)
{
    fixture_expect(
        fx,
        arena_printf(&fx->arena,
                     "SELECT status, attempts, status_code, failure, (due_at - %lld) / 1000000 FROM delivery "
                     "WHERE id = '%s'",
                     (long long)fx->now_us, id_of(delivery).text)
            .p,
        wanted);
}

/* ---- taking ---- */

static void test_a_due_delivery_has_everything_for_an_attempt(void **state)
{
    struct building_fixture *fx = *state;
    add_endpoint(fx, 1);
    add(fx, 1, 7, fx->now_us);
    struct delivery_take t = {.lane_room = 5, .room = 5};
    take(fx, &t);
    assert_int_equal(t.count, 1);
    assert_string_equal(t.list->webhook_id.text, id_of(1).text);
    assert_true(str_eq(t.list->secret, STR("\1")));
    assert_string_equal(t.list->url.p, "https://hook1.example/");
    assert_string_equal(t.list->event_id.p, "evt_000000000000000000000007");
    assert_string_equal(t.list->type.p, "access.denied");
    assert_string_equal(t.list->data.p, "{\"n\":7}");
    assert_int_equal(t.list->event_created_us, fx->now_us);
    assert_int_equal(t.list->attempts, 0);
    assert_false(t.more);
}

static void test_the_earliest_due_deliveries_are_taken_and_never_too_early(void **state)
{
    struct building_fixture *fx = *state;
    add_endpoint(fx, 1);
    add(fx, 1, 1, fx->now_us - 5);
    add(fx, 1, 2, fx->now_us - 9);
    add(fx, 1, 3, fx->now_us);
    add(fx, 1, 4, fx->now_us + 1);
    struct delivery_take t = {.lane_room = 9, .room = 9};
    take(fx, &t);
    taken(fx, &t, "2 1 3");
}

static void test_a_take_reports_the_next_due_time(void **state)
{
    struct building_fixture *fx = *state;
    struct delivery_take t = {.lane_room = 9, .room = 9};
    take(fx, &t);
    assert_int_equal(t.next_us, INT64_MAX);
    add_endpoint(fx, 1);
    add_endpoint(fx, 2);
    add(fx, 1, 1, fx->now_us + 70);
    add(fx, 2, 2, fx->now_us + 60);
    take(fx, &t);
    taken(fx, &t, "");
    assert_int_equal(t.next_us, fx->now_us + 60);
}

static void test_a_take_reports_the_next_due_time_after_taken_deliveries(void **state)
{
    struct building_fixture *fx = *state;
    add_endpoint(fx, 1);
    add(fx, 1, 1, fx->now_us);
    add(fx, 1, 2, fx->now_us + 60);
    struct delivery_take t = {.lane_room = 9, .room = 9};
    take(fx, &t);
    taken(fx, &t, "1");
    assert_int_equal(t.next_us, fx->now_us + 60);
}

static void test_an_endpoint_gives_no_more_than_its_room(void **state)
{
    struct building_fixture *fx = *state;
    add_endpoint(fx, 1);
    add_endpoint(fx, 2);
    for (int i = 0; i < 5; i++) {
        add(fx, 1, 10 + i, fx->now_us - 100);
        add(fx, 2, 20 + i, fx->now_us);
    }
    struct delivery_take t = {.lane_room = 2, .room = 100};
    take(fx, &t);
    taken(fx, &t, "10 11 20 21");
    assert_true(t.more);
}

static void test_a_full_endpoint_is_skipped(void **state)
{
    struct building_fixture *fx = *state;
    add_endpoint(fx, 1);
    add_endpoint(fx, 2);
    for (int i = 0; i < 50; i++)
        add(fx, 1, 100 + i, fx->now_us - 100);
    add(fx, 2, 2, fx->now_us);
    const struct delivery_lane full = {.webhook_id = id_of(1), .room = 0};
    struct delivery_take t = {.lanes = &full, .lane_count = 1, .lane_room = 2, .room = 2};
    take(fx, &t);
    taken(fx, &t, "2");
    assert_true(t.more);
}

static void test_a_held_delivery_is_not_taken_again(void **state)
{
    struct building_fixture *fx = *state;
    const struct id held[] = {id_of(1), id_of(3)};
    const struct delivery_lane lane = {.webhook_id = id_of(1), .held = held, .held_count = 2, .room = 2};
    add_endpoint(fx, 1);
    for (int i = 1; i <= 5; i++)
        add(fx, 1, i, fx->now_us);
    struct delivery_take t = {.lanes = &lane, .lane_count = 1, .lane_room = 9, .room = 9};
    take(fx, &t);
    taken(fx, &t, "2 4");
}

static void test_endpoints_take_turns(void **state)
{
    struct building_fixture *fx = *state;
    struct delivery_take t = {.lane_room = 1, .room = 2};
    for (int i = 1; i <= 5; i++) {
        add_endpoint(fx, i);
        add(fx, i, i, fx->now_us);
    }
    static const char *const rounds[] = {"1 2", "3 4", "5 1", "2 3"};
    taken_in_turns(fx, &t, rounds, COUNT(rounds));
}

static void test_slow_endpoints_share_their_room_in_turns(void **state)
{
    struct building_fixture *fx = *state;
    struct delivery_lane slow[3];
    for (int i = 1; i <= 4; i++) {
        add_endpoint(fx, i);
        add(fx, i, i, fx->now_us);
        if (i < 4)
            slow[i - 1] = (struct delivery_lane){.webhook_id = id_of(i), .room = 1, .slow = true};
    }
    struct delivery_take t = {.lanes = slow, .lane_count = 3, .lane_room = 1, .room = 9, .slow_room = 2};
    static const char *const rounds[] = {"1 2 4", "3 4 1", "2 3 4"};
    taken_in_turns(fx, &t, rounds, COUNT(rounds));
}

/* Endpoints 1 to 3 are of one account, 4 and 5 of two others. */
/* WEBHOOK-28 */
static void test_the_endpoints_of_one_account_have_a_share_in_turns(void **state)
{
    struct building_fixture *fx = *state;
    struct delivery_take t = {.lane_room = 1, .room = 9, .account_max = 2};
    for (int i = 1; i <= 5; i++) {
        add_endpoint(fx, i);
        add(fx, i, i, fx->now_us);
    }
    fixture_sql(fx, "UPDATE webhook SET account_id = replace(id, '0', 'b') WHERE id >= '000000000000000000000004'");
    static const char *const rounds[] = {"1 2 4 5", "3 4 5 1", "2 3 4 5"};
    taken_in_turns(fx, &t, rounds, COUNT(rounds));
}

static void test_attempts_in_progress_count_for_their_account(void **state)
{
    struct building_fixture *fx = *state;
    struct delivery_lane lanes[3] = {{.active = 2}, {.active = 1, .slow = true}, {.room = 1, .slow = true}};
    for (int i = 1; i <= 5; i++) {
        add_endpoint(fx, i);
        add(fx, i, i, fx->now_us);
    }
    fixture_sql(fx, "UPDATE webhook SET account_id = replace(id, '0', 'b') WHERE id = '000000000000000000000005'");
    for (int i = 0; i < 3; i++) {
        lanes[i].webhook_id = id_of(i + 1);
        lanes[i].account_id = fx->account;
    }
    struct delivery_take t = {.lanes = lanes, .lane_count = 3, .lane_room = 1, .room = 9, .slow_room = 9};
    static const struct {
        unsigned all, slow;
        const char *wanted;
    } cases[] = {{3, 3, "5"}, {4, 1, "4 5"}, {4, 2, "3 5"}, {5, 2, "3 4 5"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        t.account_max = cases[i].all;
        t.account_slow_max = cases[i].slow;
        take(fx, &t);
        taken(fx, &t, cases[i].wanted);
        free_leases(fx);
    }
}

static void test_a_take_that_begins_in_the_middle_visits_all_endpoints(void **state)
{
    struct building_fixture *fx = *state;
    struct delivery_take t = {.lane_room = 1, .room = 100, .after = {fx->now_us, id_of(150)}};
    for (int i = 1; i <= 200; i++)
        add_endpoint(fx, i), add(fx, i, i, i == 120 ? fx->now_us + 9 : fx->now_us);
    take(fx, &t);
    assert_int_equal(t.count, 100);
    assert_true(t.more);
    assert_string_equal(t.list[0].id.text, id_of(151).text);
    assert_string_equal(t.last.webhook_id.text, id_of(50).text);
    free_leases(fx);
    t.room = 1000;
    take(fx, &t);
    assert_int_equal(t.count, 199);
    assert_int_equal(t.next_us, fx->now_us + 9);
}

/* PostgreSQL may run a subquery again for each row that it updates. It does so while the table's statistics say that
 * few rows are pending, as they usually do. */
static void test_only_taken_deliveries_are_leased(void **state)
{
    struct building_fixture *fx = *state;
    const bool leases = !store_exclusive(fx->fixture->store);
    add_endpoint(fx, 1);
    add(fx, 1, 1, fx->now_us);
    fixture_sql(fx, "UPDATE delivery SET status = 'delivered'");
    fixture_sql(fx, leases ? "VACUUM ANALYZE" : "ANALYZE");
    for (int i = 2; i <= 6; i++)
        add(fx, 1, i, fx->now_us);
    struct delivery_take t = {.lane_room = 2, .room = 9};
    take(fx, &t);
    taken(fx, &t, "2 3");
    fixture_expect(fx, "SELECT count(*) FROM delivery WHERE leased_until > 0", leases ? "2\n" : "0\n");
}

static void test_a_deleted_endpoint_or_event_is_reported(void **state)
{
    struct building_fixture *fx = *state;
    add(fx, 1, 1, fx->now_us);
    add_endpoint(fx, 2);
    add(fx, 2, 2, fx->now_us);
    fixture_sql(fx, "DELETE FROM event WHERE id = 'evt_000000000000000000000002'");
    struct delivery_take t = {.lane_room = 9, .room = 9};
    take(fx, &t);
    taken(fx, &t, "1 2");
    assert_null(t.list[0].url.p);
    assert_null(t.list[1].data.p);
}

static void test_processes_that_share_the_store_never_take_a_delivery_twice(void **state)
{
    struct building_fixture *fx = *state;
    add_endpoint(fx, 1);
    add(fx, 1, 1, fx->now_us);
    add(fx, 1, 2, fx->now_us + HOURS);
    struct delivery_take t = {.lane_room = 9, .room = 9};
    take(fx, &t);
    taken(fx, &t, "1");
    take(fx, &t);
    taken(fx, &t, store_exclusive(fx->fixture->store) ? "1" : "");
    if (t.leases) /* when the lease ends */
        assert_in_range(t.next_us, fx->now_us + 1, fx->now_us + 60 * US_PER_S);
    fixture_sql(fx, "UPDATE delivery SET leased_until = 1");
    fx->now_us += 60 * US_PER_S + US_PER_S;
    take(fx, &t);
    taken(fx, &t, "1");
}

static void test_a_lane_without_due_deliveries_is_read_once(void **state)
{
    struct building_fixture *fx = *state;
    struct delivery_take t = {.lane_room = 9, .room = 9};
    add_endpoint(fx, 1);
    add(fx, 1, 1, fx->now_us);
    fixture_sql(fx, "UPDATE delivery SET status = 'canceled'");
    take(fx, &t);
    taken(fx, &t, "");
    assert_true(t.writing);
    take(fx, &t);
    assert_false(t.writing);
    assert_int_equal(t.next_us, INT64_MAX);
}

struct deliver {
    struct id account, webhook, delivery;
};

static enum err deliver_run(struct tx *tx, void *arg)
{
    struct deliver *d = arg;
    return event_deliver(tx, &d->account, &d->webhook, STR("evt_000000000000000000000001"), &d->delivery);
}

static void test_an_event_is_due_at_once_even_if_its_endpoint_waits(void **state)
{
    struct building_fixture *fx = *state;
    struct delivery_take t = {.lane_room = 9, .room = 9};
    struct deliver d = {.account = fx->account, .webhook = id_of(1)};
    add_endpoint(fx, 1);
    add(fx, 1, 1, fx->now_us + 60);
    take(fx, &t);
    taken(fx, &t, "");
    assert_int_equal(fixture_run(fx, STORE_WRITE, deliver_run, &d), ERR_NONE);
    take(fx, &t);
    assert_int_equal(t.count, 1);
    assert_string_equal(t.list[0].id.text, d.delivery.text);
    assert_int_equal(t.next_us, fx->now_us + 60);
}

/* ---- recording ---- */

static struct delivery_result result_of(const struct building_fixture *fx, int64_t attempt, long code,
                                        const char *failure)
{
    return (struct delivery_result){.webhook_id = id_of(1),
                                    .id = id_of(1),
                                    .attempt = attempt,
                                    .ended_us = fx->now_us,
                                    .status_code = code,
                                    .failure = failure};
}

static void test_a_delivered_event_is_not_due_again(void **state)
{
    struct building_fixture *fx = *state;
    struct delivery_take t = {.lane_room = 9, .room = 9};
    add(fx, 1, 1, fx->now_us);
    record(fx, result_of(fx, 1, 204, NULL));
    is_now(fx, 1, "delivered|1|204||0\n");
    fx->now_us += 365 * DAYS;
    take(fx, &t);
    taken(fx, &t, "");
}

/* WEBHOOK-19 */
static void test_a_failed_delivery_is_retried_four_times_counted_from_the_last_end(void **state)
{
    struct building_fixture *fx = *state;
    static const char *const after[] = {"pending|1|500|status|60\n", "pending|2|500|status|300\n",
                                        "pending|3|500|status|1800\n", "pending|4|500|status|7200\n",
                                        "failed|5|500|status|0\n"};
    add(fx, 1, 1, fx->now_us);
    for (int i = 0; i < delivery_plans[DELIVERY_CURRENT].attempts; i++) {
        fx->now_us += 3 * HOURS;
        record(fx, result_of(fx, i + 1, 500, "status"));
        is_now(fx, 1, after[i]);
    }
}

static void test_a_canceled_delivery_stays_canceled(void **state)
{
    struct building_fixture *fx = *state;
    add(fx, 1, 1, fx->now_us);
    fixture_sql(fx, "UPDATE delivery SET status = 'canceled'");
    record(fx, result_of(fx, 1, 200, NULL));
    is_now(fx, 1, "canceled|0|||0\n");
}

static void test_an_attempt_counts_once(void **state)
{
    struct building_fixture *fx = *state;
    add(fx, 1, 1, fx->now_us);
    record(fx, result_of(fx, 1, 0, "timeout"));
    record(fx, result_of(fx, 1, 0, "connect"));
    is_now(fx, 1, "pending|1||timeout|60\n");
}

/* WEBHOOK-29 */
static void test_late_deliveries_of_an_endpoint_that_fails_are_given_up(void **state)
{
    struct building_fixture *fx = *state;
    struct delivery_result failure = result_of(fx, 1, 0, "timeout"), success = result_of(fx, 1, 204, NULL);
    add_endpoint(fx, 2);
    add(fx, 1, 1, fx->now_us);
    add(fx, 1, 2, fx->now_us - 4 * DAYS);
    add(fx, 1, 3, fx->now_us - 2 * DAYS);
    add(fx, 2, 4, fx->now_us - 4 * DAYS); /* of another endpoint */
    record(fx, failure);                  /* the service was away until now */
    is_now(fx, 2, "pending|0|||-345600\n");
    success.late = failure.late = true;
    failure.attempt = 2;
    success.attempt = 2;
    success.id = id_of(3);
    record(fx, success);
    is_now(fx, 2, "pending|0|||-345600\n");
    record(fx, failure);
    is_now(fx, 2, "failed|0||timeout|-345600\n");
    is_now(fx, 3, "pending|0|||-172800\n");
    is_now(fx, 4, "pending|0|||-345600\n");
}

#define TESTS(x)                                                                                                       \
    x(test_a_due_delivery_has_everything_for_an_attempt),                                                              \
        x(test_the_earliest_due_deliveries_are_taken_and_never_too_early), x(test_a_take_reports_the_next_due_time),   \
        x(test_a_take_reports_the_next_due_time_after_taken_deliveries),                                               \
        x(test_an_endpoint_gives_no_more_than_its_room), x(test_a_full_endpoint_is_skipped),                           \
        x(test_a_held_delivery_is_not_taken_again), x(test_endpoints_take_turns),                                      \
        x(test_slow_endpoints_share_their_room_in_turns), x(test_the_endpoints_of_one_account_have_a_share_in_turns),  \
        x(test_attempts_in_progress_count_for_their_account),                                                          \
        x(test_a_take_that_begins_in_the_middle_visits_all_endpoints), x(test_only_taken_deliveries_are_leased),       \
        x(test_a_deleted_endpoint_or_event_is_reported),                                                               \
        x(test_processes_that_share_the_store_never_take_a_delivery_twice),                                            \
        x(test_a_lane_without_due_deliveries_is_read_once),                                                            \
        x(test_an_event_is_due_at_once_even_if_its_endpoint_waits), x(test_a_delivered_event_is_not_due_again),        \
        x(test_a_failed_delivery_is_retried_four_times_counted_from_the_last_end),                                     \
        x(test_a_canceled_delivery_stays_canceled), x(test_an_attempt_counts_once),                                    \
        x(test_late_deliveries_of_an_endpoint_that_fails_are_given_up)
FIXTURE_RUN_BOTH(TESTS)
