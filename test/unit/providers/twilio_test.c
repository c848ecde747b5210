/* Text messages and numbers by Twilio, against a scripted receiver in the test, on loopback. The comparison with
 * Twilio's SDK is in test/e2e/twilio.test.js. */
#include "providers/twilio.h"

#include "net/receiver.h"

#include "base/clock.h"
#include "providers/numbers.h"
#include "providers/sms.h"
#include "store/fixture.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SCRIPTS_MAX  8
#define ACCOUNT      "AC0123456789abcdef0123456789abcdef"
#define ROOT         "/2010-04-01/Accounts/" ACCOUNT
#define PN           "PN0123456789abcdef0123456789abcdef"
#define SM           "SM0123456789abcdef0123456789abcdef"
#define REFERENCE    "6b018c4a45a00d327e000003"
#define NONE_HELD    "{\"incoming_phone_numbers\":[],\"next_page_uri\":null}"
#define HELD(name, number)                                                                                             \
    "{\"sid\":\"" PN "\",\"friendly_name\":\"" name "\",\"phone_number\":\"" number "\",\"voice_url\":\"\"}"
#define PAGE(entries, next)   "{\"incoming_phone_numbers\":[" entries "],\"next_page_uri\":" next "}"
#define AVAILABLE(entries)    "{\"available_phone_numbers\":[" entries "]}"
#define OFFER(number)         "{\"phone_number\":\"" number "\"}"
#define FAILURE(status, code) "{\"code\":" code ",\"message\":\"No.\",\"status\":" status "}"
#define BOUGHT                HELD(REFERENCE, "+12015550001")
#define ONE_OFFER             AVAILABLE(OFFER("+12015550001"))

struct script {
    const char *status, *body;
};

struct fixture {
    struct receiver *receiver;
    struct store_fixture *store;
    struct config config;
    struct arena arena;
    const char *type;                   /* of the answers */
    struct script scripts[SCRIPTS_MAX]; /* one for each request; without one, the connection is closed */
    char heard[SCRIPTS_MAX][RECEIVED_MAX + 1];
    atomic_size_t count; /* of requests */
    char *why;
    struct number_source *meanwhile; /* called for the same number while the first request waits */
    enum outcome meanwhile_was;
};

static bool answer(struct received *q, void *context)
{
    struct fixture *d = context;
    const char *type = d->type;
    char text[16384];
    assert_true(d->count < SCRIPTS_MAX);
    const struct script s = d->scripts[d->count];
    if (d->meanwhile && d->count == 0) {
        struct str number;
        d->meanwhile_was =
            d->meanwhile->ops->acquire(d->meanwhile, STR(REFERENCE), STR("US"), INT64_MAX, NULL, &number);
    }
    memcpy(d->heard[d->count], q->text, q->n + 1);
    d->count++;
    if (!s.status)
        return false;
    int n = snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n%s", s.status,
                     type, strlen(s.body), s.body);
    return received_say(q, str_n(text, (size_t)n));
}

static int set_up(void **state)
{
    struct fixture *d = calloc(1, sizeof *d);
    void *store;
    assert_non_null(d);
    assert_int_equal(store_fixture_open(&store), 0);
    d->store = store;
    arena_init(&d->arena, NULL, 0);
    d->receiver = receiver_open(false, answer, d);
    d->type = "application/json";
    d->config.top_public_url = "https://door.example";
    d->config.sms_provider = d->config.numbers_provider = "twilio";
    d->config.twilio_url = d->receiver->url;
    d->config.twilio_account_sid = ACCOUNT;
    d->config.twilio_auth_token = "token";
    d->config.twilio_from = "+15005550006";
    d->config.twilio_timeout_s = 30;
    *state = d;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *d = *state;
    void *store = d->store;
    receiver_close(d->receiver);
    assert_int_equal(store_fixture_close(&store), 0);
    clock_set_offset_s(0);
    arena_done(&d->arena);
    free(d->why);
    free(d);
    return 0;
}

/* Sets the responses to the next requests. */
#define SAY(d, ...) say((d), (const struct script[]){__VA_ARGS__}, COUNT(((const struct script[]){__VA_ARGS__})))
static void say(struct fixture *d, const struct script *scripts, size_t count)
{
    (void)atomic_load(&d->count); /* orders this after the requests so far */
    memset(d->scripts, 0, sizeof d->scripts);
    memcpy(d->scripts, scripts, count * sizeof *scripts);
    d->count = 0;
}

static void heard(const struct fixture *d, size_t request, const char *text)
{
    if (request >= d->count || !strstr(d->heard[request], text))
        fail_msg("request %zu of %zu has no %s but\n%s", request, d->count, text, d->heard[request]);
}

/* ---- texts ---- */

static enum outcome sent(struct fixture *d)
{
    const struct sms_message message = {.id = STR(REFERENCE), .to = STR("+15551234567"), .text = STR("1 + 1 = 2 & ü")};
    struct texter *texter;
    assert_int_equal(texter_new(&d->config, NULL, &texter, &d->why), ERR_NONE);
    bool number = false;
    enum outcome o = texter->ops->send(texter, &message, &number);
    assert_true(o == OUTCOME_REFUSED || !number);
    texter_free(texter);
    return o;
}

static void test_a_text_is_a_form_with_basic_authentication(void **state)
{
    struct fixture *d = *state;
    SAY(d, {"201 Created", "{\"sid\":\"" SM "\",\"status\":\"queued\"}"});
    assert_int_equal(sent(d), OUTCOME_DONE);
    heard(d, 0, "POST " ROOT "/Messages.json HTTP/1.1\r\n");
    heard(d, 0, "\r\nContent-Type: application/x-www-form-urlencoded\r\n");
    heard(d, 0, "\r\nAuthorization: Basic QUMwMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjp0b2tlbg==\r\n");
    heard(d, 0, "\r\n\r\nTo=%2B15551234567&From=%2B15005550006&Body=1%20%2B%201%20%3D%202%20%26%20%C3%BC");
}

static void test_a_messaging_service_sends_instead_of_a_number(void **state)
{
    struct fixture *d = *state;
    d->config.twilio_from = "MG0123456789abcdef0123456789abcdef";
    SAY(d, {"201 Created", "{\"sid\":\"" SM "\",\"status\":\"accepted\"}"});
    assert_int_equal(sent(d), OUTCOME_DONE);
    heard(d, 0, "&MessagingServiceSid=MG0123456789abcdef0123456789abcdef&");
}

/* ACCOUNT-24 */
static void test_the_status_of_a_response_gives_the_outcome(void **state)
{
    struct fixture *d = *state;
    static const struct {
        struct script script;
        enum outcome wanted;
    } cases[] = {
        {{"200 OK", "{\"sid\":\"" SM "\",\"status\":\"sent\"}"}, OUTCOME_DONE},
        {{"201 Created", "{\"sid\":\"" SM "\",\"status\":\"failed\"}"}, OUTCOME_REFUSED},
        {{"201 Created", "{\"sid\":\"" SM "\",\"status\":\"undelivered\"}"}, OUTCOME_REFUSED},
        {{"201 Created", "{\"sid\":\"" SM "\"}"}, OUTCOME_UNKNOWN},
        {{"201 Created", "{\"sid\":\"" SM "\",\"status\":5}"}, OUTCOME_UNKNOWN},
        {{"201 Created", "{\"sid\":\"" PN "\",\"status\":\"sent\"}"}, OUTCOME_UNKNOWN},
        {{"201 Created", "[]"}, OUTCOME_UNKNOWN},
        {{"201 Created", "{\"sid\":"}, OUTCOME_UNKNOWN},
        {{"204 No Content", ""}, OUTCOME_UNKNOWN},
        {{"301 Moved", "{}"}, OUTCOME_UNKNOWN},
        {{"400 Bad Request", FAILURE("400", "21211")}, OUTCOME_REFUSED},
        {{"400 Bad Request", "not JSON"}, OUTCOME_REFUSED},
        {{"400 Bad Request", FAILURE("400", "99999999999999999999")}, OUTCOME_REFUSED},
        {{"401 Unauthorized", FAILURE("401", "20003")}, OUTCOME_REFUSED},
        {{"408 Request Timeout", "{}"}, OUTCOME_UNKNOWN},
        {{"429 Too Many Requests", FAILURE("429", "20429")}, OUTCOME_UNKNOWN},
        {{"500 Internal Server Error", "{}"}, OUTCOME_UNKNOWN},
        {{"503 Service Unavailable", ""}, OUTCOME_UNKNOWN},
        {{NULL, NULL}, OUTCOME_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        SAY(d, cases[i].script);
        if (sent(d) != cases[i].wanted)
            fail_msg("case %zu", i);
        assert_int_equal(d->count, 1);
    }
}

static void test_a_response_of_another_media_type_is_unknown(void **state)
{
    struct fixture *d = *state;
    d->type = "text/html";
    SAY(d, {"201 Created", "{\"sid\":\"" SM "\",\"status\":\"sent\"}"});
    assert_int_equal(sent(d), OUTCOME_UNKNOWN);
}

static void test_an_unreachable_twilio_is_not_final(void **state)
{
    struct fixture *d = *state;
    d->config.twilio_url = "http://127.0.0.1:9";
    assert_int_equal(sent(d), OUTCOME_UNKNOWN);
}

/* ---- numbers ---- */

static enum outcome acquire(struct fixture *d, const char *country, struct str *ret)
{
    struct number_source *numbers;
    assert_int_equal(twilio_numbers_new(&d->config, d->store->store, &numbers, &d->why), ERR_NONE);
    *ret = STR_NONE;
    enum outcome o = numbers->ops->acquire(numbers, STR(REFERENCE), str_z(country), INT64_MAX, &d->arena, ret);
    number_source_free(numbers);
    return o;
}

static void acquired(struct fixture *d, const char *wanted, size_t requests)
{
    struct str number;
    assert_int_equal(acquire(d, "US", &number), OUTCOME_DONE);
    assert_string_equal(number.p, wanted);
    assert_int_equal(d->count, requests);
}

static void not_acquired(struct fixture *d, enum outcome wanted, size_t requests)
{
    struct str number;
    assert_int_equal(acquire(d, "US", &number), wanted);
    assert_null(number.p);
    assert_int_equal(d->count, requests);
}

static enum outcome release(struct fixture *d)
{
    struct number_source *numbers;
    assert_int_equal(twilio_numbers_new(&d->config, d->store->store, &numbers, &d->why), ERR_NONE);
    enum outcome o = numbers->ops->release(numbers, STR("+12015550001"));
    number_source_free(numbers);
    return o;
}

static void test_a_number_is_searched_before_it_is_bought(void **state)
{
    struct fixture *d = *state;
    SAY(d, {"200 OK", NONE_HELD}, {"200 OK", ONE_OFFER}, {"201 Created", BOUGHT});
    acquired(d, "+12015550001", 3);
    heard(d, 0, "GET " ROOT "/IncomingPhoneNumbers.json?FriendlyName=" REFERENCE "&PageSize=100 HTTP/1.1\r\n");
    heard(d, 1, "GET " ROOT "/AvailablePhoneNumbers/US/Local.json?VoiceEnabled=true&PageSize=5 HTTP/1.1\r\n");
    heard(d, 2, "POST " ROOT "/IncomingPhoneNumbers.json HTTP/1.1\r\n");
    heard(d, 2,
          "\r\n\r\nPhoneNumber=%2B12015550001&FriendlyName=" REFERENCE
          "&VoiceUrl=https%3A%2F%2Fdoor.example%2Fhooks%2Ftwilio%2Fvoice&VoiceMethod=POST"
          "&VoiceFallbackUrl=https%3A%2F%2Fdoor.example%2Fhooks%2Ftwilio%2Fvoice&VoiceFallbackMethod=POST"
          "&StatusCallback=https%3A%2F%2Fdoor.example%2Fhooks%2Ftwilio%2Fstatus&StatusCallbackMethod=POST");
}

static void test_without_a_public_url_no_webhook_is_set(void **state)
{
    struct fixture *d = *state;
    d->type = "application/json";
    d->config.top_public_url = "";
    SAY(d, {"200 OK", NONE_HELD}, {"200 OK", ONE_OFFER}, {"201 Created", BOUGHT});
    acquired(d, "+12015550001", 3);
    heard(d, 2, "\r\n\r\nPhoneNumber=%2B12015550001&FriendlyName=" REFERENCE);
    assert_null(strstr(d->heard[2], "Voice"));
}

static void test_a_second_purchase_for_a_reference_returns_at_once(void **state)
{
    struct fixture *d = *state;
    struct str number;
    assert_int_equal(twilio_numbers_new(&d->config, d->store->store, &d->meanwhile, &d->why), ERR_NONE);
    for (int again = 0; again < 2; again++) {
        d->meanwhile_was = OUTCOME_DONE;
        SAY(d, {"200 OK", NONE_HELD}, {"200 OK", ONE_OFFER}, {"201 Created", BOUGHT});
        assert_int_equal(
            d->meanwhile->ops->acquire(d->meanwhile, STR(REFERENCE), STR("US"), INT64_MAX, &d->arena, &number),
            OUTCOME_DONE);
        assert_int_equal(d->meanwhile_was, OUTCOME_UNKNOWN);
        assert_int_equal(d->count, 3);
    }
    number_source_free(d->meanwhile);
}

static void test_a_number_of_the_reference_is_not_bought_again(void **state)
{
    struct fixture *d = *state;
    SAY(d, {"200 OK", PAGE(HELD("other", "+12015550009") "," HELD(REFERENCE, "+12015550002"), "null")});
    acquired(d, "+12015550002", 1);
}

static void test_every_page_is_searched(void **state)
{
    struct fixture *d = *state;
    SAY(d, {"200 OK", PAGE(HELD("other", "+12015550009"), "\"" ROOT "/IncomingPhoneNumbers.json?Page=1&PageToken=x\"")},
        {"200 OK", PAGE(BOUGHT, "null")});
    acquired(d, "+12015550001", 2);
    heard(d, 1, "GET " ROOT "/IncomingPhoneNumbers.json?Page=1&PageToken=x HTTP/1.1\r\n");
}

static void test_a_malformed_page_is_unknown(void **state)
{
    struct fixture *d = *state;
    static const char *const pages[] = {
        "{}",
        "[]",
        "{\"incoming_phone_numbers\":{}}",
        PAGE("", "5"),
        PAGE("", "\"\""),
        PAGE("", "\"https://elsewhere.example/\""),
        PAGE("", "\"/2010-04-01/Accounts/AC00/IncomingPhoneNumbers.json\""),
        PAGE("", "\"" ROOT "\""),
        PAGE("", "\"" ROOT "0/IncomingPhoneNumbers.json\""),
        PAGE("", "\"" ROOT "/a b\""),
        PAGE("", "\"" ROOT "/a\\u0000b\""),
        PAGE("", "\"" ROOT "/a\\r\\nX: y\""),
        PAGE("{\"sid\":\"PN5\",\"friendly_name\":\"" REFERENCE "\",\"phone_number\":\"+12015550001\"}", "null"),
        PAGE(HELD(REFERENCE, "12015550001"), "null"),
    };
    for (size_t i = 0; i < COUNT(pages); i++) {
        SAY(d, {"200 OK", pages[i]});
        not_acquired(d, OUTCOME_UNKNOWN, 1);
    }
}

static void test_nothing_is_bought_after_a_failed_search(void **state)
{
    struct fixture *d = *state;
    SAY(d, {"401 Unauthorized", FAILURE("401", "20003")});
    not_acquired(d, OUTCOME_UNKNOWN, 1);
    SAY(d, {"500 Internal Server Error", "{}"});
    not_acquired(d, OUTCOME_UNKNOWN, 1);
}

static void test_a_purchase_without_an_answer_is_searched(void **state)
{
    struct fixture *d = *state;
    static const struct script unclear[] = {
        {"500 Internal Server Error", "{}"}, {"201 Created", "{"}, {"201 Created", HELD(REFERENCE, "+12015550007")},
        {"429 Too Many Requests", "{}"},     {NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(unclear); i++) {
        SAY(d, {"200 OK", NONE_HELD}, {"200 OK", ONE_OFFER}, unclear[i], {"200 OK", PAGE(BOUGHT, "null")});
        acquired(d, "+12015550001", 4);
        SAY(d, {"200 OK", NONE_HELD}, {"200 OK", ONE_OFFER}, unclear[i], {"200 OK", NONE_HELD});
        not_acquired(d, OUTCOME_UNKNOWN, 4);
        clock_set_offset_s(clock_offset_s() + 61);
    }
}

/* acquire() opens another provider each time, as another process does. */
/* BUILDING-31 */
static void test_no_process_repeats_a_purchase_that_may_still_take_effect(void **state)
{
    struct fixture *d = *state;
    SAY(d, {"200 OK", NONE_HELD}, {"200 OK", ONE_OFFER}, {NULL, NULL}, {"200 OK", NONE_HELD});
    not_acquired(d, OUTCOME_UNKNOWN, 4);
    SAY(d, {NULL, NULL});
    not_acquired(d, OUTCOME_UNKNOWN, 0);
    clock_set_offset_s(clock_offset_s() + 30);
    not_acquired(d, OUTCOME_UNKNOWN, 0);
    clock_set_offset_s(clock_offset_s() + 31);
    SAY(d, {"200 OK", NONE_HELD}, {"200 OK", ONE_OFFER}, {"201 Created", BOUGHT});
    acquired(d, "+12015550001", 3);
}

static void test_no_purchase_is_begun_that_could_end_after_its_limit(void **state)
{
    struct fixture *d = *state;
    struct number_source *n;
    struct str number;
    const int64_t until_us = clock_monotonic_us() + d->config.twilio_timeout_s * US_PER_S;
    assert_int_equal(twilio_numbers_new(&d->config, d->store->store, &n, &d->why), ERR_NONE);
    for (int again = 0; again < 2; again++) {
        SAY(d, {"200 OK", NONE_HELD}, {"200 OK", ONE_OFFER});
        assert_int_equal(n->ops->acquire(n, STR(REFERENCE), STR("US"), until_us, &d->arena, &number), OUTCOME_UNKNOWN);
        assert_int_equal(d->count, 2);
    }
    number_source_free(n);
}

static void test_the_next_number_is_tried_if_one_is_taken(void **state)
{
    struct fixture *d = *state;
    const char *two = AVAILABLE(OFFER("+12015550003") "," OFFER("+12015550001"));
    SAY(d, {"200 OK", NONE_HELD}, {"200 OK", two}, {"400 Bad Request", FAILURE("400", "21422")},
        {"201 Created", BOUGHT});
    acquired(d, "+12015550001", 4);
    SAY(d, {"200 OK", NONE_HELD}, {"200 OK", two}, {"400 Bad Request", FAILURE("400", "21649")});
    not_acquired(d, OUTCOME_REFUSED, 3);
    SAY(d, {"200 OK", NONE_HELD}, {"200 OK", ONE_OFFER}, {"400 Bad Request", FAILURE("400", "21422")});
    not_acquired(d, OUTCOME_REFUSED, 3);
}

static void test_no_numbers_and_an_unknown_country_are_refused(void **state)
{
    struct fixture *d = *state;
    struct str number;
    SAY(d, {"200 OK", NONE_HELD}, {"200 OK", AVAILABLE("")});
    not_acquired(d, OUTCOME_REFUSED, 2);
    SAY(d, {"200 OK", NONE_HELD}, {"200 OK", AVAILABLE("{\"phone_number\":\"5\"}")});
    not_acquired(d, OUTCOME_UNKNOWN, 2);
    SAY(d, {"200 OK", NONE_HELD});
    assert_int_equal(acquire(d, "MX", &number), OUTCOME_REFUSED);
    assert_int_equal(acquire(d, "US/../..", &number), OUTCOME_REFUSED);
    assert_int_equal(d->count, 0);
}

static void test_a_number_is_found_by_its_reference(void **state)
{
    struct fixture *d = *state;
    struct number_source *numbers;
    struct str number = STR("untouched");
    assert_int_equal(number_source_new(&d->config, d->store->store, &numbers, &d->why), ERR_NONE);
    SAY(d, {"401 Unauthorized", FAILURE("401", "20003")}, {"200 OK", PAGE(BOUGHT, "null")}, {"200 OK", NONE_HELD});
    assert_int_equal(numbers->ops->find(numbers, STR(REFERENCE), &d->arena, &number), OUTCOME_UNKNOWN);
    assert_string_equal(number.p, "untouched");
    assert_int_equal(numbers->ops->find(numbers, STR(REFERENCE), &d->arena, &number), OUTCOME_DONE);
    assert_string_equal(number.p, "+12015550001");
    assert_int_equal(numbers->ops->find(numbers, STR(REFERENCE), &d->arena, &number), OUTCOME_DONE);
    assert_null(number.p);
    number_source_free(numbers);
}

static void test_a_number_is_released_by_its_identifier(void **state)
{
    struct fixture *d = *state;
    SAY(d, {"200 OK", PAGE(BOUGHT, "null")}, {"204 No Content", ""});
    assert_int_equal(release(d), OUTCOME_DONE);
    heard(d, 0, "GET " ROOT "/IncomingPhoneNumbers.json?PhoneNumber=%2B12015550001&PageSize=100 HTTP/1.1\r\n");
    heard(d, 1, "DELETE " ROOT "/IncomingPhoneNumbers/" PN ".json HTTP/1.1\r\n");
    static const struct {
        struct script page, deletion;
        enum outcome wanted;
        size_t requests;
    } cases[] = {
        {{"200 OK", NONE_HELD}, {NULL, NULL}, OUTCOME_DONE, 1},
        {{"200 OK", PAGE(HELD("x", "+120155500011"), "null")}, {NULL, NULL}, OUTCOME_DONE, 1}, /* another number */
        {{"200 OK", PAGE(BOUGHT, "null")}, {"404 Not Found", FAILURE("404", "20404")}, OUTCOME_DONE, 2},
        {{"200 OK", PAGE(BOUGHT, "null")}, {"400 Bad Request", FAILURE("400", "1")}, OUTCOME_REFUSED, 2},
        {{"200 OK", PAGE(BOUGHT, "null")}, {"503 Service Unavailable", ""}, OUTCOME_UNKNOWN, 2},
        {{"404 Not Found", FAILURE("404", "20404")}, {NULL, NULL}, OUTCOME_UNKNOWN, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        SAY(d, cases[i].page, cases[i].deletion);
        if (release(d) != cases[i].wanted)
            fail_msg("case %zu", i);
        assert_int_equal(d->count, cases[i].requests);
    }
}

/* ---- configuration and forms ---- */

static void test_an_invalid_configuration_is_refused_with_the_name_of_the_key(void **state)
{
    struct fixture *d = *state;
    const struct {
        const char *sid, *token, *from, *named;
    } cases[] = {
        {"AC5", "t", "+15005550006", "twilio.account_sid"},
        {"SK0123456789abcdef0123456789abcdef", "t", "+15005550006", "twilio.account_sid"},
        {ACCOUNT, "env:PORTERO_TEST_UNSET", "+15005550006", "twilio.auth_token"},
        {ACCOUNT, "file:/dev/null", "+15005550006", "twilio.auth_token"},
        {ACCOUNT, "t", "Portero", "twilio.from"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct texter *texter;
        char *why = NULL;
        d->config.twilio_account_sid = cases[i].sid;
        d->config.twilio_auth_token = cases[i].token;
        d->config.twilio_from = cases[i].from;
        assert_int_equal(texter_new(&d->config, NULL, &texter, &why), ERR_USAGE);
        assert_non_null(strstr(why, cases[i].named));
        free(why);
    }
}

static void test_identifiers_and_numbers_are_validated(void **state)
{
    (void)state;
    assert_true(twilio_is_sid(STR(PN), "PN"));
    assert_false(twilio_is_sid(STR(PN), "AC"));
    assert_false(twilio_is_sid(STR(PN "0"), "PN"));
    assert_false(twilio_is_sid(STR("PN0123456789abcdef0123456789abcde/"), "PN"));
    assert_false(twilio_is_sid(STR_NONE, "PN"));
    assert_true(twilio_is_number(STR("+1234567")));
    assert_true(twilio_is_number(STR("+123456789012345")));
    static const char *const none[] = {"", "+", "+123456", "+1234567890123456", "+0234567", "12345678", "+1234567x"};
    for (size_t i = 0; i < COUNT(none); i++)
        assert_false(twilio_is_number(str_z(none[i])));
    assert_false(twilio_is_number(str_n("+1234567\0", 9)));
    assert_false(twilio_is_number(STR_NONE));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_text_is_a_form_with_basic_authentication),
        TEST(test_a_messaging_service_sends_instead_of_a_number),
        TEST(test_the_status_of_a_response_gives_the_outcome),
        TEST(test_a_response_of_another_media_type_is_unknown),
        TEST(test_an_unreachable_twilio_is_not_final),
        TEST(test_a_number_is_searched_before_it_is_bought),
        TEST(test_without_a_public_url_no_webhook_is_set),
        TEST(test_a_second_purchase_for_a_reference_returns_at_once),
        TEST(test_a_number_of_the_reference_is_not_bought_again),
        TEST(test_every_page_is_searched),
        TEST(test_a_malformed_page_is_unknown),
        TEST(test_nothing_is_bought_after_a_failed_search),
        TEST(test_a_purchase_without_an_answer_is_searched),
        TEST(test_no_process_repeats_a_purchase_that_may_still_take_effect),
        TEST(test_no_purchase_is_begun_that_could_end_after_its_limit),
        TEST(test_the_next_number_is_tried_if_one_is_taken),
        TEST(test_no_numbers_and_an_unknown_country_are_refused),
        TEST(test_a_number_is_found_by_its_reference),
        TEST(test_a_number_is_released_by_its_identifier),
        TEST(test_an_invalid_configuration_is_refused_with_the_name_of_the_key),
        TEST(test_identifiers_and_numbers_are_validated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
