#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit.h"

/* Standard error is a packet pipe: each read returns one write(2). */
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
    log_set_level(LOG_INFO);
    return 0;
}

/* The next record, or "". */
static struct str next(void)
{
    static char bytes[8192];
    ssize_t n = read(packets[0], bytes, sizeof bytes - 1);
    bytes[n > 0 ? n : 0] = '\0';
    return str_z(bytes);
}

static void a_record_is_one_write_of_time_level_and_message(void **state)
{
    (void)state;
    int64_t at_us, before = clock_real_us() / 1000 * 1000;
    log_info("listening port=%d", 8443);
    struct str record = next();
    assert_true(record.n > 24);
    assert_true(time_parse(str_n(record.p, 24), &at_us));
    assert_true(at_us >= before);
    assert_text(str_from(record, 24), " info listening port=8443\n");
    assert_text(next(), "");
}

static void records_below_the_level_are_dropped(void **state)
{
    (void)state;
    log_debug("no");
    assert_text(next(), "");
    log_set_level(LOG_DEBUG);
    log_debug("yes");
    assert_text(str_from(next(), 24), " debug yes\n");
    log_set_level(LOG_ERROR);
    log_warn("no");
    assert_text(next(), "");
    log_error("yes");
    assert_text(str_from(next(), 24), " error yes\n");
    log_set_level(LOG_WARN);
    log_warn("yes");
    assert_text(str_from(next(), 24), " warn yes\n");
}

static void control_characters_are_escaped(void **state)
{
    (void)state;
    log_info("%s", "a\nb\r\t\x1b[31m\x7f\xc2\x9b"
                   "1m \xc3\xa9\xe2\x82\xac");
    assert_text(str_from(next(), 24), " info a\\x0ab\\x0d\\x09\\x1b[31m\\x7f\\xc2\x9b"
                                      "1m \xc3\xa9\xe2\x82\xac\n");
}

static void a_long_record_is_truncated_at_2000_bytes(void **state)
{
    (void)state;
    char message[5000];
    memset(message, 'x', sizeof message - 1);
    message[sizeof message - 1] = '\0';
    log_info("%s", message);
    struct str record = next();
    assert_in_range(record.n, 1990, 2000);
    assert_int_equal(record.p[record.n - 1], '\n');
    memset(message, '\n', sizeof message - 1);
    log_info("%s", message);
    record = next();
    assert_in_range(record.n, 1990, 2000);
    assert_null(memchr(record.p, '\n', record.n - 1));
    assert_text(next(), "");
}

static void logging_preserves_errno(void **state)
{
    (void)state;
    errno = ENOENT;
    log_info("x");
    assert_int_equal(errno, ENOENT);
    assert_true(next().n > 0);
}

static void *log_some(void *arg)
{
    for (int i = 0; i < 7; i++) /* a pipe holds 16 packets */
        log_info("%s", (const char *)arg);
    return NULL;
}

static void records_of_threads_do_not_mix(void **state)
{
    (void)state;
    static const char *const texts[] = {"aaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbb"};
    pthread_t threads[2];
    int seen = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_some, (void *)(uintptr_t)texts[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (struct str r = next(); r.n; r = next(), seen++) {
        struct str text = str_from(r, 30);
        assert_int_equal(text.n, 25);
        assert_true(str_starts(text, str_z(texts[0])) || str_starts(text, str_z(texts[1])));
    }
    assert_int_equal(seen, 14);
}

/* A process looks once where its log goes: at its first line. */
/* SERVICE-24 */
static void in_the_journal_a_line_has_its_priority_and_no_time(void **state)
{
    (void)state;
    for (int right = 0; right < 2; right++) {
        struct stat st;
        char stream[64];
        assert_int_equal(fstat(STDERR_FILENO, &st), 0);
        snprintf(stream, sizeof stream, "%llu:%llu", (unsigned long long)st.st_dev,
                 (unsigned long long)st.st_ino + (right ? 0 : 1));
        pid_t child = fork();
        if (child == 0) {
            setenv("JOURNAL_STREAM", stream, 1);
            log_set_level(LOG_DEBUG);
            log_error("a");
            log_warn("b");
            log_info("c");
            log_debug("d");
            log_set_format(LOG_JSON);
            log_info("e n=1");
            _exit(0);
        }
        assert_int_equal(waitpid(child, NULL, 0), child);
        static const char *const lines[] = {"<3>error a\n", "<4>warn b\n", "<6>info c\n", "<7>debug d\n",
                                            "<6>{\"level\":\"info\",\"message\":\"e\",\"n\":\"1\"}\n"};
        for (size_t i = 0; i < 5; i++) {
            struct str record = next();
            assert_int_equal(str_eq(record, str_z(lines[i])), right);
            assert_int_equal(*record.p == '<', right);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(in_the_journal_a_line_has_its_priority_and_no_time, divert,
                                        restore), /* first */
        cmocka_unit_test_setup_teardown(a_record_is_one_write_of_time_level_and_message, divert, restore),
        cmocka_unit_test_setup_teardown(records_below_the_level_are_dropped, divert, restore),
        cmocka_unit_test_setup_teardown(control_characters_are_escaped, divert, restore),
        cmocka_unit_test_setup_teardown(a_long_record_is_truncated_at_2000_bytes, divert, restore),
        cmocka_unit_test_setup_teardown(logging_preserves_errno, divert, restore),
        cmocka_unit_test_setup_teardown(records_of_threads_do_not_mix, divert, restore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
