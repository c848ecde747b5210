/* Records of calls: their beginning and end, lists and purge. */
#include "domain/call_record.h"

#include "domain/building_fixture.h"

/* ---- records ---- */

struct writing {
    struct call_arrival arrival;
    struct call_end end;
};

static enum err write_run(struct tx *tx, void *arg)
{
    const struct writing *w = arg;
    return call_record_write(tx, &w->arrival, &w->end);
}

static void write_call(struct building_fixture *fx, const struct writing *w)
{
    assert_int_equal(fixture_run(fx, STORE_WRITE, write_run, (void *)w), ERR_NONE);
}

static struct writing begun(struct building_fixture *fx)
{
    struct writing w = {.arrival = {.id = id_new(fx->now_us),
                                    .started_us = fx->now_us,
                                    .front = CALL_FRONT_SIP,
                                    .source = "udp:192.0.2.7:5060",
                                    .dialled = FIXTURE_NUMBER,
                                    .caller = VISITOR},
                        .end = {.account_id = fx->account,
                                .building_id = fx->building,
                                .outcome = CALL_RECORD_RELEASED,
                                .reason = ACCESS_TIMER,
                                .grant_id = fx->account}};
    return w;
}

struct getting {
    struct id building, id;
    struct recorded_call call;
};

static enum err get_run(struct tx *tx, void *arg)
{
    struct getting *g = arg;
    return call_record_get(tx, &g->building, &g->id, &g->call);
}

/* CALL-17 */
static void test_a_record_begins_with_the_decision_and_ends_with_the_call(void **state)
{
    struct building_fixture *fx = *state;
    struct writing w = begun(fx);
    write_call(fx, &w);
    struct getting g = {fx->building, w.arrival.id, {.ended_us = 1}};
    assert_int_equal(fixture_run(fx, STORE_READ, get_run, &g), ERR_NONE);
    assert_int_equal(g.call.ended_us, 0);
    assert_null(g.call.ended_by.p);
    assert_true(str_eq(g.call.outcome, STR("released")));
    assert_string_equal(g.call.grant_id.text, fx->account.text);
    w.end.ended_us = fx->now_us + 5000;
    w.end.ended_by = CALL_ENDED_SERVICE;
    w.end.steps = STR("0 arrived\n");
    write_call(fx, &w);
    assert_int_equal(fixture_run(fx, STORE_READ, get_run, &g), ERR_NONE);
    assert_int_equal(g.call.ended_us, fx->now_us + 5000);
    assert_true(str_eq(g.call.ended_by, STR("service")));
    assert_true(str_eq(g.call.steps, STR("0 arrived\n")));
    fixture_expect(fx, "SELECT count(*) FROM call_record", "1\n");
    g.building = fx->account; /* another building's */
    assert_int_equal(fixture_run(fx, STORE_READ, get_run, &g), ERR_NOT_FOUND);
}

/* CALL-22 */
static void test_a_call_whose_building_was_deleted_leaves_no_record(void **state)
{
    struct building_fixture *fx = *state;
    struct writing w = begun(fx);
    w.end.ended_us = fx->now_us + 5000;
    fixture_sql(fx, "DELETE FROM building");
    write_call(fx, &w);
    fixture_expect(fx, "SELECT count(*) FROM call_record", "0\n");
}

/* ---- calls whose process was killed ---- */

struct closing {
    bool alone;
    int64_t count;
};

static enum err close_run(struct tx *tx, void *arg)
{
    struct closing *c = arg;
    return call_record_close(tx, c->alone, 1, &c->count);
}

static int64_t close_open_calls(struct building_fixture *fx, bool alone)
{
    struct closing c = {alone, 1};
    int64_t all = 0;
    for (; c.count; all += c.count)
        assert_int_equal(fixture_run(fx, STORE_WRITE, close_run, &c), ERR_NONE);
    return all;
}

/* A call of the process whose IDs have this part. */
static struct writing call_of(struct building_fixture *fx, const char *process)
{
    struct writing w = begun(fx);
    memcpy(w.arrival.id.text + 8, process, 10);
    return w;
}

static void add_node(struct building_fixture *fx, const char *id, const char *address, int started, bool ended)
{
    static const char insert[] = "INSERT INTO node (id, version, schema_version, host, address, started_at, "
                                 "heartbeat_at, ended_at, ahead_us) VALUES ('%s', '', 1, '', '%s', %d, 0, %s, 0)";
    fixture_sql(fx, arena_printf(&fx->arena, insert, id, address, started, ended ? "1" : "NULL").p);
}

static struct recorded_call read_record(struct building_fixture *fx, const struct writing *w)
{
    struct getting g = {fx->building, w->arrival.id, {.ended_us = 1}};
    assert_int_equal(fixture_run(fx, STORE_READ, get_run, &g), ERR_NONE);
    return g.call;
}

static bool was_closed(struct building_fixture *fx, const struct writing *w)
{
    const struct recorded_call call = read_record(fx, w);
    assert_int_equal(call.ended_us != 0, call.ended_by.p && str_eq(call.ended_by, STR("restarted")));
    return call.ended_us != 0;
}

/* CALL-21, NODE-7, NODE-8 */
static void test_a_call_of_a_killed_process_is_ended(void **state)
{
    struct building_fixture *fx = *state;
    struct writing ours = begun(fx), lost = call_of(fx, "0123456789"), hook = call_of(fx, "0123456789"),
                   old = call_of(fx, "1111111111"), unknown = call_of(fx, "2222222222"),
                   cut_off = call_of(fx, "3333333333");
    lost.end.outcome = CALL_RECORD_FORWARDED;
    hook.arrival.front = CALL_FRONT_WEBHOOK; /* goes on elsewhere */
    old.arrival.started_us -= 3600 * US_PER_S;
    const struct writing *const all[] = {&ours, &lost, &hook, &old, &unknown, &cut_off};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        write_call(fx, all[i]);
    const struct id node = id_new(fx->now_us); /* of this process, too */
    add_node(fx, lost.arrival.id.text, "here", 1, true);
    add_node(fx, node.text, "here", 2, false);
    add_node(fx, cut_off.arrival.id.text, "elsewhere", 1, true);
    add_node(fx, call_of(fx, "3333333333").arrival.id.text, "elsewhere", 2,
             true); /* it was back, and is cut off again */
    fixture_sql(fx, "INSERT INTO feed_counter (building_id, seq) SELECT id, 1 FROM building");
    fx->now_us += US_PER_S;
    assert_int_equal(close_open_calls(fx, false), 2);
    assert_true(was_closed(fx, &lost) && was_closed(fx, &old));
    assert_false(was_closed(fx, &ours) || was_closed(fx, &hook) || was_closed(fx, &unknown) ||
                 was_closed(fx, &cut_off));
    assert_int_equal(read_record(fx, &lost).ended_us, fx->now_us);
    assert_int_equal(read_record(fx, &old).ended_us, old.arrival.started_us + CALL_RECORD_LONGEST_US);
    fixture_expect(fx, "SELECT count(*) FROM feed WHERE type = 'call.ended'", "2\n");
    assert_int_equal(close_open_calls(fx, true), 2);
    assert_true(was_closed(fx, &unknown) && was_closed(fx, &cut_off));
    assert_false(was_closed(fx, &ours) || was_closed(fx, &hook));
}

/* ---- lists ---- */

/* Adds calls, a second apart. Every hundredth is forwarded. The oldest was not decided. */
static void fill_calls(struct building_fixture *fx, int count)
{
    static const char calls[] =
        "INSERT INTO call_record (building_id, id, account_id, started_at, front_end, source, dialled, caller, "
        "outcome, "
        "reason, resident_opened, steps) "
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "SELECT '%s', %s || '0000000000000001', '%s', %lld + CAST(i AS BIGINT) * 1000000, 'sip', 's', "
        "'" FIXTURE_NUMBER "', CASE WHEN i %% 1000 = 7 THEN '+15550009999' ELSE '' END, "
        "CASE WHEN i = 0 THEN 'none' WHEN i %% 100 = 0 THEN 'forwarded' ELSE 'released' END, 'timer', 0, '' FROM n";
    const char *second = fx->fixture->config.engine == ENGINE_SQLITE ? "printf('%%08x', %lld + i)" : "to_hex(%lld + i)";
    second = arena_printf(&fx->arena, second, (long long)(fx->now_us / US_PER_S)).p;
    const char *const b = fx->building.text;
    fixture_sql(fx, arena_printf(&fx->arena, calls, count - 1, b, second, fx->account.text, (long long)fx->now_us).p);
    if (fx->fixture->config.engine == ENGINE_POSTGRESQL)
        fixture_sql(fx, "ANALYZE");
}

struct listing_call {
    struct building_fixture *fx;
    struct call_record_filter filter;
    struct call_record_page page;
    bool all; /* buildings */
};

static enum err list_run(struct tx *tx, void *arg)
{
    struct listing_call *l = arg;
    return call_record_list(tx, l->all ? NULL : &l->fx->building, &l->filter, &l->page);
}

/* Reads every page. Returns the number of calls; *ret_pages is the number of pages. */
static size_t read_calls(struct listing_call l, int *ret_pages)
{
    size_t n = 0;
    *ret_pages = 0;
    struct id last = {"g"};
    for (l.page.more = true; l.page.more; ++*ret_pages) {
        assert_int_equal(fixture_run(l.fx, STORE_READ, list_run, &l), ERR_NONE);
        for (size_t i = 0; i < l.page.count; i++) {
            assert_true(strcmp(l.page.items[i].id.text, last.text) < 0);
            last = l.page.items[i].id;
        }
        n += l.page.count;
        l.filter.cursor = v_str(arena_str(&l.fx->arena, id_str(&l.page.end)));
    }
    return n;
}

/* CALL-20 */
static void test_a_list_finds_every_call_in_pages_of_bounded_cost(void **state)
{
    struct building_fixture *fx = *state;
    int pages;
    fill_calls(fx, 25000);
    const struct val most = v_int(CALL_RECORD_PAGE_MAX);
    assert_int_equal(read_calls((struct listing_call){.fx = fx, .filter = {.limit = most}}, &pages), 25000);
    assert_int_equal(read_calls((struct listing_call){.fx = fx, .filter = {.outcome = text("forwarded")}}, &pages),
                     249);
    assert_int_equal(read_calls((struct listing_call){.fx = fx, .filter = {.outcome = text("none")}}, &pages), 1);
    assert_int_equal(pages, 3); /* 10,000 records each */
    assert_int_equal(
        read_calls((struct listing_call){.fx = fx, .filter = {.until = v_time(fx->now_us + 9 * US_PER_S)}}, &pages),
        10);
    assert_int_equal(pages, 3);
    assert_int_equal(read_calls((struct listing_call){.fx = fx,
                                                      .filter = {.since = v_time(fx->now_us + 24990 * US_PER_S),
                                                                 .until = v_time(fx->now_us + 24995 * US_PER_S)}},
                                &pages),
                     6);
    assert_int_equal(pages, 1);
    assert_int_equal(
        read_calls((struct listing_call){.fx = fx, .all = true, .filter = {.number = text("+15550009999")}}, &pages),
        25);
    assert_int_equal(read_calls((struct listing_call){.fx = fx, .all = true, .filter = {.limit = most}}, &pages),
                     25000);
}

static void test_a_range_that_ends_before_it_begins_is_refused(void **state)
{
    struct building_fixture *fx = *state;
    struct listing_call l = {.fx = fx, .filter = {.since = v_time(2), .until = v_time(1)}};
    assert_int_equal(fixture_run(fx, STORE_READ, list_run, &l), ERR_INVALID_DATE);
}

/* ---- the purge ---- */

struct purging {
    int64_t before_us, limit, count;
};

static enum err purge_run(struct tx *tx, void *arg)
{
    struct purging *p = arg;
    return call_record_purge(tx, p->before_us, p->limit, &p->count);
}

static void test_the_purge_deletes_the_oldest_records_in_batches(void **state)
{
    struct building_fixture *fx = *state;
    struct writing w = begun(fx);
    write_call(fx, &w);
    fx->now_us += DAYS;
    struct writing newer = begun(fx), newest = begun(fx);
    write_call(fx, &newer);
    write_call(fx, &newest);
    struct purging p = {fx->now_us + US_PER_S, 2, 0};
    assert_int_equal(fixture_run(fx, STORE_WRITE, purge_run, &p), ERR_NONE);
    assert_int_equal(p.count, 2);
    fixture_expect(fx, "SELECT id FROM call_record", arena_printf(&fx->arena, "%s\n", newest.arrival.id.text).p);
    p.before_us = fx->now_us;
    assert_int_equal(fixture_run(fx, STORE_WRITE, purge_run, &p), ERR_NONE);
    assert_int_equal(p.count, 0);
}

#define TESTS(T)                                                                                                       \
    T(test_a_record_begins_with_the_decision_and_ends_with_the_call),                                                  \
        T(test_a_call_whose_building_was_deleted_leaves_no_record), T(test_a_call_of_a_killed_process_is_ended),       \
        T(test_a_list_finds_every_call_in_pages_of_bounded_cost),                                                      \
        T(test_a_range_that_ends_before_it_begins_is_refused), T(test_the_purge_deletes_the_oldest_records_in_batches)

FIXTURE_RUN_BOTH(TESTS)
