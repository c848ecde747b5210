/* The checks of a request of Twilio: who sent it, and in which form. */
#include "twiml/twiml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "api/gate.h"
#include "api/parts.h"
#include "providers/providers.h"
#include "providers/twilio.h"
#include "twiml/document.h"

#define ORIGIN  "https://door.example"
#define ACCOUNT "AC0123456789abcdef0123456789abcdef"
#define TOKEN   "abababababababababababababababab"
#define SID     "CA0123456789abcdef0123456789abcdef"
#define FORM    "application/x-www-form-urlencoded"

/* ---- in place of api/gate.c and api/reply.c ---- */

bool gate_has_media(const struct request *q, struct str media)
{
    return str_eq(http_header(q->http, STR("Content-Type"), NULL), media);
}

/* Of recorded greetings, which are no request of Twilio's account. */
void reply_header(struct reply *p, const char *name, struct str value)
{
    (void)p, (void)name, (void)value;
}

/* ---- requests ---- */

static struct providers providers;
static const struct parts parts = {.providers = &providers, .public_url = ORIGIN};

/* The signature of Twilio: of the address, and of the names and values in their order. */
static struct str sign(struct arena *a, const char *target, const char *const *fields)
{
    char text[1000];
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char base64[80];
    (void)snprintf(text, sizeof text, "%s%s", ORIGIN, target);
    for (size_t i = 0; fields[i]; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s", fields[i]);
    HMAC(EVP_sha1(), TOKEN, (int)strlen(TOKEN), (const unsigned char *)text, strlen(text), mac, &n);
    EVP_EncodeBlock((unsigned char *)base64, mac, (int)n);
    return arena_str(a, str_z(base64));
}

static const struct route *row_of(const char *path)
{
    for (size_t i = 0; i < twiml_routes.count; i++)
        if (strcmp(twiml_routes.rows[i].path, path) == 0)
            return &twiml_routes.rows[i];
    return NULL;
}

enum sent { SIGNED, UNSIGNED, EMPTY, TWICE, OTHER_BODY, OTHER_TARGET };

struct posted_row {
    enum sent sent;
    const char *media, *sid, *account;
    enum err want;
};

static enum err verify(const struct route *row, const struct posted_row *r)
{
    struct arena arena;
    arena_init(&arena, NULL, 0);
    const char *const fields[] = {"AccountSid", r->account, "CallSid", r->sid, NULL};
    const struct str body = arena_printf(&arena, "AccountSid=%s&CallSid=%s", r->account, r->sid);
    const struct str right = sign(&arena, row->path, fields);
    const struct http_header headers[] = {{STR("Content-Type"), str_z(r->media)},
                                          {STR("X-Twilio-Signature"), r->sent == EMPTY ? STR("") : right},
                                          {STR("X-Twilio-Signature"), right}};
    struct http_request http = {
        .method = HTTP_POST,
        .target = r->sent == OTHER_TARGET ? arena_printf(&arena, "%s?step=1", row->path) : str_z(row->path),
        .headers = headers,
        .header_count = r->sent == UNSIGNED ? 1
                        : r->sent == TWICE  ? 3
                                            : 2,
        .body = r->sent == OTHER_BODY ? arena_printf(&arena, "%.*s&To=1", STR_ARG(body)) : body};
    struct request q = {.http = &http, .parts = &parts, .tx = {.arena = &arena}};
    const enum err e = row->verify(&q);
    arena_done(&arena);
    return e;
}

static void test_a_request_counts_only_as_twilio_signs_it(void **state)
{
    (void)state;
    static const char *const paths[] = {TWIML_VOICE, TWIML_RESIDENT, TWIML_STATUS, TWIML_RECORDING};
    static const struct posted_row rows[] = {
        {SIGNED, FORM, SID, ACCOUNT, ERR_NONE},
        {UNSIGNED, FORM, SID, ACCOUNT, ERR_INVALID_SIGNATURE},
        {EMPTY, FORM, SID, ACCOUNT, ERR_INVALID_SIGNATURE},
        {TWICE, FORM, SID, ACCOUNT, ERR_INVALID_SIGNATURE},
        {OTHER_BODY, FORM, SID, ACCOUNT, ERR_INVALID_SIGNATURE},
        {OTHER_TARGET, FORM, SID, ACCOUNT, ERR_INVALID_SIGNATURE},
        {SIGNED, "application/json", SID, ACCOUNT, ERR_INVALID_SIGNATURE},
        {SIGNED, FORM, SID, "ACffffffffffffffffffffffffffffffff", ERR_INVALID_SIGNATURE},
        {SIGNED, FORM, "CA0123", ACCOUNT, ERR_BAD_REQUEST},
        {SIGNED, FORM, "", ACCOUNT, ERR_BAD_REQUEST},
        {SIGNED, FORM, "RE0123456789abcdef0123456789abcdef", ACCOUNT, ERR_BAD_REQUEST},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct route *row = row_of(paths[i]);
        assert_non_null(row);
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++)
            assert_int_equal(verify(row, &rows[j]), rows[j].want);
    }
}

static void test_each_post_is_verified_and_bounded(void **state)
{
    (void)state;
    for (size_t i = 0; i < twiml_routes.count; i++) {
        const struct route *row = &twiml_routes.rows[i];
        assert_int_equal(row->verify != NULL, row->method == HTTP_POST);
        assert_true(row->method == HTTP_GET || (row->body_max > 0 && row->body_max <= 16384));
    }
}

static int open_hook(void **state)
{
    (void)state;
    const struct config c = {.twilio_account_sid = ACCOUNT, .twilio_auth_token = TOKEN};
    char *why = NULL;
    return twilio_hook_new(&c, &providers.hook, &why) || !providers.hook ? -1 : 0;
}

static int close_hook(void **state)
{
    (void)state;
    twilio_hook_free(providers.hook);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_counts_only_as_twilio_signs_it),
        cmocka_unit_test(test_each_post_is_verified_and_bounded),
    };
    return cmocka_run_group_tests(tests, open_hook, close_hook);
}
