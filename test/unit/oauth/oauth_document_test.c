/* Documents of OAuth clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oauth/oauth_document.h"

#define ID   "https://a.example/client.json"
#define REST "\"client_name\":\"Robot\",\"redirect_uris\":[\"https://a.example/cb\"]"

static void a_document_gives_name_and_allowed_redirects(void **state)
{
    (void)state;
    struct arena a;
    struct oauth_client c;
    arena_init(&a, NULL, 0);
    const struct str text =
        STR("{\"client_id\":\"" ID "\",\"client_name\":\" Robot \",\"logo_uri\":\"javascript:x\",\"redirect_uris\":["
            "\"com.example:/cb\",\"https://a.example/cb\",\"http://a.example/\",\"http://127.0.0.1/cb\"],\"jwks\":{},"
            "\"contacts\":[1,\"x\"],\"scope\":\"openid\",\"response_types\":[\"code\",\"id_token\"],"
            "\"token_endpoint_auth_method\":\"none\",\"grant_types\":[\"refresh_token\",\"authorization_code\"]}");
    assert_null(oauth_document_read(&a, STR(ID), text, &c));
    assert_string_equal(c.id.p, ID);
    assert_string_equal(c.name.p, "Robot");
    assert_string_equal(c.redirects.p, "com.example:/cb\nhttps://a.example/cb\nhttp://127.0.0.1/cb");
    arena_done(&a);
}

/* OAUTH-1 */
static void a_client_that_also_offers_no_authentication_is_public(void **state)
{
    static const struct {
        const char *more;
        bool is;
    } cases[] = {
        {"", true},
        {",\"token_endpoint_auth_method\":\"none\"", true},
        {",\"token_endpoint_auth_method\":\"private_key_jwt\"", false},
        {",\"token_endpoint_auth_method\":\"private_key_jwt\",\"token_endpoint_auth_methods_supported\":"
         "[\"private_key_jwt\",\"none\"],\"token_endpoint_auth_signing_alg\":\"RS256\",\"jwks_uri\":\"https://"
         "a.example/k\"",
         true},
        {",\"token_endpoint_auth_methods_supported\":[\"none\"]", true},
        {",\"token_endpoint_auth_methods_supported\":[\"private_key_jwt\"]", false},
        {",\"token_endpoint_auth_methods_supported\":[]", false},
        {",\"token_endpoint_auth_method\":\"none\",\"token_endpoint_auth_methods_supported\":[\"private_key_jwt\"]",
         true},
    };
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct oauth_client c;
        const struct str text = arena_printf(&a, "{\"client_id\":\"" ID "\"," REST "%s}", cases[i].more);
        if (!oauth_document_read(&a, STR(ID), text, &c) != cases[i].is)
            fail_msg("%s", cases[i].more);
    }
    arena_done(&a);
}

static void a_document_that_is_not_right_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "null",
        "[]",
        "{}",
        "{\"client_id\":\"" ID "x\"," REST "}",
        "{\"client_id\":\"" ID "\",\"client_id\":\"" ID "\"," REST "}",
        "{\"client_id\":[\"" ID "\"]," REST "}",
        "{" REST "}",
        "{\"client_id\":\"" ID "\"," REST ",\"grant_types\":[\"implicit\"]}",
        "{\"client_id\":\"" ID "\"," REST ",\"response_types\":[]}",
        "{\"client_id\":\"" ID "\"," REST ",\"client_secret\":\"\"}",
        "{\"client_id\":\"" ID "\"," REST ",\"client_secret_expires_at\":0}",
        "{\"client_id\":\"" ID "\"," REST ",\"token_endpoint_auth_method\":\"client_secret_basic\"}",
        "{\"client_id\":\"" ID "\"," REST ",\"token_endpoint_auth_method\":null}",
        "{\"client_id\":\"" ID "\"," REST "} x",
    };
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct oauth_client c;
        if (!oauth_document_read(&a, STR(ID), str_z(texts[i]), &c))
            fail_msg("%s", texts[i]);
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_gives_name_and_allowed_redirects),
        cmocka_unit_test(a_client_that_also_offers_no_authentication_is_public),
        cmocka_unit_test(a_document_that_is_not_right_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
