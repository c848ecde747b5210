/* Digest authentication of callers. The answers are made by libre's client side of it, httpauth_digest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/crypto.h"
#include "sip/digest.h"

#define NOW_MS INT64_C(1000000)

struct scene {
    struct sip_nonces nonces;
    struct sa box, other;
};

static int set_up(void **state)
{
    static struct scene s;
    crypto_set_master((const unsigned char[SHA256_LEN]){1}, NULL);
    assert_int_equal(sip_nonces_init(&s.nonces), 0);
    assert_int_equal(sa_set_str(&s.box, "192.0.2.1", 5060), 0);
    assert_int_equal(sa_set_str(&s.other, "192.0.2.2", 5060), 0);
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *s = *state;
    sip_nonces_done(&s->nonces);
    return 0;
}

/* The nonce of a challenge made at that time. */
static void nonce_of(const struct sa *src, int64_t at_ms, char ret[static 128])
{
    char challenge[SIP_CHALLENGE_MAX];
    sip_digest_challenge(src, at_ms, false, challenge);
    const char *from = strstr(challenge, "nonce=\"");
    assert_non_null(from);
    from += strlen("nonce=\"");
    const size_t n = strcspn(from, "\"");
    assert_true(n < 128);
    memcpy(ret, from, n);
    ret[n] = '\0';
}

struct answer {
    const char *user, *password, *realm, *uri, *qop, *count;
};
static const struct answer right = {"gate", "secret", SIP_REALM, "sip:101@192.0.2.9", "auth", "00000001"};

/* A REGISTER from the box with the answer to a nonce. The caller derefs it. */
static struct sip_msg *request(const struct sa *src, const char *nonce, const struct answer *w)
{
    uint8_t ha1[MD5_SIZE], ha2[MD5_SIZE], digest[MD5_SIZE];
    struct mbuf *mb = mbuf_alloc(1024);
    struct sip_msg *msg;
    assert_int_equal(md5_printf(ha1, "%s:%s:%s", w->user, w->realm, w->password), 0);
    assert_int_equal(md5_printf(ha2, "REGISTER:%s", w->uri), 0);
    assert_int_equal(md5_printf(digest, "%w:%s:%s:cn:%s:%w", ha1, sizeof ha1, nonce, w->count, w->qop, ha2, sizeof ha2),
                     0);
    assert_int_equal(
        mbuf_printf(mb,
                    "REGISTER sip:101@192.0.2.9 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa\r\n"
                    "From: <sip:gate@x>;tag=a\r\nTo: <sip:gate@x>\r\nCall-ID: a\r\nCSeq: 1 REGISTER\r\n"
                    "Authorization: Digest username=\"x\", realm=\"elsewhere\", nonce=\"n\", uri=\"sip:a@b\", "
                    "response=\"00\"\r\n"
                    "Authorization: Digest username=\"%s\", realm=\"%s\", nonce=\"%s\", uri=\"%s\", response=\"%w\", "
                    "qop=%s, nc=%s, cnonce=\"cn\"\r\nContent-Length: 0\r\n\r\n",
                    w->user, w->realm, nonce, w->uri, digest, sizeof digest, w->qop, w->count),
        0);
    mb->pos = 0;
    assert_int_equal(sip_msg_decode(&msg, mb), 0);
    msg->src = *src;
    mem_deref(mb);
    return msg;
}

static enum sip_digest_state read_answer(const struct scene *s, const struct sa *src, int64_t made_ms, int64_t now_ms,
                                         const struct answer *w)
{
    char nonce[128];
    struct sip_digest d;
    nonce_of(&s->box, made_ms, nonce);
    struct sip_msg *msg = request(src, nonce, w);
    const enum sip_digest_state state = sip_digest_read(&s->nonces, msg, now_ms, &d);
    mem_deref(msg);
    return state;
}

static void test_an_answer_proves_the_password(void **state)
{
    struct scene *s = *state;
    char nonce[128];
    struct sip_digest d;
    nonce_of(&s->box, NOW_MS, nonce);
    struct sip_msg *msg = request(&s->box, nonce, &right);
    assert_int_equal(sip_digest_read(&s->nonces, msg, NOW_MS, &d), SIP_DIGEST_FRESH);
    assert_int_equal(pl_strcmp(&d.response.username, "gate"), 0);
    assert_true(sip_digest_proves(&d, &msg->met, STR("secret")));
    assert_false(sip_digest_proves(&d, &msg->met, STR("Secret")));
    assert_false(sip_digest_proves(&d, &(struct pl)PL("INVITE"), STR("secret")));
    mem_deref(msg);
}

/* PHONE-5 */
static void test_a_nonce_is_bound_to_address_and_time(void **state)
{
    struct scene *s = *state;
    assert_int_equal(read_answer(s, &s->other, NOW_MS, NOW_MS, &right), SIP_DIGEST_NONE);
    assert_int_equal(read_answer(s, &s->box, NOW_MS, NOW_MS + SIP_NONCE_MS, &right), SIP_DIGEST_FRESH);
    assert_int_equal(read_answer(s, &s->box, NOW_MS, NOW_MS + SIP_NONCE_MS + 1, &right), SIP_DIGEST_STALE);
    assert_int_equal(read_answer(s, &s->box, NOW_MS + 1, NOW_MS, &right), SIP_DIGEST_STALE);
}

/* PHONE-5 */
static void test_a_count_is_accepted_once_and_only_upwards(void **state)
{
    struct scene *s = *state;
    char nonce[128];
    struct sip_digest d;
    static const struct {
        const char *count;
        bool used;
    } table[] = {{"00000002", true}, {"00000002", false}, {"00000001", false}, {"00000003", true}};
    nonce_of(&s->box, NOW_MS, nonce);
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        struct answer w = right;
        w.count = table[i].count;
        struct sip_msg *msg = request(&s->box, nonce, &w);
        assert_int_equal(sip_digest_read(&s->nonces, msg, NOW_MS, &d),
                         table[i].used ? SIP_DIGEST_FRESH : SIP_DIGEST_STALE);
        assert_true(sip_digest_use(&s->nonces, &d, NOW_MS) == table[i].used || !table[i].used);
        mem_deref(msg);
    }
    assert_int_equal(s->nonces.count, 1);
}

static void test_accepted_nonces_are_bounded_and_forgotten_when_they_expire(void **state)
{
    struct scene *s = *state;
    char nonce[128];
    struct sip_digest d;
    for (int i = 0; i <= SIP_NONCES_MAX; i++) {
        nonce_of(&s->box, NOW_MS + i, nonce);
        struct sip_msg *msg = request(&s->box, nonce, &right);
        assert_int_equal(sip_digest_read(&s->nonces, msg, NOW_MS + i, &d), SIP_DIGEST_FRESH);
        assert_true(sip_digest_use(&s->nonces, &d, NOW_MS) == (i < SIP_NONCES_MAX));
        if (i == SIP_NONCES_MAX)
            assert_true(sip_digest_use(&s->nonces, &d, NOW_MS + SIP_NONCE_MS + 1));
        mem_deref(msg);
    }
    assert_int_equal(s->nonces.count, 1);
}

static void test_other_answers_are_no_answers(void **state)
{
    struct scene *s = *state;
    static const struct {
        const char *what;
        struct answer answer;
    } table[] = {
        {"another realm", {"gate", "secret", "else", "sip:101@192.0.2.9", "auth", "00000001"}},
        {"another qop", {"gate", "secret", SIP_REALM, "sip:101@192.0.2.9", "auth-int", "00000001"}},
        {"a short count", {"gate", "secret", SIP_REALM, "sip:101@192.0.2.9", "auth", "1"}},
        {"count zero", {"gate", "secret", SIP_REALM, "sip:101@192.0.2.9", "auth", "00000000"}},
        {"no hexadecimal count", {"gate", "secret", SIP_REALM, "sip:101@192.0.2.9", "auth", "0000000g"}},
    };
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        if (read_answer(s, &s->box, NOW_MS, NOW_MS, &table[i].answer) != SIP_DIGEST_NONE)
            fail_msg("accepted: %s", table[i].what);
    }
}

/* PHONE-5 */
static void test_an_answer_is_for_the_request_that_has_its_uri(void **state)
{
    struct scene *s = *state;
    static const struct {
        const char *uri;
        enum sip_digest_state state;
    } table[] = {
        {"sip:101@192.0.2.9", SIP_DIGEST_FRESH},
        {"SIP:101@192.0.2.9:5060;transport=udp", SIP_DIGEST_FRESH}, /* the request names no port */
        {"sip:192.0.2.9", SIP_DIGEST_FRESH},
        {"sip:x@y", SIP_DIGEST_URI},
        {"sip:102@192.0.2.9", SIP_DIGEST_URI},
        {"sip:101@192.0.2.8", SIP_DIGEST_URI},
        {"tel:101", SIP_DIGEST_URI},
        {"", SIP_DIGEST_URI},
    };
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        struct answer w = right;
        w.uri = table[i].uri;
        if (read_answer(s, &s->box, NOW_MS, NOW_MS, &w) != table[i].state)
            fail_msg("\"%s\"", table[i].uri);
    }
}

static void test_a_made_up_nonce_is_no_nonce(void **state)
{
    struct scene *s = *state;
    struct sip_digest d;
    char nonce[128];
    nonce_of(&s->box, NOW_MS, nonce);
    nonce[strlen(nonce) - 1] ^= 1;
    static const char *const made_up[] = {"", "0", "0000000000000000", NULL};
    for (size_t i = 0; i < ARRAY_SIZE(made_up); i++) {
        struct sip_msg *msg = request(&s->box, made_up[i] ? made_up[i] : nonce, &right);
        assert_int_equal(sip_digest_read(&s->nonces, msg, NOW_MS, &d), SIP_DIGEST_NONE);
        mem_deref(msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_answer_proves_the_password, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_nonce_is_bound_to_address_and_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_count_is_accepted_once_and_only_upwards, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_accepted_nonces_are_bounded_and_forgotten_when_they_expire, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_other_answers_are_no_answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_answer_is_for_the_request_that_has_its_uri, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_made_up_nonce_is_no_nonce, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
