/* a=crypto (RFC 4568). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "media/sdes.h"

#define KEY "WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz" /* of RFC 4568, 9.1 */

static const uint8_t KEY_BYTES[] = "YS___semctl () {\t220;}\n}\nunles";

static bool reads(const char *value)
{
    struct sdes s;
    return sdes_read(str_z(value), &s);
}

/* PHONE-35 */
static void test_a_key_is_read_and_written(void **state)
{
    (void)state;
    struct sdes s;
    char text[SDES_TEXT_MAX];
    assert_true(sdes_read(STR("1 AES_CM_128_HMAC_SHA1_80 inline:" KEY), &s));
    assert_int_equal(s.tag, 1);
    assert_int_equal(s.suite, SRTP_AES_CM_128_HMAC_SHA1_80);
    assert_memory_equal(s.key, KEY_BYTES, SDES_KEY_LEN);
    sdes_write(&s, text);
    assert_string_equal(text, "1 AES_CM_128_HMAC_SHA1_80 inline:" KEY);
    s.tag = 999999999;
    s.suite = SRTP_AES_CM_128_HMAC_SHA1_32;
    memset(s.key, 0xff, sizeof s.key);
    sdes_write(&s, text);
    assert_string_equal(text, "999999999 AES_CM_128_HMAC_SHA1_32 inline:////////////////////////////////////////");
}

static void test_a_lifetime_and_harmless_parameters_are_accepted(void **state)
{
    (void)state;
    assert_true(reads("1 AES_CM_128_HMAC_SHA1_80 inline:" KEY "|2^20"));
    assert_true(reads("1 AES_CM_128_HMAC_SHA1_32 inline:" KEY "|1066400 WSH=128"));
    assert_true(reads("1 aes_cm_128_hmac_sha1_80 INLINE:" KEY " -OWN=1"));
}

/* PHONE-35 */
static void test_lines_that_change_the_packets_in_unknown_ways_are_not_used(void **state)
{
    (void)state;
    static const char *const values[] = {
        "",
        "1",
        "1 AES_CM_128_HMAC_SHA1_80",
        "x AES_CM_128_HMAC_SHA1_80 inline:" KEY,
        "-1 AES_CM_128_HMAC_SHA1_80 inline:" KEY,
        "1234567890 AES_CM_128_HMAC_SHA1_80 inline:" KEY,
        "1 F8_128_HMAC_SHA1_80 inline:" KEY,
        "1 AES_256_CM_HMAC_SHA1_80 inline:" KEY,
        "1 AES_CM_128_HMAC_SHA1_80 " KEY,
        "1 AES_CM_128_HMAC_SHA1_80 inline:" KEY "A",
        "1 AES_CM_128_HMAC_SHA1_80 inline:AAAA",
        "1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubG==",
        "1 AES_CM_128_HMAC_SHA1_80 inline:*VNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz",
        "1 AES_CM_128_HMAC_SHA1_80 inline:" KEY "|2^20|1:4",
        "1 AES_CM_128_HMAC_SHA1_80 inline:" KEY "|1:4",
        "1 AES_CM_128_HMAC_SHA1_80 inline:" KEY ";inline:" KEY,
        "1 AES_CM_128_HMAC_SHA1_80 inline:" KEY " UNENCRYPTED_SRTP",
        "1 AES_CM_128_HMAC_SHA1_80 inline:" KEY " UNAUTHENTICATED_SRTP",
        "1 AES_CM_128_HMAC_SHA1_80 inline:" KEY " KDR=1",
        "1 AES_CM_128_HMAC_SHA1_80 inline:" KEY " FEC_ORDER=FEC_SRTP",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (reads(values[i]))
            fail_msg("%s", values[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_is_read_and_written),
        cmocka_unit_test(test_a_lifetime_and_harmless_parameters_are_accepted),
        cmocka_unit_test(test_lines_that_change_the_packets_in_unknown_ways_are_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
