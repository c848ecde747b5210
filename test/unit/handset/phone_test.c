/* The resident's telephone in software (phone.h), called by the call box in software (buzz.h). */
#include "handset/phone.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/unit.h"
#include "handset/buzz.h"

#define LINE_MAX_LEN 200

/* A telephone on a thread, whose lines come through a pipe. */
struct telephone {
    struct phone_options o;
    pthread_t thread;
    FILE *in, *out;
    int status;
    char *why;
    char at[80];
};

static void *run(void *arg)
{
    struct telephone *t = arg;
    t->status = phone_run(&t->o, t->out, &t->why);
    fclose(t->out);
    return NULL;
}

static void next_line(struct telephone *t, char ret[static LINE_MAX_LEN])
{
    assert_non_null(fgets(ret, LINE_MAX_LEN, t->in));
}

static void start(struct telephone *t)
{
    int ends[2];
    char line[LINE_MAX_LEN];
    t->o.listen = "127.0.0.1:0";
    t->o.handset.delay_ms = t->o.handset.delay_ms ? t->o.handset.delay_ms : -1;
    assert_int_equal(pipe(ends), 0);
    t->in = fdopen(ends[0], "r");
    t->out = fdopen(ends[1], "w");
    assert_int_equal(pthread_create(&t->thread, NULL, run, t), 0);
    next_line(t, line);
    assert_int_equal(
        sscanf(line, t->o.handset.json ? "{\"event\":\"listening\",\"detail\":\"sip:%79[^\"]" : "listening sip:%79s",
               t->at),
        1);
}

/* Waits for the end, and compares the status and the lines after the first. */
static void ended(struct telephone *t, int status, const char *lines)
{
    char text[1000];
    size_t n = fread(text, 1, sizeof text - 1, t->in);
    text[n] = '\0';
    assert_int_equal(pthread_join(t->thread, NULL), 0);
    fclose(t->in);
    assert_string_equal(text, lines);
    assert_int_equal(t->status, status);
    free(t->why);
}

/* Calls the telephone and compares what the caller hears. */
static void call(struct telephone *t, struct buzz_options o, int status, const char *lines)
{
    char *text = NULL, *why = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    o.to = "resident";
    o.sip = t->at;
    if (!o.from)
        o.from = "+15550100000";
    o.handset.delay_ms = -1;
    assert_int_equal(buzz_run(&o, out, &why), status);
    fclose(out);
    assert_string_equal(text, lines);
    free(text);
    free(why);
}

static const struct buzz_options listener = {.handset.timeout_ms = 30000};

static void test_it_rings_answers_and_presses_keys(void **state)
{
    (void)state;
    struct telephone t = {.o = {.answer_ms = 200, .hangup_ms = 500, .handset.digits = "1,9"}};
    start(&t);
    call(&t, listener, BUZZ_OPENED, "answered\ntone 1\ntone 9\nhangup\n");
    ended(&t, PHONE_TALKED, "ringing from +15550100000\nanswered\nhangup\n");
}

static void test_it_presses_keys_in_band(void **state)
{
    (void)state;
    struct telephone t = {.o = {.hangup_ms = 500, .handset = {.digits = "9#", .inband = true}}};
    start(&t);
    call(&t, listener, BUZZ_OPENED, "answered\ntone 9\ntone #\nhangup\n");
    ended(&t, PHONE_TALKED, "ringing from +15550100000\nanswered\nhangup\n");
}

static void test_it_hears_keys_and_the_end(void **state)
{
    (void)state;
    struct telephone t = {.o = {.hangup_ms = -1}};
    start(&t);
    call(&t, (struct buzz_options){.handset = {.digits = "42", .timeout_ms = 5000}}, BUZZ_NOT_OPENED,
         "answered\ntimeout\n");
    ended(&t, PHONE_TALKED, "ringing from +15550100000\nanswered\ntone 4\ntone 2\nhangup\n");
}

static void test_it_hears_keys_as_info(void **state)
{
    (void)state;
    struct telephone t = {.o = {.hangup_ms = -1}};
    start(&t);
    call(&t, (struct buzz_options){.handset = {.digits = "5", .info = true, .timeout_ms = 4000}}, BUZZ_NOT_OPENED,
         "answered\ntimeout\n");
    ended(&t, PHONE_TALKED, "ringing from +15550100000\nanswered\ntone 5\nhangup\n");
}

static void test_it_refuses(void **state)
{
    (void)state;
    struct telephone t = {.o = {.refuse = 603}};
    start(&t);
    call(&t, listener, BUZZ_NOT_OPENED, "rejected 603\n");
    ended(&t, PHONE_NOT_ANSWERED, "ringing from +15550100000\nrefused 603\n");
}

static void test_a_caller_may_cancel(void **state)
{
    (void)state;
    struct telephone t = {.o = {.answer_ms = 60000}};
    start(&t);
    call(&t, (struct buzz_options){.handset.timeout_ms = 500}, BUZZ_FAILED, "");
    ended(&t, PHONE_NOT_ANSWERED, "ringing from +15550100000\ncanceled\n");
}

/* CLI-7 */
static void test_it_waits_only_so_long(void **state)
{
    (void)state;
    struct telephone t = {.o.handset.timeout_ms = 300};
    start(&t);
    ended(&t, PHONE_NOT_ANSWERED, "timeout\n");
}

static void test_it_stops_ringing_in_time(void **state)
{
    (void)state;
    struct telephone t = {.o = {.answer_ms = 60000, .handset.timeout_ms = 1000}};
    start(&t);
    call(&t, listener, BUZZ_NOT_OPENED, "rejected 480\n");
    ended(&t, PHONE_NOT_ANSWERED, "ringing from +15550100000\ntimeout\n");
}

static void test_lines_may_be_json(void **state)
{
    (void)state;
    struct telephone t = {.o = {.refuse = 486, .handset.json = true}};
    start(&t);
    call(&t, (struct buzz_options){.from = "a\"b", .handset.timeout_ms = 30000}, BUZZ_NOT_OPENED, "rejected 486\n");
    ended(&t, PHONE_NOT_ANSWERED,
          "{\"event\":\"ringing\",\"detail\":\"from a?b\"}\n{\"event\":\"refused\",\"detail\":\"486\"}\n");
}

/* CLI-7 */
static void test_an_address_is_one_of_this_machine(void **state)
{
    (void)state;
    const char *const wrong[] = {
        "",          "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "localhost:0", "0.0.0.0:5070",
        "[::]:5070", ":5070"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(phone_is_address(wrong[i]));
    assert_true(phone_is_address("127.0.0.1:0"));
    assert_true(phone_is_address("[::1]:5070"));
}

static void test_an_address_in_use_is_explained(void **state)
{
    (void)state;
    struct telephone t = {.o.handset.timeout_ms = 2000};
    start(&t);
    char *why = NULL;
    struct phone_options second = {.listen = t.at};
    assert_int_equal(phone_run(&second, stdout, &why), PHONE_FAILED);
    assert_non_null(strstr(why, "Address already in use"));
    free(why);
    ended(&t, PHONE_NOT_ANSWERED, "timeout\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_rings_answers_and_presses_keys),
        cmocka_unit_test(test_it_presses_keys_in_band),
        cmocka_unit_test(test_it_hears_keys_and_the_end),
        cmocka_unit_test(test_it_hears_keys_as_info),
        cmocka_unit_test(test_it_refuses),
        cmocka_unit_test(test_a_caller_may_cancel),
        cmocka_unit_test(test_it_waits_only_so_long),
        cmocka_unit_test(test_it_stops_ringing_in_time),
        cmocka_unit_test(test_lines_may_be_json),
        cmocka_unit_test(test_an_address_is_one_of_this_machine),
        cmocka_unit_test(test_an_address_in_use_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
