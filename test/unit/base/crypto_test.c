#include "base/crypto.h"

#include <pthread.h>

#include "unit.h"

static const unsigned char master[SHA256_LEN] = "0123456789abcdef0123456789abcde";

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0);
    crypto_set_master(master, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const char *hex(const unsigned char *p)
{
    static char text[2 * SHA256_LEN + 1];
    hex_encode(p, SHA256_LEN, text);
    return text;
}

static void sha256_gives_the_published_digests(void **state)
{
    (void)state;
    unsigned char d[SHA256_LEN];
    crypto_sha256(STR("abc"), d); /* FIPS 180-4 */
    assert_string_equal(hex(d), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    crypto_sha256(STR(""), d);
    assert_string_equal(hex(d), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    crypto_sha256(STR_NONE, d);
    assert_string_equal(hex(d), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    crypto_sha256(STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), d);
    assert_string_equal(hex(d), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void hmac_sha1_gives_the_published_code(void **state)
{
    (void)state;
    unsigned char d[SHA1_LEN];
    char text[BASE64_LEN(SHA1_LEN) + 1];
    crypto_hmac_sha1(STR("Jefe"), STR("what do ya want for nothing?"), d); /* RFC 2202, 3 */
    base64_standard_encode(d, sizeof d, text);
    assert_string_equal(text, "7/zfauXrL6LSdBbV8YTfnCWafHk=");
}

static void hmac_gives_the_published_codes(void **state)
{
    (void)state;
    unsigned char d[SHA256_LEN], key[131];
    crypto_hmac_sha256(STR("Jefe"), STR("what do ya want for nothing?"), d); /* RFC 4231, 4.3 */
    assert_string_equal(hex(d), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    crypto_hmac_sha256(str_n((char *)key, sizeof key), STR("Test Using Larger Than Block-Size Key - Hash Key First"),
                       d);
    assert_string_equal(hex(d), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"); /* 4.7 */
    crypto_hmac_sha256(STR(""), STR(""), d);
    assert_string_equal(hex(d), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
    crypto_hmac_sha256(STR_NONE, STR_NONE, d);
    assert_string_equal(hex(d), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void every_byte_is_compared(void **state)
{
    (void)state;
    assert_true(crypto_equal("abcd", "abcd", 4));
    assert_false(crypto_equal("abcd", "abce", 4));
    assert_false(crypto_equal("xbcd", "abcd", 4));
    assert_true(crypto_equal("a", "b", 0));
}

static void base62_is_uniform(void **state)
{
    (void)state;
    char text[62 * 1000 + 1];
    unsigned seen[256] = {0};
    text[sizeof text - 1] = 'x';
    crypto_base62(text, sizeof text - 1);
    assert_int_equal(strlen(text), sizeof text - 1);
    for (const char *p = text; *p; p++)
        seen[(unsigned char)*p]++;
    unsigned alphabet = 0;
    for (int c = 0; c < 256; c++) {
        bool member = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        assert_int_equal(seen[c] > 0, member);
        if (member)
            assert_in_range(seen[c], 700, 1300); /* 1000 +- 9.5 standard deviations */
        alphabet += member;
    }
    assert_int_equal(alphabet, 62);
    crypto_base62(text, 0);
    assert_string_equal(text, "");
}

static void derived_base62_follows_from_key_purpose_and_data(void **state)
{
    static const unsigned char one[SHA256_LEN] = "one", two[SHA256_LEN] = "two";
    char text[201], other[201];
    (void)state;
    crypto_set_master(one, NULL);
    assert_true(crypto_derived_base62(MASTER_CURRENT, "p", STR("data"), text, 200));
    assert_int_equal(strlen(text), 200);
    assert_int_equal(strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"), 200);
    assert_true(crypto_derived_base62(MASTER_CURRENT, "p", STR("data"), other, 43));
    assert_memory_equal(text, other, 43);
    assert_int_equal(other[43], 0);
    assert_memory_not_equal(text, text + 43, 43);
    assert_true(crypto_derived_base62(MASTER_CURRENT, "q", STR("data"), other, 43));
    assert_memory_not_equal(text, other, 43);
    assert_true(crypto_derived_base62(MASTER_CURRENT, "p", STR("dat"), other, 43));
    assert_memory_not_equal(text, other, 43);
    assert_false(crypto_derived_base62(MASTER_PREVIOUS, "p", STR("data"), other, 43));
    crypto_set_master(two, one);
    assert_true(crypto_derived_base62(MASTER_CURRENT, "p", STR("data"), other, 43));
    assert_memory_not_equal(text, other, 43);
    assert_true(crypto_derived_base62(MASTER_PREVIOUS, "p", STR("data"), other, 43));
    assert_memory_equal(text, other, 43);
}

static void uniform_covers_its_range(void **state)
{
    (void)state;
    unsigned seen[10] = {0};
    for (int i = 0; i < 10000; i++) {
        uint32_t v = crypto_uniform(10);
        assert_true(v < 10);
        seen[v]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(seen[i], 700, 1300);
    assert_int_equal(crypto_uniform(1), 0);
    assert_true(crypto_uniform(UINT32_MAX) < UINT32_MAX);
}

static void random_fills_everything(void **state)
{
    (void)state;
    unsigned char a[64] = {0}, b[64] = {0}, either[64] = {0};
    for (int i = 0; i < 8; i++) {
        crypto_random(a, sizeof a);
        crypto_random(b, sizeof b);
        assert_memory_not_equal(a, b, sizeof a);
        for (size_t k = 0; k < sizeof either; k++)
            either[k] |= a[k] | b[k];
    }
    for (size_t k = 0; k < sizeof either; k++)
        assert_int_not_equal(either[k], 0);
    crypto_wipe(a, sizeof a);
    for (size_t k = 0; k < sizeof a; k++)
        assert_int_equal(a[k], 0);
}

static void base64url_follows_rfc_4648(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *text;
    } cases[] = {{"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
                 {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff\xfe", "-__-"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct str bytes;
        assert_text(base64url_encode(&arena, str_z(cases[i].bytes)), cases[i].text);
        assert_true(base64url_decode(&arena, str_z(cases[i].text), &bytes));
        assert_text(bytes, cases[i].bytes);
    }
}

static void only_the_canonical_base64url_is_decoded(void **state)
{
    (void)state;
    static const char *const cases[] = {"Z",    "Zg==",  "Zg=",    "Zh",    "Zm9",        "+__-",
                                        "-//-", "Zm 9v", "Zm9v\n", "Zm9vY", "\xc3\xa9==", "===="};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct str bytes = STR("untouched");
        if (base64url_decode(&arena, str_z(cases[i]), &bytes))
            fail_msg("accepted: %s", cases[i]);
        assert_text(bytes, "untouched");
    }
}

static void derived_keys_differ_by_purpose_and_data(void **state)
{
    (void)state;
    unsigned char a[SHA256_LEN], b[SHA256_LEN], key[SHA256_LEN], want[SHA256_LEN];
    crypto_derived_mac("otp", STR("x"), a);
    crypto_derived_mac("cursor", STR("x"), b);
    assert_memory_not_equal(a, b, sizeof a);
    crypto_derived_mac("otp", STR("y"), b);
    assert_memory_not_equal(a, b, sizeof a);
    crypto_hmac_sha256(str_n((const char *)master, sizeof master), STR("otp"), key);
    crypto_hmac_sha256(str_n((const char *)key, sizeof key), STR("x"), want);
    assert_memory_equal(a, want, sizeof a);
}

static void sealed_text_opens_again(void **state)
{
    (void)state;
    struct str plain;
    for (size_t n = 0; n < 100; n++) {
        char text[100];
        memset(text, 'p', sizeof text);
        struct str sealed = crypto_seal(MASTER_CURRENT, "webhook", str_n(text, n), &arena);
        assert_int_equal(sealed.n, 12 + n + 16);
        assert_true(crypto_open("webhook", sealed, &arena, &plain));
        assert_true(str_eq(plain, str_n(text, n)));
    }
    struct str one = crypto_seal(MASTER_CURRENT, "webhook", STR("same"), &arena),
               two = crypto_seal(MASTER_CURRENT, "webhook", STR("same"), &arena);
    assert_false(str_eq(one, two)); /* a new nonce each time */
    assert_true(crypto_open("webhook", crypto_seal(MASTER_CURRENT, "webhook", STR_NONE, &arena), &arena, &plain));
    assert_text(plain, "");
}

static void altered_or_foreign_bytes_do_not_open(void **state)
{
    (void)state;
    struct str plain = STR("untouched"), sealed = crypto_seal(MASTER_CURRENT, "webhook", STR("secret"), &arena);
    char *bytes = (char *)(uintptr_t)sealed.p;
    for (size_t i = 0; i < sealed.n; i++) {
        bytes[i] ^= 1;
        assert_false(crypto_open("webhook", sealed, &arena, &plain));
        bytes[i] ^= 1;
    }
    for (size_t n = 0; n < sealed.n; n++)
        assert_false(crypto_open("webhook", str_n(sealed.p, n), &arena, &plain));
    assert_false(crypto_open("otp", sealed, &arena, &plain));
    assert_false(crypto_open("webhook", STR_NONE, &arena, &plain));
    unsigned char other[SHA256_LEN] = {1};
    crypto_set_master(other, NULL);
    assert_false(crypto_open("webhook", sealed, &arena, &plain));
    crypto_set_master(master, NULL);
    assert_text(plain, "untouched");
    assert_true(crypto_open("webhook", sealed, &arena, &plain));
    assert_text(plain, "secret");
}

static void two_keys_open_and_the_current_one_signs(void **state)
{
    (void)state;
    static const unsigned char next[SHA256_LEN] = {1};
    struct str plain, old = crypto_seal(MASTER_CURRENT, "webhook", STR("old"), &arena);
    unsigned char signed_by_old[SHA256_LEN], mac[SHA256_LEN];
    char check[MASTER_CHECK_LEN + 1], other[MASTER_CHECK_LEN + 1];
    crypto_derived_mac("otp", STR("x"), signed_by_old);
    assert_true(crypto_master_check(MASTER_CURRENT, check));
    assert_false(crypto_master_check(MASTER_PREVIOUS, other));
    crypto_set_master(next, master);
    assert_true(crypto_master_check(MASTER_PREVIOUS, other));
    assert_string_equal(check, other);
    assert_true(crypto_open("webhook", old, &arena, &plain));
    assert_false(crypto_open_with(MASTER_CURRENT, "webhook", old, &arena, &plain));
    assert_true(crypto_is_derived_mac("otp", STR("x"), signed_by_old, sizeof signed_by_old));
    assert_true(crypto_is_derived_mac("otp", STR("x"), signed_by_old, 16));
    assert_false(crypto_is_derived_mac("otp", STR("y"), signed_by_old, sizeof signed_by_old));
    crypto_derived_mac("otp", STR("x"), mac);
    assert_memory_not_equal(mac, signed_by_old, sizeof mac);
    assert_true(crypto_is_derived_mac("otp", STR("x"), mac, sizeof mac));
    crypto_set_master(master, NULL);
    assert_false(crypto_is_derived_mac("otp", STR("x"), mac, sizeof mac));
}

static void *hash_often(void *arg)
{
    unsigned char first[SHA256_LEN], d[SHA256_LEN];
    struct str data = str_z(arg);
    crypto_sha256(data, first);
    for (int i = 0; i < 2000; i++) {
        crypto_hmac_sha256(STR("k"), data, d);
        crypto_sha256(data, d);
        if (memcmp(first, d, sizeof d) != 0)
            return arg;
    }
    return NULL;
}

static void threads_hash_independently(void **state)
{
    (void)state;
    pthread_t threads[4];
    static char data[4][2] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hash_often, data[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_published_digests),
        cmocka_unit_test(hmac_sha1_gives_the_published_code),
        cmocka_unit_test(hmac_gives_the_published_codes),
        cmocka_unit_test(every_byte_is_compared),
        cmocka_unit_test(base62_is_uniform),
        cmocka_unit_test(derived_base62_follows_from_key_purpose_and_data),
        cmocka_unit_test(uniform_covers_its_range),
        cmocka_unit_test(random_fills_everything),
        cmocka_unit_test_setup_teardown(base64url_follows_rfc_4648, setup, teardown),
        cmocka_unit_test_setup_teardown(only_the_canonical_base64url_is_decoded, setup, teardown),
        cmocka_unit_test_setup_teardown(derived_keys_differ_by_purpose_and_data, setup, teardown),
        cmocka_unit_test_setup_teardown(sealed_text_opens_again, setup, teardown),
        cmocka_unit_test_setup_teardown(altered_or_foreign_bytes_do_not_open, setup, teardown),
        cmocka_unit_test_setup_teardown(two_keys_open_and_the_current_one_signs, setup, teardown),
        cmocka_unit_test(threads_hash_independently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
