/* Registered clients and their redirect URIs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crypto.h"
#include "oauth/oauth_client.h"

#define NOW 1795167000000000LL

/* OAUTH-8 */
static void allowed_redirects_are_https_or_lead_to_a_program_of_this_device(void **state)
{
    static const struct {
        const char *uri;
        bool allowed;
        const char *host;
    } cases[] = {
        {"https://assistant.example/callback", true, "assistant.example"},
        {"https://assistant.example/callback?kind=a&b", true, "assistant.example"},
        {"https://assistant.example:8443/x", true, "assistant.example:8443"},
        {"https://assistant.example:443/x", true, "assistant.example"},
        {"http://127.0.0.1/callback", true, "127.0.0.1"},
        {"http://127.0.0.1:33418", true, "127.0.0.1"},
        {"http://[::1]:5000/callback", true, "::1"},
        {"http://localhost/", true, "localhost"},
        {"https://xn--bcher-kva.example/", true, "xn--bcher-kva.example"},
        {"https://b\xc3\xbc"
         "cher.example/",
         false, NULL},
        {"http://assistant.example/callback", false, NULL},
        {"http://127.0.0.1.assistant.example/", false, NULL},
        {"http://localhost.example/", false, NULL},
        {"http://127.0.0.1@assistant.example/", false, NULL},
        {"https://user@assistant.example/", false, NULL},
        {"https://good.example\\@assistant.example/", false, NULL},
        {"https://assistant.example/#fragment", false, NULL},
        {"https://assistant.example/#", false, NULL},
        {"https://assistant.example/a b", false, NULL},
        {"https://assistant.example/a\nb", false, NULL},
        {"https://", false, NULL},
        {"https:///callback", false, NULL},
        {"https://assistant.example:0/", false, NULL},
        {"https://assistant.example:99999/", false, NULL},
        {"https://*.example/", true, "*.example"}, /* no wildcard: a host of that name, which does not exist */
        {"HTTPS://assistant.example/", false, NULL},
        {"javascript:alert(1)", false, NULL},
        {"data:text/html,x", false, NULL},
        {"com.example.app:/callback", true, "com.example.app"},
        {"com.example.app:///callback", true, "com.example.app"},
        {"cursor://anysphere.cursor-mcp/oauth/callback", true, "cursor"},
        {"cursor://user@anysphere.cursor-mcp/oauth/callback", false, NULL},
        {"cursor://anysphere.cursor-mcp/#fragment", false, NULL},
        {"com.example.app:callback", false, NULL},
        {"com.example.app:", false, NULL},
        {":/callback", false, NULL},
        {"1a:/callback", false, NULL},
        {"HTTP://assistant.example/", false, NULL},
        {"javascript://assistant.example/%0aalert(1)", false, NULL},
        {"JavaScript:/x", false, NULL},
        {"data:/text/html,x", false, NULL},
        {"vbscript://x/", false, NULL},
        {"file:///etc/passwd", false, NULL},
        {"blob://x/", false, NULL},
        {"intent://x/", false, NULL},
        {"wss://assistant.example/", false, NULL},
        {"//assistant.example/", false, NULL},
        {"/callback", false, NULL},
        {"", false, NULL},
    };
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct str uri = str_z(cases[i].uri);
        if (oauth_redirect_is_allowed(uri) != cases[i].allowed)
            fail_msg("%s", cases[i].uri);
        if (cases[i].allowed)
            assert_string_equal(oauth_redirect_host(&a, uri).p, cases[i].host);
    }
    arena_done(&a);
}

static struct oauth_client client(struct arena *a, const char *redirects)
{
    struct oauth_client c;
    const struct str id = oauth_client_register(a, NOW, STR("Assistant"), str_z(redirects));
    assert_true(oauth_client_read(a, id, &c));
    return c;
}

/* OAUTH-8 */
static void a_redirect_matches_exactly_except_for_the_port_of_this_device(void **state)
{
    static const struct {
        const char *registered, *uri;
        bool matches;
    } cases[] = {
        {"https://a.example/cb", "https://a.example/cb", true},
        {"https://a.example/cb\nhttps://b.example/cb", "https://b.example/cb", true},
        {"https://a.example/cb", "https://a.example/cb/", false},
        {"https://a.example/cb", "https://a.example/cb?x=1", false},
        {"https://a.example/cb", "https://a.example/cb/../evil", false},
        {"https://a.example/cb", "https://A.example/cb", false},
        {"https://a.example/cb", "https://a.example:443/cb", false},
        {"https://a.example/cb", "https://a.example.evil.example/cb", false},
        {"https://a.example/cb", "http://a.example/cb", false},
        {"https://a.example/cb\nhttps://b.example/cb", "https://a.example/cb\nhttps://b.example/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:54321/cb", true},
        {"http://127.0.0.1:1/cb", "http://127.0.0.1:54321/cb", true},
        {"http://127.0.0.1:1/cb", "http://127.0.0.1/cb", true},
        {"http://[::1]/cb", "http://[::1]:54321/cb", true},
        {"http://localhost:1/", "http://localhost:2/", true},
        {"http://localhost", "http://localhost:2", true},
        {"http://127.0.0.1/cb", "http://localhost:54321/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:54321/other", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", false},
        {"http://127.0.0.1/cb", "http://127.0.0.1:1@evil.example/cb", false},
        {"http://127.0.0.1/cb", "https://127.0.0.1/cb", false},
        {"cursor://a/cb", "cursor://a/cb", true},
        {"cursor://a:1/cb", "cursor://a:2/cb", false},
        {"cursor://a/cb", "Cursor://a/cb", false},
        {"com.example.app:/cb", "com.example.app:/cb/..", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a;
        arena_init(&a, NULL, 0);
        const struct oauth_client c = client(&a, cases[i].registered);
        if (oauth_client_has_redirect(&c, str_z(cases[i].uri)) != cases[i].matches)
            fail_msg("%s at %s", cases[i].uri, cases[i].registered);
        arena_done(&a);
    }
}

/* OAUTH-2 */
static void of_a_list_the_allowed_redirects_are_kept_as_far_as_they_fit(void **state)
{
    static const struct val list[] = {
        {.kind = VAL_STR, .s = {"http://a.example/", 17}},
        {.kind = VAL_STR, .s = {"https://a.example/1", 19}},
        {.kind = VAL_STR, .s = {"javascript:alert(1)", 19}},
        {.kind = VAL_STR, .s = {"https://a.example/longer", 24}},
        {.kind = VAL_STR, .s = {"com.example.app:/callback", 25}},
        {.kind = VAL_STR, .s = {"https://a.example/2", 19}},
    };
    static const struct {
        size_t most;
        const char *kept;
    } cases[] = {
        {1000, "https://a.example/1\nhttps://a.example/longer\ncom.example.app:/callback\nhttps://a.example/2"},
        {39, "https://a.example/1\nhttps://a.example/2"},
        {38, "https://a.example/1"},
        {18, NULL},
    };
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct str kept = oauth_redirects_allowed(&a, v_list(list, sizeof list / sizeof *list), cases[i].most);
        assert_int_equal(kept.n, cases[i].kept ? strlen(cases[i].kept) : 0);
        if (cases[i].kept)
            assert_string_equal(kept.p, cases[i].kept);
    }
    assert_null(oauth_redirects_allowed(&a, v_list(list, 1), 1000).p);
    arena_done(&a);
}

/* OAUTH-10 */
static void names_are_visible_text(void **state)
{
    (void)state;
    char longest[OAUTH_NAME_MAX + 2];
    memset(longest, 'x', sizeof longest);
    assert_true(oauth_name_is_allowed(STR("Assistant <b>\"1\"</b>")));
    assert_true(oauth_name_is_allowed(STR("\xc3\x81ssistant \xf0\x9f\x9a\xaa")));
    assert_true(oauth_name_is_allowed(str_n(longest, OAUTH_NAME_MAX)));
    assert_false(oauth_name_is_allowed(str_n(longest, OAUTH_NAME_MAX + 1)));
    assert_false(oauth_name_is_allowed(STR("")));
    assert_false(oauth_name_is_allowed(STR("a\nb")));
    assert_false(oauth_name_is_allowed(STR("a\x7f")));
    assert_false(oauth_name_is_allowed(STR("evil \xe2\x80\xaegnp.exe"))); /* right-to-left override */
    assert_false(oauth_name_is_allowed(STR("a\xe2\x80\x8b")));            /* zero-width space */
    assert_false(oauth_name_is_allowed(STR("\xff")));
}

static void only_an_id_that_this_service_gave_is_read(void **state)
{
    (void)state;
    struct arena a;
    struct oauth_client c;
    arena_init(&a, NULL, 0);
    const struct str id = oauth_client_register(&a, NOW, STR("Assistant"), STR("https://a.example/cb"));
    const struct str again = oauth_client_register(&a, NOW, STR("Assistant"), STR("https://a.example/cb"));
    assert_false(str_eq(id, again));
    assert_true(oauth_client_read(&a, id, &c));
    assert_true(str_eq(c.name, STR("Assistant")) && str_eq(c.redirects, STR("https://a.example/cb")));
    assert_true(str_eq(c.id, id));
    for (size_t i = 0; i < id.n; i++) {
        struct str changed = arena_str(&a, id);
        ((char *)changed.p)[i] = changed.p[i] == 'A' ? 'Q' : 'A';
        if (oauth_client_read(&a, changed, &c))
            assert_true(i == id.n - 1); /* bits of the last character that stand for nothing */
    }
    assert_false(oauth_client_read(&a, STR_NONE, &c));
    assert_false(oauth_client_read(&a, STR("."), &c));
    assert_false(oauth_client_read(&a, str_n(id.p, id.n - 1), &c));
    arena_done(&a);
}

static void a_registration_that_is_too_long_gets_no_id(void **state)
{
    (void)state;
    struct arena a;
    char uris[OAUTH_REGISTRY_MAX + 1];
    memset(uris, 'x', sizeof uris);
    arena_init(&a, NULL, 0);
    const struct str longest = oauth_client_register(&a, NOW, STR("A"), str_n(uris, OAUTH_REGISTRY_MAX - 1));
    assert_true(longest.p && longest.n <= OAUTH_CLIENT_ID_MAX);
    assert_null(oauth_client_register(&a, NOW, STR("AB"), str_n(uris, OAUTH_REGISTRY_MAX - 1)).p);
    arena_done(&a);
}

static void addresses_of_documents_are_https_with_a_plain_path(void **state)
{
    static const struct {
        const char *id;
        bool is;
    } cases[] = {
        {"https://assistant.example/client.json", true},
        {"https://assistant.example:8443/a/b?c=d", true},
        {"https://assistant.example/", true},
        {"https://assistant.example/.well-known/x", true},
        {"https://assistant.example/...", true},
        {"https://assistant.example/a..b", true},
        {"https://assistant.example/%2e%2e%2e", true},
        {"https://assistant.example/x?y=/../", true},
        {"https://assistant.example", false},
        {"https://assistant.example?x=/y", false},
        {"https://assistant.example/.", false},
        {"https://assistant.example/..", false},
        {"https://assistant.example/a/./b", false},
        {"https://assistant.example/a/../b", false},
        {"https://assistant.example/%2e%2E/b", false},
        {"https://assistant.example/.%2e", false},
        {"https://assistant.example/x#y", false},
        {"https://user:p@assistant.example/x", false},
        {"http://127.0.0.1/x", false},
        {"HTTPS://assistant.example/x", false},
        {"https:///x", false},
        {"https://assistant.example/\xc3\xbc", false},
        {"", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (oauth_client_is_address(str_z(cases[i].id)) != cases[i].is)
            fail_msg("%s", cases[i].id);
}

/* OAUTH-7 */
static void a_voucher_is_for_its_client_redirect_and_hour(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    const struct oauth_client c = {STR("https://assistant.example/c"), STR("Robot"),
                                   STR("https://assistant.example/cb")};
    const struct str voucher = oauth_client_vouch(&a, NOW, &c, STR("http://127.0.0.1:5/cb"));
    struct oauth_client got;
    assert_true(oauth_client_vouched(&a, NOW, voucher, c.id, &got));
    assert_string_equal(got.name.p, "Robot");
    assert_true(oauth_client_has_redirect(&got, STR("http://127.0.0.1:5/cb")));
    assert_false(oauth_client_has_redirect(&got, STR("https://assistant.example/cb")));
    const int64_t end_us = NOW + OAUTH_VOUCHER_TTL_S * 1000000LL;
    assert_true(oauth_client_vouched(&a, end_us - 1, voucher, c.id, &got));
    assert_false(oauth_client_vouched(&a, end_us, voucher, c.id, &got));
    assert_false(oauth_client_vouched(&a, NOW, voucher, STR("https://assistant.example/d"), &got));
    assert_false(oauth_client_read(&a, voucher, &got));
    const struct str id = oauth_client_register(&a, NOW, c.name, c.redirects);
    assert_false(oauth_client_vouched(&a, NOW, id, c.id, &got));
    for (size_t i = 0; i < voucher.n; i++) {
        struct str changed = arena_str(&a, voucher);
        ((char *)changed.p)[i] ^= 1;
        /* The last character of a text in base64url has bits that say nothing. */
        if (oauth_client_vouched(&a, NOW, changed, c.id, &got))
            fail_msg("byte %zu", i);
    }
    arena_done(&a);
}

int main(void)
{
    static const unsigned char master[SHA256_LEN] = "a key for tests";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allowed_redirects_are_https_or_lead_to_a_program_of_this_device),
        cmocka_unit_test(a_redirect_matches_exactly_except_for_the_port_of_this_device),
        cmocka_unit_test(of_a_list_the_allowed_redirects_are_kept_as_far_as_they_fit),
        cmocka_unit_test(names_are_visible_text),
        cmocka_unit_test(only_an_id_that_this_service_gave_is_read),
        cmocka_unit_test(a_registration_that_is_too_long_gets_no_id),
        cmocka_unit_test(addresses_of_documents_are_https_with_a_plain_path),
        cmocka_unit_test(a_voucher_is_for_its_client_redirect_and_hour),
    };
    crypto_set_master(master, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
