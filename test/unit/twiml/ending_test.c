/* The log line of a call through Twilio's webhooks. */
#include "twiml/ending.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define SID    "CA0123456789abcdef0123456789abcdef"
#define NOW_US (1795167000LL * US_PER_S)

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

/* The record that was logged, after its time. */
static const char *logged(void)
{
    static char bytes[4096];
    const ssize_t n = read(packets[0], bytes, sizeof bytes - 1);
    bytes[n > 0 ? n : 0] = '\0';
    return n > 24 ? bytes + 25 : "";
}

static void test_a_call_is_logged_with_its_numbers_its_end_and_its_duration(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        enum call_outcome outcome;
        enum access_reason reason;
        enum call_state state;
        bool hung_up;
        int64_t lasted_us;
        const char *want;
    } rows[] = {
        {"+15550001111", "+15550100000", CALL_RELEASED, ACCESS_TIMER, CALL_ENDING, false, 1500000,
         "info call source=twilio caller=+15550001111 dialled=+15550100000 keys=0 spoken=0 wrong=0 decision=released "
         "reason=timer ended=released duration_ms=1500 id=" SID "\n"},
        {"", "+15550100000", CALL_FORWARDED, ACCESS_NO_GRANT, CALL_OVER, true, 0,
         "info call source=twilio caller= dialled=+15550100000 keys=0 spoken=0 wrong=0 decision=forwarded "
         "reason=no_grant ended=hung_up duration_ms=0 id=" SID "\n"},
        {"+15550001111", "+15550100000", CALL_REJECTED, ACCESS_UNKNOWN_NUMBER, CALL_OVER, false, 20000,
         "info call source=twilio caller=+15550001111 dialled=+15550100000 keys=0 spoken=0 wrong=0 decision=rejected "
         "reason=unknown_number ended=rejected status=404 duration_ms=20 id=" SID "\n"},
        {"+15550001111", "+15550100000", CALL_REJECTED, ACCESS_NOT_LISTED, CALL_OVER, false, 20000,
         "info call source=twilio caller=+15550001111 dialled=+15550100000 keys=0 spoken=0 wrong=0 decision=rejected "
         "reason=not_listed ended=rejected status=603 duration_ms=20 id=" SID "\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct twiml_session s;
        twiml_session_init(&s, STR(SID), str_z(rows[i].from), str_z(rows[i].to), NOW_US);
        s.call.outcome = rows[i].outcome;
        s.call.reason = rows[i].reason;
        s.call.state = rows[i].state;
        s.call.hung_up = rows[i].hung_up;
        twiml_log(&s, NOW_US + rows[i].lasted_us);
        assert_string_equal(logged(), rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call_is_logged_with_its_numbers_its_end_and_its_duration),
    };
    return cmocka_run_group_tests(tests, divert, restore);
}
