#include "webhook_fixture.h"

static struct id tested(struct tx *tx, const struct id *account, const struct webhook *w)
{
    struct id delivery;
    assert_none(webhook_test(tx, account, &w->id, &delivery));
    return delivery;
}

static void test_pages_go_from_the_newest_to_the_oldest(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com");
    const struct webhook w = some_webhook(tx, &mine, ALL_EVENTS), other = some_webhook(tx, &mine, ALL_EVENTS);
    struct id made[5];
    struct delivery_page page;
    for (int i = 0; i < 5; i++) {
        made[i] = tested(tx, &mine, &w);
        tested(tx, &mine, &other);
    }
    struct delivery_filter filter = {.limit = v_int(2)};
    for (int at = 4; at >= 0; at -= 2) {
        assert_none(delivery_log_page(tx, &mine, &w.id, &filter, &page));
        assert_int_equal(page.count, at > 0 ? 2 : 1);
        assert_int_equal(page.more, at > 0);
        for (int i = 0; i < (int)page.count; i++)
            assert_id(page.items[i].id, made[at - i]);
        filter.cursor = v_str(id_str(&page.items[page.count - 1].id));
    }
    filter = (struct delivery_filter){0};
    assert_none(delivery_log_page(tx, &mine, &w.id, &filter, &page));
    assert_int_equal(page.count, 5);
    assert_false(page.more);
}

static void test_a_page_of_a_status_has_only_its_deliveries(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com");
    const struct webhook w = some_webhook(tx, &mine, ALL_EVENTS);
    const struct id failed = tested(tx, &mine, &w), pending = tested(tx, &mine, &w);
    struct delivery_page page;
    set_status(tx, &failed, "failed");
    assert_none(delivery_log_page(tx, &mine, &w.id, &(struct delivery_filter){.status = v_str(STR("failed"))}, &page));
    assert_int_equal(page.count, 1);
    const struct delivery_entry *d = &page.items[0];
    assert_id(d->id, failed);
    assert_id(d->webhook_id, w.id);
    assert_int_equal(d->attempts, 5);
    assert_int_equal(d->attempted_us, 7 * US_PER_S);
    assert_int_equal(d->status_code, 503);
    assert_str(d->failure, "status");
    assert_none(delivery_log_page(tx, &mine, &w.id, &(struct delivery_filter){.status = v_str(STR("pending"))}, &page));
    assert_int_equal(page.count, 1);
    assert_id(page.items[0].id, pending);
}

static void test_an_unknown_or_foreign_endpoint_has_no_page(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com"), theirs = some_account(tx, "b@example.com");
    const struct webhook w = some_webhook(tx, &mine, ALL_EVENTS);
    const struct delivery_filter all = {0};
    struct delivery_page page;
    assert_error(delivery_log_page(tx, &theirs, &w.id, &all, &page), ERR_NOT_FOUND);
    assert_error(delivery_log_page(tx, &mine, &mine, &all, &page), ERR_NOT_FOUND);
}

/* WEBHOOK-32 */
static void test_an_ended_delivery_can_be_replayed_with_the_same_event(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com"), theirs = some_account(tx, "b@example.com");
    const struct webhook w = some_webhook(tx, &mine, ALL_EVENTS), other = some_webhook(tx, &mine, ALL_EVENTS);
    const struct id first = tested(tx, &mine, &w);
    struct id again;
    assert_error(delivery_replay(tx, &mine, &w.id, &first, &again), ERR_DELIVERY_PENDING);
    for (const char *const *status = (const char *const[]){"failed", "delivered", NULL}; *status; status++) {
        set_status(tx, &first, *status);
        tx->now_us += MINUTES;
        assert_none(delivery_replay(tx, &mine, &w.id, &first, &again));
        const struct delivery_page page = page_of(tx, &mine, &w.id);
        const struct delivery_entry *newest = &page.items[0], *oldest = &page.items[page.count - 1];
        assert_id(newest->id, again);
        assert_str(newest->status, "pending");
        assert_int_equal(newest->attempts, 0);
        assert_int_equal(newest->due_us, tx->now_us);
        assert_true(str_eq(newest->event_id, oldest->event_id));
        assert_id(oldest->id, first);
        assert_str(oldest->status, *status);
    }
    assert_error(delivery_replay(tx, &theirs, &w.id, &first, &again), ERR_NOT_FOUND);
    assert_error(delivery_replay(tx, &mine, &other.id, &first, &again), ERR_NOT_FOUND);
    assert_error(delivery_replay(tx, &mine, &w.id, &mine, &again), ERR_NOT_FOUND);
}

/* WEBHOOK-32 */
static void test_a_delivery_to_a_deleted_endpoint_cannot_be_replayed(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com");
    const struct webhook w = some_webhook(tx, &mine, ALL_EVENTS);
    const struct id first = tested(tx, &mine, &w);
    struct id again;
    assert_none(webhook_delete(tx, &mine, &w.id));
    assert_error(delivery_replay(tx, &mine, &w.id, &first, &again), ERR_NOT_FOUND);
    assert_error(delivery_replay_any(tx, &first, &again), ERR_NOT_FOUND);
    assert_int_equal(page_of(tx, &mine, &w.id).count, 1);
}

/* WEBHOOK-33 */
static void test_the_operator_finds_deliveries_by_account_and_by_status(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com"), theirs = some_account(tx, "b@example.com");
    const struct webhook w = some_webhook(tx, &mine, ALL_EVENTS), other = some_webhook(tx, &mine, ALL_EVENTS);
    const struct webhook foreign = some_webhook(tx, &theirs, ALL_EVENTS);
    const struct id a = tested(tx, &mine, &w), b = tested(tx, &theirs, &foreign), c = tested(tx, &mine, &other);
    const struct id nobody = {""};
    const struct delivery_entry *list;
    struct id again;
    size_t count;
    set_status(tx, &a, "failed");
    set_status(tx, &b, "failed");
    assert_none(delivery_log_search(tx, &mine, STR_NONE, 10, &list, &count));
    assert_int_equal(count, 2);
    assert_id(list[0].id, c);
    assert_id(list[1].id, a);
    assert_none(delivery_log_search(tx, &mine, STR("failed"), 10, &list, &count));
    assert_int_equal(count, 1);
    assert_id(list[0].id, a);
    assert_none(delivery_log_search(tx, &nobody, STR("failed"), 10, &list, &count));
    assert_int_equal(count, 2);
    assert_id(list[0].id, b);
    assert_none(delivery_log_search(tx, &nobody, STR("failed"), 1, &list, &count));
    assert_int_equal(count, 1);
    assert_none(delivery_replay_any(tx, &b, &again));
    assert_id(page_of(tx, &theirs, &foreign.id).items[0].id, again);
    assert_error(delivery_replay_any(tx, &c, &again), ERR_DELIVERY_PENDING);
    assert_error(delivery_replay_any(tx, &mine, &again), ERR_NOT_FOUND);
}

#define TESTS(x)                                                                                                       \
    x(test_pages_go_from_the_newest_to_the_oldest) x(test_a_page_of_a_status_has_only_its_deliveries)                  \
        x(test_an_unknown_or_foreign_endpoint_has_no_page)                                                             \
            x(test_an_ended_delivery_can_be_replayed_with_the_same_event)                                              \
                x(test_a_delivery_to_a_deleted_endpoint_cannot_be_replayed)                                            \
                    x(test_the_operator_finds_deliveries_by_account_and_by_status)
TX_RUN(TESTS)
