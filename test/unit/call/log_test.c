/* The log line of each call. */
#include "call/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- standard error on a pipe that keeps writes apart ---- */

static int packets[2], saved;

static int divert(void **state)
{
    (void)state;
    if (pipe2(packets, O_DIRECT | O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    saved = dup(STDERR_FILENO);
    return dup2(packets[1], STDERR_FILENO) < 0 ? -1 : 0;
}

static int restore(void **state)
{
    (void)state;
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(packets[0]);
    close(packets[1]);
    return 0;
}

/* The next record after its time, or "". */
static const char *next(void)
{
    static char bytes[4096];
    ssize_t n = read(packets[0], bytes, sizeof bytes - 1);
    bytes[n > 0 ? n : 0] = '\0';
    return n > 24 ? bytes + 25 : "";
}

static void expect(const struct call *c, const struct call_record *r, const char *line)
{
    call_log(c, r);
    assert_string_equal(next(), line);
}

/* ---- calls ---- */

#define BUILDING "0123456789abcdef01234567"
#define GRANT    "aaaaaaaaaaaaaaaaaaaaaaaa"

static const struct call_record box = {
    .source = "udp:192.0.2.7:5060",
    .id = "call-1@box",
    .caller = "+15551112222",
    .dialled = "15550100000",
    .number = "+15550100000",
    .established = true,
    .has_media = true,
    .events = 4,
    .tones = 4,
    .duration_ms = 5300,
};

static void test_a_release_names_the_grant_and_the_source_of_the_keys(void **state)
{
    (void)state;
    const struct call c = {.state = CALL_OVER,
                           .outcome = CALL_RELEASED,
                           .reason = ACCESS_PASSCODE,
                           .building_id = {BUILDING},
                           .grant_id = {GRANT},
                           .keys = 4};
    expect(&c, &box,
           "info call source=udp:192.0.2.7:5060 caller=+15551112222 dialled=15550100000 number=+15550100000 "
           "building=" BUILDING
           " keys=4 events=4 tones=4 infos=0 spoken=0 wrong=0 decision=released reason=passcode grant=" GRANT
           " ended=released duration_ms=5300 id=call-1@box\n");
}

static void test_a_forwarded_call_names_the_near_misses(void **state)
{
    (void)state;
    const struct call c = {
        .state = CALL_OVER,
        .outcome = CALL_FORWARDED,
        .reason = ACCESS_WRONG_CODE,
        .building_id = {BUILDING},
        .near = {{.grant_id = {GRANT}, .why = NEAR_EXPIRED}, {.grant_id = {BUILDING}, .why = NEAR_OUTSIDE_WINDOW}},
        .near_count = 2,
        .keys = 12,
        .wrong = 3};
    expect(&c,
           &(struct call_record){
               .source = "sandbox", .established = true, .caller = "", .dialled = "+15550100000", .duration_ms = 1},
           "info call source=sandbox caller= dialled=+15550100000 building=" BUILDING
           " keys=12 spoken=0 wrong=3 decision=forwarded reason=wrong_code near=\"" GRANT ":expired " BUILDING
           ":outside_window\" ended=forwarded duration_ms=1 id=\n");
}

static void test_the_end_of_a_call_is_logged_apart_from_its_decision(void **state)
{
    (void)state;
    static const struct {
        enum call_outcome outcome;
        enum access_reason reason;
        bool hung_up, unfinished;
        int status;
        const char *end;
    } table[] = {
        {CALL_RELEASED, ACCESS_TIMER, false, true, 0, "decision=released reason=timer ended=hung_up"},
        {CALL_FORWARDED, ACCESS_NO_CODE, true, false, 0, "decision=forwarded reason=no_code ended=hung_up"},
        {CALL_NO_OUTCOME, ACCESS_UNDECIDED, true, false, 0, "decision=none reason=undecided ended=hung_up"},
        {CALL_NO_OUTCOME, ACCESS_UNDECIDED, true, false, 488,
         "decision=none reason=undecided ended=rejected status=488"},
        {CALL_NO_OUTCOME, ACCESS_FAILED, false, false, 500, "decision=none reason=error ended=failed status=500"},
        {CALL_OWNER, ACCESS_OWNER, false, false, 0, "decision=owner_call reason=owner ended=owner_call"},
        {CALL_REJECTED, ACCESS_UNKNOWN_NUMBER, false, false, 404,
         "decision=rejected reason=unknown_number ended=rejected status=404"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct call c = {
            .state = CALL_OVER, .outcome = table[i].outcome, .reason = table[i].reason, .hung_up = table[i].hung_up};
        call_log(&c, &(struct call_record){
                         .established = true, .status = table[i].status, .unfinished = table[i].unfinished});
        const char *line = next();
        if (!strstr(line, table[i].end))
            fail_msg("%s is not in %s", table[i].end, line);
    }
}

/* SERVICE-24 */
static void test_text_from_a_caller_cannot_imitate_another_value(void **state)
{
    (void)state;
    const struct call c = {.state = CALL_OVER, .outcome = CALL_FORWARDED, .reason = ACCESS_NO_GRANT};
    struct call_record r = {
        .established = true, .caller = "a\" ended=released %\\", .dialled = "\n\x1b[2J\xc2\x9b", .id = "\xff"};
    memset(r.source, '\n', sizeof r.source - 1);
    call_log(&c, &r);
    const char *line = next();
    assert_non_null(strstr(line, " caller=a%22%20ended%3Dreleased%20%25%5C dialled=%0A%1B[2J%C2%9B keys=0 "));
    assert_non_null(strstr(line, " ended=forwarded duration_ms=0 id=%FF\n"));
    assert_null(strchr(line, '\x1b'));
    assert_string_equal(next(), "");
}

/* CALL-23 */
static void test_calls_that_are_never_established_do_not_fill_the_log(void **state)
{
    (void)state;
    struct call_record never = box;
    never.established = false;
    const struct call rejected = {.state = CALL_OVER, .outcome = CALL_REJECTED, .reason = ACCESS_UNKNOWN_NUMBER};
    const struct call forwarded = {.state = CALL_OVER, .outcome = CALL_FORWARDED, .reason = ACCESS_NO_GRANT};
    int lines = 0;
    for (int i = 0; i < 100; i++) {
        call_log(&rejected, &never);
        lines += next()[0] != '\0';
    }
    assert_in_range(lines, 15, 20);
    call_log(&forwarded, &box);
    char counted[40];
    snprintf(counted, sizeof counted, " unlogged=%d\n", 100 - lines);
    assert_non_null(strstr(next(), counted));
    call_log(&forwarded, &box);
    assert_null(strstr(next(), "unlogged"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, divert, restore)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_release_names_the_grant_and_the_source_of_the_keys),
        TEST(test_a_forwarded_call_names_the_near_misses),
        TEST(test_the_end_of_a_call_is_logged_apart_from_its_decision),
        TEST(test_text_from_a_caller_cannot_imitate_another_value),
        TEST(test_calls_that_are_never_established_do_not_fill_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
