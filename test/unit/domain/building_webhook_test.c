/* Endpoints of the earlier revision, and their deliveries, next to endpoints of the current one. */
#include "domain/building.h"
#include "domain/building_webhook.h"
#include "domain/delivery.h"
#include "webhook_fixture.h"

#define EARLIER_BIT(symbol) (1U << EARLIER_##symbol)
#define ALL_LISTED          ((1U << EARLIER_LISTED) - 1)

struct home {
    struct id account, building;
};

static struct home some_home(struct tx *tx, const char *email)
{
    const struct building *list;
    size_t count;
    struct home h = {.account = some_account(tx, email)};
    assert_none(building_list(tx, &h.account, &list, &count));
    assert_int_equal(count, 1);
    h.building = list[0].id;
    assert_none(account_set_revision(tx, &h.account, true));
    return h;
}

static struct building_webhook some_hook(struct tx *tx, const struct home *h, uint32_t events)
{
    const struct building_webhook_request request = {.account = &h->account, .building = &h->building};
    const struct building_webhook wanted = {.url = URL, .events = events};
    struct building_webhook w;
    struct str secret;
    bool replayed;
    assert_none(building_webhook_create(tx, &request, &wanted, &w, &secret, &replayed));
    assert_false(replayed);
    assert_int_equal(secret.n, BUILDING_WEBHOOK_SECRET_LEN);
    return w;
}

static void write_denial(struct tx *tx, const struct home *h)
{
    const struct event_data data = {.building_id = v_str(id_str(&h->building)),
                                    .building_label = v_str(STR("Home")),
                                    .occurred_at = v_time(tx->now_us)};
    assert_none(event_write(tx, EVENT_ACCESS_DENIED, &h->account, &h->building, &data, NULL));
}

/* The due deliveries, of which none is held. */
static struct delivery_take take_due(struct tx *tx)
{
    struct delivery_take t = {.writing = true, .lane_room = 20, .room = 100, .slow_room = 100, .account_max = 100};
    tx_sql(tx, "UPDATE delivery SET leased_until = 0;");
    assert_none(delivery_take(tx, &t));
    return t;
}

static struct delivery_result end_of(struct tx *tx, const struct delivery *d, const char *failure)
{
    struct delivery_result r = {
        .webhook_id = d->webhook_id,
        .id = d->id,
        .form = d->form,
        .attempt = d->attempts + 1,
        .ended_us = tx->now_us,
        .took_ms = 7,
        .failure = failure,
    };
    tx_sql(tx, "UPDATE delivery SET leased_until = 0;");
    assert_none(delivery_record(tx, &r, 1));
    return r;
}

/* Fails or succeeds as often as it takes. Returns the last result. */
static struct delivery_result end_all(struct tx *tx, const struct id *webhook, const char *failure)
{
    struct delivery_result r = {0};
    for (;;) {
        const struct delivery_take t = take_due(tx);
        size_t i = 0;
        while (i < t.count && !id_equal(&t.list[i].webhook_id, webhook))
            i++;
        if (i == t.count)
            return r;
        r = end_of(tx, &t.list[i], failure);
        tx->now_us += 45 * US_PER_S;
    }
}

static bool is_active(struct tx *tx, const struct home *h, const struct id *id)
{
    const struct building_webhook *list;
    size_t count;
    assert_none(building_webhook_list(tx, &h->building, &list, &count));
    for (size_t i = 0; i < count; i++)
        if (id_equal(&list[i].id, id))
            return list[i].active;
    fail();
    return false;
}

static void test_a_building_has_five_endpoints_inactive_ones_included(struct tx *tx)
{
    const struct home mine = some_home(tx, "a@example.com"), theirs = some_home(tx, "b@example.com");
    const struct building_webhook_request sixth = {.account = &mine.account, .building = &mine.building};
    const struct building_webhook wanted = {.url = URL, .events = ALL_LISTED, .description = STR("Desk")};
    struct building_webhook made[BUILDING_WEBHOOK_MAX], w;
    const struct building_webhook *list;
    struct str secret;
    size_t count;
    bool replayed;
    for (int i = 0; i < BUILDING_WEBHOOK_MAX; i++)
        made[i] = some_hook(tx, &mine, 1U << i);
    const struct building_webhook_change off = {.active = v_bool(false)};
    assert_none(building_webhook_update(tx, &mine.building, &made[0].id, &off, &w));
    assert_false(w.active);
    assert_error(building_webhook_create(tx, &sixth, &wanted, &w, &secret, &replayed), ERR_MAX_WEBHOOKS_EXCEEDED);
    some_hook(tx, &theirs, ALL_LISTED);
    some_webhook(tx, &mine.account, ALL_EVENTS); /* the other revision has its own five */
    assert_error(building_webhook_update(tx, &theirs.building, &made[1].id, &off, &w), ERR_NOT_FOUND);
    assert_none(building_webhook_delete(tx, &theirs.building, &made[1].id));
    assert_none(building_webhook_list(tx, &mine.building, &list, &count));
    assert_int_equal(count, BUILDING_WEBHOOK_MAX);
    assert_id(list[0].id, made[BUILDING_WEBHOOK_MAX - 1].id);
    assert_none(building_webhook_delete(tx, &mine.building, &made[1].id));
    assert_none(building_webhook_create(tx, &sixth, &wanted, &w, &secret, &replayed));
    assert_str(w.description, "Desk");
}

static void test_a_key_creates_once_for_a_building(struct tx *tx)
{
    const struct home mine = some_home(tx, "a@example.com"), theirs = some_home(tx, "b@example.com");
    const unsigned char body[SHA256_LEN] = {1}, other[SHA256_LEN] = {2};
    struct building_webhook_request request = {&mine.account, &mine.building, STR("key-of-16-letters"), body};
    const struct building_webhook wanted = {.url = URL, .events = ALL_LISTED};
    struct building_webhook first, again;
    struct str secret, repeated;
    bool replayed;
    assert_none(building_webhook_create(tx, &request, &wanted, &first, &secret, &replayed));
    assert_none(building_webhook_delete(tx, &mine.building, &first.id));
    assert_none(building_webhook_create(tx, &request, &wanted, &again, &repeated, &replayed));
    assert_true(replayed);
    assert_id(again.id, first.id);
    assert_true(str_eq(secret, repeated));
    request.hash = other;
    assert_error(building_webhook_replay(tx, &request, &again, &repeated), ERR_IDEMPOTENCY_CONFLICT);
    request.account = &theirs.account, request.building = &theirs.building;
    assert_none(building_webhook_create(tx, &request, &wanted, &again, &repeated, &replayed));
    assert_false(replayed);
}

static void test_an_event_is_written_in_the_form_of_each_listener(struct tx *tx)
{
    const struct home h = some_home(tx, "a@example.com");
    const struct building_webhook hook = some_hook(tx, &h, EARLIER_BIT(ACCESS_DENIED));
    some_hook(tx, &h, EARLIER_BIT(UNLOCK_COMPLETED));
    const struct webhook current = some_webhook(tx, &h.account, ALL_EVENTS);
    write_denial(tx, &h);
    const struct delivery_take t = take_due(tx);
    assert_int_equal(t.count, 2);
    const int e = t.list[0].form == DELIVERY_EARLIER ? 0 : 1;
    assert_int_equal(t.list[e].form, DELIVERY_EARLIER);
    assert_id(t.list[e].webhook_id, hook.id);
    assert_str(t.list[e].type, "access.denied");
    assert_str(t.list[e].building_id, h.building.text);
    assert_true(str_starts(t.list[e].data, STR("{\"occurred_at\"")));
    assert_true(t.list[e].secret.n > 0);
    assert_int_equal(t.list[!e].form, DELIVERY_CURRENT);
    assert_id(t.list[!e].webhook_id, current.id);
    assert_true(str_starts(t.list[!e].data, STR("{\"building_id\"")));
    assert_false(str_eq(t.list[0].event_id, t.list[1].event_id));
}

/* EARLIER-23 */
static void test_an_account_of_the_current_revision_silences_its_endpoints(struct tx *tx)
{
    const struct home h = some_home(tx, "a@example.com");
    some_hook(tx, &h, ALL_LISTED);
    assert_none(account_set_revision(tx, &h.account, false));
    write_denial(tx, &h);
    assert_int_equal(take_due(tx).count, 0);
    assert_none(account_set_revision(tx, &h.account, true));
    write_denial(tx, &h);
    assert_int_equal(take_due(tx).count, 1);
}

/* EARLIER-28 */
static void test_a_failed_delivery_is_retried_twice_within_a_minute(struct tx *tx)
{
    const struct home h = some_home(tx, "a@example.com");
    const struct building_webhook hook = some_hook(tx, &h, ALL_LISTED);
    static const int64_t least_ms[] = {5000, 30000}, most_ms[] = {7500, 45000};
    write_denial(tx, &h);
    for (int i = 0; i < 2; i++) {
        struct delivery_take t = take_due(tx);
        assert_int_equal(t.count, 1);
        assert_false(
            delivery_gives_up(&(struct delivery_result){.form = t.list[0].form, .attempt = i + 1, .failure = "x"}));
        end_of(tx, &t.list[0], "status");
        t = take_due(tx);
        assert_int_equal(t.count, 0);
        assert_in_range(t.next_us - tx->now_us, least_ms[i] * 1000, most_ms[i] * 1000);
        tx->now_us = t.next_us;
    }
    struct delivery_take t = take_due(tx);
    const struct delivery_result last = end_of(tx, &t.list[0], "timeout");
    assert_true(delivery_gives_up(&last));
    struct building_webhook_outcome o;
    assert_none(building_webhook_outcome(tx, &hook.id, &last.id, &o));
    assert_true(o.ended && !o.delivered);
    assert_int_equal(o.took_ms, 7);
    assert_str(o.failure, "timeout");
    t = take_due(tx);
    assert_int_equal(t.count, 0);
    assert_int_equal(t.next_us, INT64_MAX);
}

/* EARLIER-29 */
static void test_the_tenth_failure_in_a_row_disables_the_endpoint(struct tx *tx)
{
    const struct home h = some_home(tx, "a@example.com");
    const struct id hook = some_hook(tx, &h, ALL_LISTED).id;
    struct building_webhook w;
    struct delivery_result r = {0};
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i < BUILDING_WEBHOOK_FAILURES; i++) {
            write_denial(tx, &h);
            r = end_all(tx, &hook, "status");
            assert_false(r.disabled);
        }
        if (round == 0) {
            write_denial(tx, &h);
            end_all(tx, &hook, NULL); /* begins the count again */
        }
    }
    assert_true(is_active(tx, &h, &hook));
    write_denial(tx, &h);
    assert_true(end_all(tx, &hook, "status").disabled);
    assert_false(is_active(tx, &h, &hook));
    assert_int_equal(take_due(tx).count, 0);
    write_denial(tx, &h);
    assert_int_equal(take_due(tx).count, 0);
    assert_none(
        building_webhook_update(tx, &h.building, &hook, &(struct building_webhook_change){.active = v_bool(true)}, &w));
    write_denial(tx, &h);
    assert_false(end_all(tx, &hook, "status").disabled);
    assert_true(is_active(tx, &h, &hook));
}

static void test_a_test_is_one_attempt_and_no_failure_of_the_endpoint(struct tx *tx)
{
    const struct home h = some_home(tx, "a@example.com"), other = some_home(tx, "b@example.com");
    const struct id hook = some_hook(tx, &h, EARLIER_BIT(ACCESS_DENIED)).id;
    struct building_webhook_outcome o;
    struct id delivery;
    assert_error(building_webhook_test(tx, &other.account, &other.building, &hook, &delivery), ERR_NOT_FOUND);
    for (int i = 0; i < BUILDING_WEBHOOK_FAILURES + 1; i++) {
        assert_none(building_webhook_test(tx, &h.account, &h.building, &hook, &delivery));
        assert_none(building_webhook_outcome(tx, &hook, &delivery, &o));
        assert_false(o.ended);
        const struct delivery_take t = take_due(tx);
        assert_int_equal(t.count, 1);
        assert_int_equal(t.list[0].form, DELIVERY_EARLIER_TEST);
        assert_str(t.list[0].data, "{}");
        const struct delivery_result r = end_of(tx, &t.list[0], "connect");
        assert_false(r.disabled);
        assert_int_equal(take_due(tx).next_us, INT64_MAX);
    }
    assert_true(is_active(tx, &h, &hook));
    assert_none(building_webhook_delete(tx, &h.building, &hook));
    assert_error(building_webhook_test(tx, &h.account, &h.building, &hook, &delivery), ERR_NOT_FOUND);
}

/* However it is deleted: an earlier program knows neither the table nor its deliveries. */
static void test_a_building_takes_its_endpoints_and_their_deliveries_with_it(struct tx *tx)
{
    const struct home h = some_home(tx, "a@example.com"), other = some_home(tx, "b@example.com");
    const struct id hook = some_hook(tx, &h, ALL_LISTED).id;
    const struct building_webhook *list;
    struct building_webhook_outcome o;
    struct id delivery;
    size_t count;
    some_hook(tx, &other, ALL_LISTED);
    assert_none(building_webhook_test(tx, &h.account, &h.building, &hook, &delivery));
    write_denial(tx, &other);
    tx_sql(tx, arena_printf(tx->arena, "DELETE FROM building WHERE id = '%s';", h.building.text).p);
    assert_none(building_webhook_list(tx, &h.building, &list, &count));
    assert_int_equal(count, 0);
    assert_none(building_webhook_outcome(tx, &hook, &delivery, &o));
    assert_true(o.ended && !o.delivered);
    assert_int_equal(take_due(tx).count, 1);
    assert_none(building_webhook_end_all(tx, &other.account));
    assert_int_equal(take_due(tx).count, 0);
    assert_none(building_webhook_list(tx, &other.building, &list, &count));
    assert_int_equal(count, 0);
}

#define TESTS(x)                                                                                                       \
    x(test_a_building_has_five_endpoints_inactive_ones_included) x(test_a_key_creates_once_for_a_building)             \
        x(test_an_event_is_written_in_the_form_of_each_listener)                                                       \
            x(test_an_account_of_the_current_revision_silences_its_endpoints)                                          \
                x(test_a_failed_delivery_is_retried_twice_within_a_minute)                                             \
                    x(test_the_tenth_failure_in_a_row_disables_the_endpoint)                                           \
                        x(test_a_test_is_one_attempt_and_no_failure_of_the_endpoint)                                   \
                            x(test_a_building_takes_its_endpoints_and_their_deliveries_with_it)
TX_RUN(TESTS)
