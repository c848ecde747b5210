/* The bounds on requests that wait for another host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/slots.h"
#include "base/log.h"
#include "base/metric.h"

#define MOST 8
#define MINE 2
#define SAME 4

static struct slots slots = SLOTS(LOOKUP_DOCUMENT, MOST, MINE, SAME);

struct asking {
    struct request q;
    struct http_request http;
    struct arena arena;
    struct slot *slot;
    enum err result;
};

static struct asking *ask(struct asking *a, int account, const char *address, const char *url)
{
    *a = (struct asking){.q.http = &a->http, .q.tx.arena = &a->arena};
    arena_init(&a->arena, NULL, 0);
    snprintf(a->q.who.account_id.text, sizeof a->q.who.account_id.text, "%024x", (unsigned)account);
    snprintf(a->http.peer.address, sizeof a->http.peer.address, "%s", address);
    a->result = slots_take(&slots, &a->q, str_z(url), &a->slot);
    assert_true(!a->result || (a->result == ERR_RATE_LIMIT_EXCEEDED && a->q.tx.retry_after_s > 0));
    return a;
}

static void end(struct asking *a)
{
    if (!a->result)
        slots_release(&slots, a->slot);
    arena_done(&a->arena);
}

static bool may(int account, const char *address, const char *url)
{
    struct asking a;
    const bool does = !ask(&a, account, address, url)->result;
    end(&a);
    return does;
}

static int64_t refused_by(enum metric_label_SHARE limit)
{
    return metric_get(&metrics.lookups_refused[METRIC_LOOKUP_DOCUMENT * METRIC_SHARE_VALUES + limit]);
}

/* Slots that others hold, from i on: each of another account, address and host unless a format has no number. */
static void hold(struct asking *held, int count, const char *address, const char *url)
{
    for (int i = 0; i < count; i++) {
        char from[46], to[60];
        snprintf(from, sizeof from, address, i);
        snprintf(to, sizeof to, url, i);
        assert_int_equal(ask(&held[i], 100 + i, from, to)->result, ERR_NONE);
    }
}

static void end_all(struct asking *held, int count)
{
    for (int i = 0; i < count; i++)
        end(&held[i]);
}

static void an_account_has_a_share_from_wherever_it_asks(void **state)
{
    (void)state;
    struct asking a[MINE];
    const int64_t before = refused_by(METRIC_SHARE_ACCOUNT);
    ask(&a[0], 1, "192.0.2.1", "https://a.example/");
    ask(&a[1], 1, "192.0.2.2", "https://b.example/");
    assert_false(may(1, "192.0.2.3", "https://c.example/"));
    assert_int_equal(refused_by(METRIC_SHARE_ACCOUNT), before + 1);
    assert_true(may(2, "192.0.2.1", "https://a.example/"));
    end_all(a, MINE);
    assert_true(may(1, "192.0.2.3", "https://c.example/"));
}

static void a_stranger_with_many_accounts_leaves_room_for_others(void **state)
{
    (void)state;
    static const struct {
        const char *holders, *same, *other;
    } cases[] = {
        {"192.0.2.1", "192.0.2.1", "192.0.2.2"},
        {"2001:db8::%d", "2001:db8::ffff:1", "2001:db8:0:1::1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct asking held[SAME];
        const int64_t before = refused_by(METRIC_SHARE_ADDRESS);
        hold(held, SAME, cases[i].holders, "https://h%d.example/");
        assert_false(may(1, cases[i].same, "https://other.example/"));
        assert_int_equal(refused_by(METRIC_SHARE_ADDRESS), before + 1);
        assert_true(may(1, cases[i].other, "https://other.example/"));
        end_all(held, SAME);
    }
}

static void a_slow_host_leaves_room_for_others(void **state)
{
    (void)state;
    static const char *const same[] = {"https://slow.example/x", "https://SLOW.example:443/y?z",
                                       "HTTPS://slow.example"};
    static const char *const others[] = {"https://slow.example:8443/", "https://quick.example/", "https://[::1]/"};
    struct asking held[SAME];
    const int64_t before = refused_by(METRIC_SHARE_HOST);
    hold(held, SAME, "192.0.2.%d", "https://slow.example/%d");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_false(may(1, "198.51.100.1", same[i]));
    assert_int_equal(refused_by(METRIC_SHARE_HOST), before + 3);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(may(1, "198.51.100.1", others[i]));
    end_all(held, SAME);
}

static void all_have_a_bound_together(void **state)
{
    (void)state;
    struct asking held[MOST];
    const int64_t before = refused_by(METRIC_SHARE_ALL);
    hold(held, MOST, "192.0.2.%d", "https://h%d.example/");
    assert_false(may(1, "198.51.100.1", "https://other.example/"));
    assert_int_equal(refused_by(METRIC_SHARE_ALL), before + 1);
    end(&held[3]);
    assert_true(may(1, "198.51.100.1", "https://other.example/"));
    end_all(held, 3);
    end_all(held + 4, MOST - 4);
}

/* Gives the log of a flood of refusals. */
static size_t log_of_refusals(int count, char *ret, size_t size)
{
    int pipes[2], kept = dup(2);
    assert_int_equal(pipe(pipes), 0);
    dup2(pipes[1], 2);
    for (int i = 0; i < count; i++)
        assert_false(may(100, "192.0.2.1", "https://h.example/"));
    dup2(kept, 2);
    close(kept);
    close(pipes[1]);
    const ssize_t n = read(pipes[0], ret, size - 1);
    close(pipes[0]);
    assert_true(n >= 0);
    ret[n] = '\0';
    return (size_t)n;
}

static void a_flood_of_refusals_writes_one_line(void **state)
{
    (void)state;
    char text[4096];
    struct asking held[MINE];
    for (int i = 0; i < MINE; i++)
        ask(&held[i], 100, "192.0.2.1", "https://h.example/");
    slots.logged_us = 0;
    slots.unlogged = 0;
    const size_t n = log_of_refusals(500, text, sizeof text);
    assert_non_null(strstr(text, "look-up refused limit=account account=000000000000000000000064"));
    assert_ptr_equal(strchr(text, '\n'), text + n - 1);
    assert_int_equal(log_of_refusals(1, text, sizeof text), 0);
    slots.logged_us = 1; /* long ago */
    log_of_refusals(1, text, sizeof text);
    assert_non_null(strstr(text, "unlogged=500"));
    end_all(held, MINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_account_has_a_share_from_wherever_it_asks),
        cmocka_unit_test(a_stranger_with_many_accounts_leaves_room_for_others),
        cmocka_unit_test(a_slow_host_leaves_room_for_others),
        cmocka_unit_test(all_have_a_bound_together),
        cmocka_unit_test(a_flood_of_refusals_writes_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
