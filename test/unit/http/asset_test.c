/* The table of assets that the build makes of the directory web. */
#include "http/asset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <stdio.h>

#include "base/crypto.h"
#include "http/web.h"

/* "4f9c…", as the build tags content. */
static void hash_text(struct str body, char ret[static 2 * SHA256_LEN + 1])
{
    unsigned char hash[SHA256_LEN];
    crypto_sha256(body, hash);
    for (size_t i = 0; i < SHA256_LEN; i++)
        snprintf(ret + 2 * i, 3, "%02x", hash[i]);
}

static void expect_content(const struct http_content *c)
{
    char hash[2 * SHA256_LEN + 1], tag[HTTP_TAG_MAX];
    const struct str plain = c->body[HTTP_CODING_NONE], gzip = c->body[HTTP_CODING_GZIP];
    hash_text(plain, hash);
    snprintf(tag, sizeof tag, "\"%.24s\"", hash);
    assert_string_equal(c->tag[HTTP_CODING_NONE], tag);
    assert_string_not_equal(c->tag[HTTP_CODING_BR], c->tag[HTTP_CODING_GZIP]);
    assert_true(c->body[HTTP_CODING_BR].n < gzip.n && gzip.n < plain.n);
}

static void an_assets_name_and_tag_are_hashes_of_its_content(void **state)
{
    (void)state;
    assert_true(http_asset_count >= 3);
    for (size_t i = 0; i < http_asset_count; i++) {
        const struct http_asset *a = &http_assets[i];
        char hash[2 * SHA256_LEN + 1];
        hash_text(a->content.body[HTTP_CODING_NONE], hash);
        struct str rest;
        str_cut(a->name, '.', &rest);
        assert_true(rest.n > 12 && memcmp(rest.p, hash, 12) == 0 && rest.p[12] == '.');
        expect_content(&a->content);
    }
}

static void a_page_names_assets_that_are_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * WEB_LANGUAGES; i++) {
        const struct http_content *page = &web_site_missing_html[i];
        char language[32];
        snprintf(language, sizeof language, "<html lang=\"%s\">", web_languages[i % WEB_LANGUAGES]);
        assert_non_null(strstr(page->body[HTTP_CODING_NONE].p, language));
        assert_non_null(strstr(page->body[HTTP_CODING_NONE].p, WEB_SITE_STYLE_CSS));
        assert_null(strstr(page->body[HTTP_CODING_NONE].p, "{{"));
        expect_content(page);
    }
    bool exact;
    assert_null(http_asset_find(STR(WEB_SITE_STYLE_CSS), &exact));
    assert_non_null(http_asset_find(str_from(STR(WEB_SITE_STYLE_CSS), 3), &exact));
    assert_true(exact);
}

static void another_versions_name_finds_this_versions_asset(void **state)
{
    bool exact;
    (void)state;
    const struct http_asset *a = http_asset_find(STR("site-style.000000000000.css"), &exact);
    assert_non_null(a);
    assert_false(exact);
    assert_true(str_eq(a->name, str_from(STR(WEB_SITE_STYLE_CSS), 3)));
    static const char *const unknown[] = {
        "", ".", "..", "site-style", "site-style.css", "site-style.0.js", "style.0.css", "site-style.0.css.map"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (http_asset_find(str_z(unknown[i]), &exact))
            fail_msg("found %s", unknown[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_assets_name_and_tag_are_hashes_of_its_content),
        cmocka_unit_test(a_page_names_assets_that_are_there),
        cmocka_unit_test(another_versions_name_finds_this_versions_asset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
