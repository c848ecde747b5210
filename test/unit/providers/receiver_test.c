/* The sandbox's receiver of webhooks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/crypto.h"
#include "providers/receiver.h"

#define SECRET "whsec_of_the_endpoint"
#define BODY   "{\"id\":\"evt_1\"}"

static long take(const char *url, const char *signature, const char *secret)
{
    const struct received r = {.url = str_z(url), .body = STR(BODY), .signature = str_z(signature)};
    return receiver_take(r, str_z(secret));
}

/* The line of a signature made at that time. */
static const char *sign(const char *time)
{
    static char line[128];
    unsigned char mac[SHA256_LEN];
    char text[64], hex[2 * SHA256_LEN + 1];
    const int n = snprintf(text, sizeof text, "%s." BODY, time);
    crypto_hmac_sha256(STR(SECRET), str_n(text, (size_t)n), mac);
    hex_encode(mac, sizeof mac, hex);
    (void)snprintf(line, sizeof line, "Service-Signature: t=%s,v1=%s", time, hex);
    return line;
}

static bool newest_is_genuine(void)
{
    struct arena arena;
    struct received newest;
    arena_init(&arena, NULL, 0);
    assert_int_equal(receiver_list(&arena, &newest, 1), 1);
    arena_done(&arena);
    return newest.genuine;
}

/* WEBHOOK-34 */
static void test_it_has_its_own_host_in_the_sandbox_alone(void **state)
{
    (void)state;
    const struct config sandbox = {0}, production = {.production = true};
    assert_true(receiver_has(&sandbox, STR("https://receiver.test/")));
    assert_true(receiver_has(&sandbox, STR("https://receiver.test/503")));
    assert_false(receiver_has(&sandbox, STR("https://receiver.test.example.com/")));
    assert_false(receiver_has(&sandbox, STR("https://receiver.test:8443/")));
    assert_false(receiver_has(&production, STR("https://receiver.test/")));
}

static void test_the_url_chooses_the_answer(void **state)
{
    (void)state;
    assert_int_equal(take("https://receiver.test/", "", SECRET), 200);
    assert_int_equal(take("https://receiver.test/503", "", SECRET), 503);
    assert_int_equal(take("https://receiver.test/99", "", SECRET), 200);
    assert_int_equal(take("https://receiver.test/600", "", SECRET), 200);
    assert_int_equal(take("https://receiver.test/5x3", "", SECRET), 200);
}

static void test_a_signature_is_genuine_with_the_secret_and_time_alone(void **state)
{
    (void)state;
    take("https://receiver.test/", sign("1795167000"), SECRET);
    assert_true(newest_is_genuine());
    take("https://receiver.test/", sign("1795167000"), "whsec_of_another");
    assert_false(newest_is_genuine());
    char *later = (char *)(uintptr_t)strchr(sign("1795167000"), '=') + 1;
    *later = '2';
    take("https://receiver.test/", later - strlen("Service-Signature: t="), SECRET);
    assert_false(newest_is_genuine());
    static const char *const odd[] = {"", "Service-Signature: t=1", "Service-Signature: t=1,v1=", "Other: t=1,v1=0"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        take("https://receiver.test/", odd[i], SECRET);
        assert_false(newest_is_genuine());
    }
}

/* WEBHOOK-34 */
static void test_the_newest_are_kept(void **state)
{
    (void)state;
    char url[64];
    for (int i = 0; i < 2 * RECEIVED_MAX; i++) {
        (void)snprintf(url, sizeof url, "https://receiver.test/n/%d", i);
        take(url, "", SECRET);
    }
    struct arena arena;
    struct received list[RECEIVED_MAX + 1];
    arena_init(&arena, NULL, 0);
    assert_int_equal(receiver_list(&arena, list, RECEIVED_MAX + 1), RECEIVED_MAX);
    for (int i = 0; i < RECEIVED_MAX; i++) {
        (void)snprintf(url, sizeof url, "https://receiver.test/n/%d", 2 * RECEIVED_MAX - 1 - i);
        assert_true(str_eq(list[i].url, str_z(url)));
        assert_true(str_eq(list[i].body, STR(BODY)));
    }
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_has_its_own_host_in_the_sandbox_alone),
        cmocka_unit_test(test_the_url_chooses_the_answer),
        cmocka_unit_test(test_a_signature_is_genuine_with_the_secret_and_time_alone),
        cmocka_unit_test(test_the_newest_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
