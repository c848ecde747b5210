/* Content negotiation and conditional requests. */
#include "http/content.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

/* The coding that a client gets of content in br, gzip and plain ("all"), and of content in gzip and plain ("two"). */
static void the_client_gets_the_coding_it_prefers(void **state)
{
    static const struct {
        const char *fields[2], *all, *two;
    } cases[] = {
        {{NULL}, "", ""},
        {{""}, "", ""},
        {{"gzip"}, "gzip", "gzip"},
        {{"x-gzip"}, "gzip", "gzip"},
        {{"GZIP"}, "gzip", "gzip"},
        {{"BR"}, "br", ""},
        {{"deflate, gzip, br"}, "br", "gzip"},
        {{"gzip, deflate, br, zstd"}, "br", "gzip"},
        {{"deflate,br"}, "br", ""},
        {{"deflate", "gzip"}, "gzip", "gzip"}, /* two fields form one list */
        {{"br;q=0.9", "gzip"}, "gzip", "gzip"},
        {{"br;q=0.9, gzip;q=0.8"}, "br", "gzip"},
        {{"br;q=0, gzip"}, "gzip", "gzip"},
        {{"gzipped, brotli"}, "", ""},
        {{"gzip;q=0"}, "", ""},
        {{"gzip;q=0.000"}, "", ""},
        {{"gzip;q=0.001"}, "gzip", "gzip"},
        {{"gzip ; Q=1.000"}, "gzip", "gzip"},
        {{"gzip;q=1.001"}, "", ""}, /* malformed */
        {{"gzip;q=.5"}, "", ""},
        {{"gzip;q=0.5555"}, "", ""},
        {{"gzip;q="}, "", ""},
        {{"gzip;level=9"}, "", ""},
        {{"*"}, "gzip", "gzip"},
        {{"*;q=0"}, "", ""},
        {{"*;q=0, gzip"}, "gzip", "gzip"},
        {{"gzip;q=0, *"}, "", ""},
        {{"identity"}, "", ""},
        {{"identity, gzip"}, "gzip", "gzip"},
        {{"identity;q=1, br;q=0.5, gzip;q=0.5"}, "", ""},
        {{"identity;q=0.5, gzip;q=1"}, "gzip", "gzip"},
        {{"identity;q=0, gzip;q=0.1"}, "gzip", "gzip"},
        {{"identity;q=0"}, "", ""},
        {{"identity;q=0, *"}, "gzip", "gzip"},
        {{" ,, gzip ,"}, "gzip", "gzip"},
    };
    static const struct http_content all = {.body = {{"b", 1}, {"gg", 2}, {"nnn", 3}}},
                                     two = {.body = {{0}, {"gg", 2}, {"nnn", 3}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_header headers[3] = {{STR("Accept"), STR("gzip")}};
        size_t n = 1;
        for (size_t f = 0; f < 2 && cases[i].fields[f]; f++)
            headers[n++] = (struct http_header){STR("accept-encoding"), str_z(cases[i].fields[f])};
        const char *of_all = http_coding_name(http_content_choose(&all, headers, n)),
                   *of_two = http_coding_name(http_content_choose(&two, headers, n));
        if (strcmp(of_all ? of_all : "", cases[i].all) != 0 || strcmp(of_two ? of_two : "", cases[i].two) != 0)
            fail_msg("case %zu: %s", i, cases[i].fields[0]);
    }
}

static void the_client_gets_the_language_it_prefers(void **state)
{
    static const char *const languages[] = {"en", "es", "fr", NULL};
    static const struct {
        const char *field;
        size_t language;
    } cases[] = {
        {"", 0},
        {"de", 0},
        {"*", 0},
        {"es", 1},
        {"ES-mx", 1},
        {"est", 0},
        {"fr-CA,fr;q=0.9,en;q=0.8", 2},
        {"de, en;q=0.5, es;q=0.7", 1},
        {"es, fr", 1}, /* liked equally: the first */
        {"fr;q=0, es;q=0.1", 1},
        {"fr;q=0", 0},
        {"en, fr", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_header h = {STR("accept-language"), str_z(cases[i].field)};
        if (http_language(&h, 1, languages) != cases[i].language)
            fail_msg("case %zu: %s", i, cases[i].field);
    }
    assert_int_equal(http_language(NULL, 0, languages), 0);
}

static void if_none_match_finds_the_tag_in_a_list(void **state)
{
    static const struct {
        const char *field;
        bool has;
    } cases[] = {
        {"\"ab\"", true},
        {"W/\"ab\"", true},
        {"\"x\", \"ab\"", true},
        {"\"x\",W/\"ab\",\"y\"", true},
        {" , ,\"ab\"", true},
        {"*", true},
        {"ab", false},
        {"\"a\"", false},
        {"\"abc\"", false},
        {"\"x,\"ab\"", false}, /* nothing after a malformed tag is read */
        {"\"x, \\\"ab\\\"\"", false},
        {"\"ab", false},
        {"w/\"ab\"", false},
        {"\"*\"", false},
        {"*, \"ab\"", false},
        {"", false},
        {"\"", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_header h = {STR("if-none-match"), str_z(cases[i].field)};
        if (http_has_tag(&h, 1, STR("\"ab\"")) != cases[i].has)
            fail_msg("case %zu: %s", i, cases[i].field);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_client_gets_the_coding_it_prefers),
        cmocka_unit_test(the_client_gets_the_language_it_prefers),
        cmocka_unit_test(if_none_match_finds_the_tag_in_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
