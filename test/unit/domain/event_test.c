#include "webhook_fixture.h"

static struct event_data denied(struct tx *tx)
{
    return (struct event_data){
        .building_id = v_str(STR("f0f0f0f0f0f0f0f0f0f0f0f0")),
        .building_label = v_str(STR("Home")),
        .occurred_at = v_time(tx->now_us),
    };
}

static struct event_id write_denied(struct tx *tx, const struct id *account)
{
    const struct event_data data = denied(tx);
    struct event_id id;
    assert_none(event_write(tx, EVENT_ACCESS_DENIED, account, NULL, &data, &id));
    return id;
}

/* IDs of a process always grow, whatever the test's clock says. Tests that compare the age of IDs therefore need a
 * later clock than the tests before them. */
static void go_where_no_test_was(struct tx *tx)
{
    static int64_t later_us;
    tx->now_us = TX_NOW + (later_us += 100 * DAYS);
}

static int64_t purged_events(struct tx *tx, int64_t before_us)
{
    int64_t count;
    assert_none(event_purge(tx, before_us, 100, &count));
    return count;
}

/* WEBHOOK-17 */
static void test_an_event_without_a_listener_is_not_written(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com"), theirs = some_account(tx, "b@example.com");
    const struct webhook deaf = some_webhook(tx, &mine, ALL_EVENTS & ~EVENT_BIT(ACCESS_DENIED));
    const struct webhook gone = some_webhook(tx, &mine, ALL_EVENTS), foreign = some_webhook(tx, &theirs, ALL_EVENTS);
    assert_none(webhook_delete(tx, &mine, &gone.id));
    assert_string_equal(write_denied(tx, &mine).text, "");
    assert_int_equal(page_of(tx, &mine, &deaf.id).count, 0);
    assert_int_equal(page_of(tx, &mine, &gone.id).count, 0);
    assert_int_equal(page_of(tx, &theirs, &foreign.id).count, 0);
    assert_int_equal(purged_events(tx, INT64_MAX), 0);
}

/* WEBHOOK-17 */
static void test_each_listening_endpoint_gets_a_delivery_due_at_once(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com");
    struct webhook w[WEBHOOK_MAX];
    for (int i = 0; i < WEBHOOK_MAX; i++)
        w[i] = some_webhook(tx, &mine, i == 3 ? EVENT_BIT(ACCESS_GRANTED) : EVENT_BIT(ACCESS_DENIED));
    const struct event_id id = write_denied(tx, &mine);
    assert_int_equal(strlen(id.text), EVENT_ID_LEN);
    assert_memory_equal(id.text, "evt_", 4);
    for (int i = 0; i < WEBHOOK_MAX; i++) {
        const struct delivery_page page = page_of(tx, &mine, &w[i].id);
        assert_int_equal(page.count, i == 3 ? 0 : 1);
        if (i == 3)
            continue;
        const struct delivery_entry *d = &page.items[0];
        assert_str(d->event_id, id.text);
        assert_str(d->type, "access.denied");
        assert_str(d->status, "pending");
        assert_int_equal(d->attempts, 0);
        assert_int_equal(d->created_us, TX_NOW);
        assert_int_equal(d->due_us, TX_NOW);
        assert_int_equal(d->attempted_us, 0);
        assert_int_equal(d->status_code, 0);
        assert_null(d->failure.p);
    }
}

static void test_an_old_event_is_purged_after_its_last_delivery(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com");
    const struct webhook w = some_webhook(tx, &mine, ALL_EVENTS);
    int64_t count;
    go_where_no_test_was(tx);
    const int64_t start_us = tx->now_us;
    write_denied(tx, &mine);
    const struct id first = page_of(tx, &mine, &w.id).items[0].id;
    tx->now_us += DAYS;
    write_denied(tx, &mine);
    const struct id second = page_of(tx, &mine, &w.id).items[0].id;
    assert_int_equal(purged_events(tx, INT64_MAX), 0);
    assert_none(delivery_purge(tx, tx->now_us + DAYS, 10, &count));
    assert_int_equal(count, 0); /* pending deliveries are never purged */
    set_status(tx, &first, "delivered");
    set_status(tx, &second, "failed");
    assert_none(delivery_purge(tx, tx->now_us, 10, &count));
    assert_int_equal(count, 1);
    assert_int_equal(purged_events(tx, start_us), 0);
    assert_int_equal(purged_events(tx, INT64_MAX), 1);
    assert_id(page_of(tx, &mine, &w.id).items[0].id, second);
    assert_none(delivery_purge(tx, tx->now_us + US_PER_S, 10, &count));
    assert_int_equal(count, 1);
    assert_int_equal(purged_events(tx, INT64_MAX), 1);
}

static void test_a_purge_deletes_no_more_than_its_limit(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com");
    const struct webhook w = some_webhook(tx, &mine, ALL_EVENTS);
    int64_t count;
    go_where_no_test_was(tx);
    for (int i = 0; i < 5; i++) {
        write_denied(tx, &mine);
        set_status(tx, &page_of(tx, &mine, &w.id).items[0].id, i % 2 ? "failed" : "delivered");
    }
    for (const int *wanted = (const int[]){2, 2, 1, 0, -1}; *wanted >= 0; wanted++) {
        assert_none(delivery_purge(tx, tx->now_us + US_PER_S, 2, &count));
        assert_int_equal(count, *wanted);
        assert_none(event_purge(tx, INT64_MAX, 2, &count));
        assert_int_equal(count, *wanted);
    }
}

#define TESTS(x)                                                                                                       \
    x(test_an_event_without_a_listener_is_not_written) x(test_each_listening_endpoint_gets_a_delivery_due_at_once)     \
        x(test_an_old_event_is_purged_after_its_last_delivery) x(test_a_purge_deletes_no_more_than_its_limit)
TX_RUN(TESTS)
