/* Deliveries in the store: which are taken, in what turns, and what becomes of attempts. */
#include "domain/house.h"

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

static void add_endpoint(struct house *h, int n)
{
    house_sql(h, arena_printf(&h->arena,
                              "INSERT INTO webhook (account_id, id, created_at, url, events, secret) VALUES "
                              "('%s', '%s', 0, 'https://hook%d.example/', 31, %s)",
                              h->account.text, id_of(n).text, n,
                              h->fixture->config.engine == ENGINE_SQLITE ? "X'01'" : "'\\x01'")
                     .p);
}

static void add(struct house *h, int endpoint, int delivery, int64_t due_us)
{
    house_sql(h, arena_printf(&h->arena,
                              "INSERT INTO event (account_id, id, type, created_at, data) VALUES "
                              "('%s', 'evt_%s', 'access.denied', %lld, '{\"n\":%d}')",
                              h->account.text, id_of(delivery).text, (long long)h->now_us, delivery)
                     .p);
    house_sql(h, arena_printf(&h->arena,
                              "INSERT INTO delivery (webhook_id, id, account_id, event_id, created_at, due_at) VALUES "
                              "('%s', '%s', '%s', 'evt_%s', 0, %lld)",
                              id_of(endpoint).text, id_of(delivery).text, h->account.text, id_of(delivery).text,
                              (long long)due_us)
                     .p);
    house_sql(h, arena_printf(&h->arena,
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

static void take(struct house *h, struct delivery_take *t)
{
    t->leases = !store_exclusive(h->fixture->store);
    t->writing = false;
    assert_int_equal(house_run(h, STORE_READ, take_run, t), ERR_NONE);
    t->writing = t->again;
    if (t->again)
        assert_int_equal(house_run(h, STORE_WRITE, take_run, t), ERR_NONE);
}

/* The numbers of the deliveries taken, in their order: "3 1 2". */
static void taken(struct house *h, const struct delivery_take *t, const char *wanted)
{
    struct buf got = BUF(10000);
    for (size_t i = 0; i < t->count; i++)
        buf_printf(&got, "%s%d", i ? " " : "", atoi(t->list[i].id.text));
    const char *text = arena_str(&h->arena, buf_view(&got)).p;
    buf_done(&got);
    assert_string_equal(text, wanted);
}

static void free_leases(struct house *h)
{
    house_sql(h, "UPDATE delivery SET leased_until = 0");
    house_sql(h, arena_printf(&h->arena, "UPDATE delivery_lane SET due_at = %lld", (long long)h->now_us).p);
}

struct record {
    const struct delivery_result *list;
    size_t count;
};

static enum err record_run(struct tx *tx, void *arg)
{
    const struct record *r = arg;
    return delivery_record(tx, r->list, r->count);
}

static void record(struct house *h, struct delivery_result result)
{
    assert_int_equal(house_run(h, STORE_WRITE, record_run, &(struct record){&result, 1}), ERR_NONE);
}

/* Status, attempts, code and word of a delivery, and the seconds until it is due. */
static void is_now(struct house *h, int delivery, const char *wanted)
{
    house_expect(h,
                 arena_printf(&h->arena,
                              "SELECT status, attempts, status_code, failure, (due_at - %lld) / 1000000 FROM delivery "
                              "WHERE id = '%s'",
                              (long long)h->now_us, id_of(delivery).text)
                     .p,
                 wanted);
}

/* ---- taking ---- */

static void test_a_due_delivery_comes_with_all_an_attempt_needs(void **state)
{
    struct house *h = *state;
    add_endpoint(h, 1);
    add(h, 1, 7, h->now_us);
    struct delivery_take t = {.lane_room = 5, .room = 5};
    take(h, &t);
    assert_int_equal(t.count, 1);
    assert_string_equal(t.list->webhook_id.text, id_of(1).text);
    assert_true(str_eq(t.list->secret, STR("\1")));
    assert_string_equal(t.list->url.p, "https://hook1.example/");
    assert_string_equal(t.list->event_id.p, "evt_000000000000000000000007");
    assert_string_equal(t.list->type.p, "access.denied");
    assert_string_equal(t.list->data.p, "{\"n\":7}");
    assert_int_equal(t.list->event_created_us, h->now_us);
    assert_int_equal(t.list->attempts, 0);
    assert_false(t.more);
}

static void test_the_earliest_due_ones_are_taken_and_none_before_its_time(void **state)
{
    struct house *h = *state;
    add_endpoint(h, 1);
    add(h, 1, 1, h->now_us - 5);
    add(h, 1, 2, h->now_us - 9);
    add(h, 1, 3, h->now_us);
    add(h, 1, 4, h->now_us + 1);
    struct delivery_take t = {.lane_room = 9, .room = 9};
    take(h, &t);
    taken(h, &t, "2 1 3");
}

static void test_what_is_due_next_is_told(void **state)
{
    struct house *h = *state;
    struct delivery_take t = {.lane_room = 9, .room = 9};
    take(h, &t);
    assert_int_equal(t.next_us, INT64_MAX);
    add_endpoint(h, 1);
    add_endpoint(h, 2);
    add(h, 1, 1, h->now_us + 70);
    add(h, 2, 2, h->now_us + 60);
    take(h, &t);
    taken(h, &t, "");
    assert_int_equal(t.next_us, h->now_us + 60);
}

static void test_what_is_due_next_is_told_of_an_endpoint_whose_due_ones_are_taken(void **state)
{
    struct house *h = *state;
    add_endpoint(h, 1);
    add(h, 1, 1, h->now_us);
    add(h, 1, 2, h->now_us + 60);
    struct delivery_take t = {.lane_room = 9, .room = 9};
    take(h, &t);
    taken(h, &t, "1");
    assert_int_equal(t.next_us, h->now_us + 60);
}

static void test_an_endpoint_gives_no_more_than_its_room(void **state)
{
    struct house *h = *state;
    add_endpoint(h, 1);
    add_endpoint(h, 2);
    for (int i = 0; i < 5; i++) {
        add(h, 1, 10 + i, h->now_us - 100);
        add(h, 2, 20 + i, h->now_us);
    }
    struct delivery_take t = {.lane_room = 2, .room = 100};
    take(h, &t);
    taken(h, &t, "10 11 20 21");
    assert_true(t.more);
}

static void test_a_full_endpoint_is_passed_over(void **state)
{
    struct house *h = *state;
    add_endpoint(h, 1);
    add_endpoint(h, 2);
    for (int i = 0; i < 50; i++)
        add(h, 1, 100 + i, h->now_us - 100);
    add(h, 2, 2, h->now_us);
    const struct delivery_lane full = {.webhook_id = id_of(1), .room = 0};
    struct delivery_take t = {.lanes = &full, .lane_count = 1, .lane_room = 2, .room = 2};
    take(h, &t);
    taken(h, &t, "2");
    assert_true(t.more);
}

static void test_what_is_held_is_not_taken_again(void **state)
{
    struct house *h = *state;
    const struct id held[] = {id_of(1), id_of(3)};
    const struct delivery_lane lane = {.webhook_id = id_of(1), .held = held, .held_count = 2, .room = 2};
    add_endpoint(h, 1);
    for (int i = 1; i <= 5; i++)
        add(h, 1, i, h->now_us);
    struct delivery_take t = {.lanes = &lane, .lane_count = 1, .lane_room = 9, .room = 9};
    take(h, &t);
    taken(h, &t, "2 4");
}

static void test_endpoints_have_their_turn(void **state)
{
    struct house *h = *state;
    struct delivery_take t = {.lane_room = 1, .room = 2};
    for (int i = 1; i <= 5; i++) {
        add_endpoint(h, i);
        add(h, i, i, h->now_us);
    }
    static const char *const rounds[] = {"1 2", "3 4", "5 1", "2 3"};
    for (size_t i = 0; i < COUNT(rounds); i++) {
        take(h, &t);
        taken(h, &t, rounds[i]);
        assert_true(t.more);
        t.after = t.last;
        free_leases(h);
    }
}

static void test_slow_endpoints_share_their_room_in_turns(void **state)
{
    struct house *h = *state;
    struct delivery_lane slow[3];
    for (int i = 1; i <= 4; i++) {
        add_endpoint(h, i);
        add(h, i, i, h->now_us);
        if (i < 4)
            slow[i - 1] = (struct delivery_lane){.webhook_id = id_of(i), .room = 1, .slow = true};
    }
    struct delivery_take t = {.lanes = slow, .lane_count = 3, .lane_room = 1, .room = 9, .slow_room = 2};
    static const char *const rounds[] = {"1 2 4", "3 4 1", "2 3 4"};
    for (size_t i = 0; i < COUNT(rounds); i++) {
        take(h, &t);
        taken(h, &t, rounds[i]);
        assert_true(t.more);
        t.after = t.last;
        free_leases(h);
    }
}

static void test_a_round_that_begins_in_the_middle_sees_all(void **state)
{
    struct house *h = *state;
    struct delivery_take t = {.lane_room = 1, .room = 100, .after = {h->now_us, id_of(150)}};
    for (int i = 1; i <= 200; i++)
        add_endpoint(h, i), add(h, i, i, i == 120 ? h->now_us + 9 : h->now_us);
    take(h, &t);
    assert_int_equal(t.count, 100);
    assert_true(t.more);
    assert_string_equal(t.list[0].id.text, id_of(151).text);
    assert_string_equal(t.last.webhook_id.text, id_of(50).text);
    free_leases(h);
    t.room = 1000;
    take(h, &t);
    assert_int_equal(t.count, 199);
    assert_int_equal(t.next_us, h->now_us + 9);
}

/* PostgreSQL may carry a subquery out again for each row that it updates, and does so while the table's statistics say
 * that next to nothing is pending, as they mostly do. */
static void test_no_more_are_leased_than_are_taken(void **state)
{
    struct house *h = *state;
    const bool leases = !store_exclusive(h->fixture->store);
    add_endpoint(h, 1);
    add(h, 1, 1, h->now_us);
    house_sql(h, "UPDATE delivery SET status = 'delivered'");
    house_sql(h, leases ? "VACUUM ANALYZE" : "ANALYZE");
    for (int i = 2; i <= 6; i++)
        add(h, 1, i, h->now_us);
    struct delivery_take t = {.lane_room = 2, .room = 9};
    take(h, &t);
    taken(h, &t, "2 3");
    house_expect(h, "SELECT count(*) FROM delivery WHERE leased_until > 0", leases ? "2\n" : "0\n");
}

static void test_an_endpoint_or_event_that_is_gone_is_told(void **state)
{
    struct house *h = *state;
    add(h, 1, 1, h->now_us);
    add_endpoint(h, 2);
    add(h, 2, 2, h->now_us);
    house_sql(h, "DELETE FROM event WHERE id = 'evt_000000000000000000000002'");
    struct delivery_take t = {.lane_room = 9, .room = 9};
    take(h, &t);
    taken(h, &t, "1 2");
    assert_null(t.list[0].url.p);
    assert_null(t.list[1].data.p);
}

static void test_who_shares_the_store_takes_none_twice(void **state)
{
    struct house *h = *state;
    add_endpoint(h, 1);
    add(h, 1, 1, h->now_us);
    add(h, 1, 2, h->now_us + HOURS);
    struct delivery_take t = {.lane_room = 9, .room = 9};
    take(h, &t);
    taken(h, &t, "1");
    take(h, &t);
    taken(h, &t, store_exclusive(h->fixture->store) ? "1" : "");
    if (t.leases) /* when the lease ends */
        assert_in_range(t.next_us, h->now_us + 1, h->now_us + 60 * US_PER_S);
    house_sql(h, "UPDATE delivery SET leased_until = 1");
    h->now_us += 60 * US_PER_S + US_PER_S;
    take(h, &t);
    taken(h, &t, "1");
}

static void test_a_lane_without_due_deliveries_is_looked_at_once(void **state)
{
    struct house *h = *state;
    struct delivery_take t = {.lane_room = 9, .room = 9};
    add_endpoint(h, 1);
    add(h, 1, 1, h->now_us);
    house_sql(h, "UPDATE delivery SET status = 'canceled'");
    take(h, &t);
    taken(h, &t, "");
    assert_true(t.writing);
    take(h, &t);
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

static void test_an_event_is_due_at_once_though_its_endpoint_waits(void **state)
{
    struct house *h = *state;
    struct delivery_take t = {.lane_room = 9, .room = 9};
    struct deliver d = {.account = h->account, .webhook = id_of(1)};
    add_endpoint(h, 1);
    add(h, 1, 1, h->now_us + 60);
    take(h, &t);
    taken(h, &t, "");
    assert_int_equal(house_run(h, STORE_WRITE, deliver_run, &d), ERR_NONE);
    take(h, &t);
    assert_int_equal(t.count, 1);
    assert_string_equal(t.list[0].id.text, d.delivery.text);
    assert_int_equal(t.next_us, h->now_us + 60);
}

/* ---- recording ---- */

static struct delivery_result result_of(const struct house *h, int64_t attempt, long code, const char *failure)
{
    return (struct delivery_result){.webhook_id = id_of(1),
                                    .id = id_of(1),
                                    .attempt = attempt,
                                    .ended_us = h->now_us,
                                    .status_code = code,
                                    .failure = failure};
}

static void test_a_delivered_one_is_not_due_again(void **state)
{
    struct house *h = *state;
    struct delivery_take t = {.lane_room = 9, .room = 9};
    add(h, 1, 1, h->now_us);
    record(h, result_of(h, 1, 204, NULL));
    is_now(h, 1, "delivered|1|204||0\n");
    h->now_us += 365 * DAYS;
    take(h, &t);
    taken(h, &t, "");
}

static void test_a_failed_one_is_tried_again_four_times_after_the_last_attempts_end(void **state)
{
    struct house *h = *state;
    static const char *const after[] = {"pending|1|500|status|60\n", "pending|2|500|status|300\n",
                                        "pending|3|500|status|1800\n", "pending|4|500|status|7200\n",
                                        "failed|5|500|status|0\n"};
    add(h, 1, 1, h->now_us);
    for (int i = 0; i < DELIVERY_ATTEMPTS; i++) {
        h->now_us += 3 * HOURS;
        record(h, result_of(h, i + 1, 500, "status"));
        is_now(h, 1, after[i]);
    }
}

static void test_a_canceled_one_stays_canceled(void **state)
{
    struct house *h = *state;
    add(h, 1, 1, h->now_us);
    house_sql(h, "UPDATE delivery SET status = 'canceled'");
    record(h, result_of(h, 1, 200, NULL));
    is_now(h, 1, "canceled|0|||0\n");
}

static void test_an_attempt_counts_once(void **state)
{
    struct house *h = *state;
    add(h, 1, 1, h->now_us);
    record(h, result_of(h, 1, 0, "timeout"));
    record(h, result_of(h, 1, 0, "connect"));
    is_now(h, 1, "pending|1||timeout|60\n");
}

#define TESTS(x)                                                                                                       \
    x(test_a_due_delivery_comes_with_all_an_attempt_needs),                                                            \
        x(test_the_earliest_due_ones_are_taken_and_none_before_its_time), x(test_what_is_due_next_is_told),            \
        x(test_what_is_due_next_is_told_of_an_endpoint_whose_due_ones_are_taken),                                      \
        x(test_an_endpoint_gives_no_more_than_its_room), x(test_a_full_endpoint_is_passed_over),                       \
        x(test_what_is_held_is_not_taken_again), x(test_endpoints_have_their_turn),                                    \
        x(test_slow_endpoints_share_their_room_in_turns), x(test_a_round_that_begins_in_the_middle_sees_all),          \
        x(test_no_more_are_leased_than_are_taken), x(test_an_endpoint_or_event_that_is_gone_is_told),                  \
        x(test_who_shares_the_store_takes_none_twice), x(test_a_lane_without_due_deliveries_is_looked_at_once),        \
        x(test_an_event_is_due_at_once_though_its_endpoint_waits), x(test_a_delivered_one_is_not_due_again),           \
        x(test_a_failed_one_is_tried_again_four_times_after_the_last_attempts_end),                                    \
        x(test_a_canceled_one_stays_canceled), x(test_an_attempt_counts_once)
HOUSE_RUN_BOTH(TESTS)
