/* The parser of request heads, byte for byte. framing_test tests the server's reaction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "http/parse.h"

struct parsed {
    struct http_request r;
    struct http_framing f;
    struct http_header headers[HTTP_MAX_HEADERS];
    char arena[256];
};

static enum http_parse parse(struct parsed *p, struct str bytes)
{
    memset(&p->r, 0, sizeof p->r);
    arena_init(&p->r.arena, p->arena, sizeof p->arena);
    return http_head_parse(bytes, p->headers, &p->r, &p->f);
}

static void assert_str(struct str got, const char *expected)
{
    if (!str_eq(got, str_z(expected)))
        fail_msg("got \"%.*s\", not \"%s\"", STR_ARG(got), expected);
}

static void a_head_is_parsed_into_its_parts(void **state)
{
    struct parsed p;
    struct str bytes = STR("POST /v1/unlock?a=b&c HTTP/1.1\r\nHost: localhost:8443\r\nX-Empty:\r\n"
                           "x-padded: \t  a b \t\r\nContent-Length: 0042\r\n\r\nrest");
    (void)state;
    assert_int_equal(parse(&p, bytes), HTTP_PARSE_DONE);
    assert_int_equal(p.r.method, HTTP_POST);
    assert_str(p.r.method_text, "POST");
    assert_str(p.r.target, "/v1/unlock?a=b&c");
    assert_str(p.r.path, "/v1/unlock");
    assert_str(p.r.query, "a=b&c");
    assert_int_equal(p.r.header_count, 4);
    assert_str(http_header(&p.r, STR("HOST"), NULL), "localhost:8443");
    assert_str(http_header(&p.r, STR("X-Padded"), NULL), "a b");
    struct str empty = http_header(&p.r, STR("X-Empty"), NULL);
    assert_true(empty.p && empty.n == 0);
    assert_null(http_header(&p.r, STR("X-Absent"), NULL).p);
    assert_int_equal(p.f.length, 42);
    assert_true(p.r.has_body && p.f.keep_alive && !p.f.chunked && !p.f.http10 && !p.f.expect_continue);
    assert_int_equal(p.f.head_len, bytes.n - 4);
}

static void repeated_fields_are_counted(void **state)
{
    struct parsed p;
    size_t count;
    (void)state;
    assert_int_equal(parse(&p, STR("GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nx-a: 2\r\n\r\n")), HTTP_PARSE_DONE);
    assert_str(http_header(&p.r, STR("X-A"), &count), "1");
    assert_int_equal(count, 2);
    assert_null(http_header(&p.r, STR("X-B"), &count).p);
    assert_int_equal(count, 0);
}

static void methods_are_case_sensitive(void **state)
{
    static const struct {
        const char *text;
        enum http_method method;
    } methods[] = {{"GET", HTTP_GET},     {"HEAD", HTTP_HEAD},     {"POST", HTTP_POST},       {"PUT", HTTP_PUT},
                   {"PATCH", HTTP_PATCH}, {"DELETE", HTTP_DELETE}, {"OPTIONS", HTTP_OPTIONS}, {"get", HTTP_OTHER},
                   {"GETX", HTTP_OTHER},  {"M-SEARCH", HTTP_OTHER}};
    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct parsed p;
        char head[128];
        snprintf(head, sizeof head, "%s / HTTP/1.1\r\nHost: a\r\n\r\n", methods[i].text);
        assert_int_equal(parse(&p, str_z(head)), HTTP_PARSE_DONE);
        assert_int_equal(p.r.method, methods[i].method);
        assert_str(p.r.method_text, methods[i].text);
    }
}

static void targets_of_every_form_become_origin_form(void **state)
{
    static const struct {
        const char *line, *target, *path, *query, *host;
    } targets[] = {
        {"GET / HTTP/1.1", "/", "/", NULL, "sent"},
        {"GET /? HTTP/1.1", "/?", "/", "", "sent"},
        {"GET /a%20b?c?d HTTP/1.1", "/a%20b?c?d", "/a%20b", "c?d", "sent"},
        {"GET //a/../b HTTP/1.1", "//a/../b", "//a/../b", NULL, "sent"},
        {"GET http://other/a?b HTTP/1.1", "/a?b", "/a", "b", "other"},
        {"GET HTTPS://other:1/a HTTP/1.1", "/a", "/a", NULL, "other:1"},
        {"GET http://[::1]:80/ HTTP/1.1", "/", "/", NULL, "[::1]:80"},
        {"GET http://other HTTP/1.1", "/", "/", NULL, "other"},
        {"GET http://other?b HTTP/1.1", "/?b", "/", "b", "other"},
        {"OPTIONS * HTTP/1.1", "*", "*", NULL, "sent"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct parsed p;
        char head[128];
        snprintf(head, sizeof head, "%s\r\nHost: sent\r\n\r\n", targets[i].line);
        assert_int_equal(parse(&p, str_z(head)), HTTP_PARSE_DONE);
        assert_str(p.r.target, targets[i].target);
        assert_str(p.r.path, targets[i].path);
        assert_int_equal(p.r.query.p != NULL, targets[i].query != NULL);
        assert_str(p.r.query, targets[i].query ? targets[i].query : "");
        assert_str(http_header(&p.r, STR("Host"), NULL), targets[i].host);
        arena_done(&p.r.arena);
    }
}

/* HTTP-40 */
static void invalid_targets_are_refused(void **state)
{
    static const char *const lines[] = {
        "GET * HTTP/1.1",
        "GET a HTTP/1.1",
        "GET ftp://a/ HTTP/1.1",
        "GET http:///a HTTP/1.1",
        "GET http://u@h/ HTTP/1.1",
        "GET http: HTTP/1.1",
        "CONNECT a:443 HTTP/1.1",
        "GET /\t HTTP/1.1",
        "GET /\xc3\xa4 HTTP/1.1",
        "GET /#f HTTP/1.1",
        "GET /\x7f HTTP/1.1",
        "GET  HTTP/1.1",
        "GET / ",
        "GET /",
        "GET",
        "",
        " GET / HTTP/1.1",
        "GET\t/ HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET / HTTP/1.1x",
        "GET / HTTP/1.",
        "GET / HTTP/1,1",
        "GET / HTTP/a.1",
        "GET / HTTP1.1",
        "G(T / HTTP/1.1",
        "GET / HTTP/1.1\r",
        "GET / /x HTTP/1.1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct parsed p;
        char head[128];
        snprintf(head, sizeof head, "%s\r\nHost: a\r\n\r\n", lines[i]);
        if (parse(&p, str_z(head)) != HTTP_PARSE_REFUSED || p.f.why != ERR_BAD_REQUEST)
            fail_msg("\"%s\" was accepted", lines[i]);
    }
}

/* HTTP-42 */
static void versions_are_distinguished(void **state)
{
    static const struct {
        const char *version;
        enum http_parse result;
        enum err why;
        bool http10;
    } versions[] = {
        {"HTTP/1.1", HTTP_PARSE_DONE, 0, false},
        {"HTTP/1.2", HTTP_PARSE_DONE, 0, false},
        {"HTTP/1.0", HTTP_PARSE_DONE, 0, true},
        {"HTTP/0.9", HTTP_PARSE_REFUSED, ERR_HTTP_VERSION, false},
        {"HTTP/2.0", HTTP_PARSE_REFUSED, ERR_HTTP_VERSION, false},
        {"HTTP/3.0", HTTP_PARSE_REFUSED, ERR_HTTP_VERSION, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct parsed p;
        char head[128];
        snprintf(head, sizeof head, "GET / %s\r\nHost: a\r\n\r\n", versions[i].version);
        assert_int_equal(parse(&p, str_z(head)), versions[i].result);
        assert_int_equal(p.f.why, versions[i].why);
        assert_int_equal(p.f.http10, versions[i].http10);
    }
}

static void the_version_and_options_decide_if_the_connection_persists(void **state)
{
    static const struct {
        const char *version, *fields;
        bool keep_alive;
    } cases[] = {
        {"1.1", "", true},
        {"1.1", "Connection: close\r\n", false},
        {"1.1", "Connection: keep-alive\r\nConnection: x , CLOSE\r\n", false},
        {"1.1", "Connection: closed, x-close\r\n", true},
        {"1.0", "", false},
        {"1.0", "Connection: keep-alive\r\n", true},
        {"1.0", "Connection: keep-alive, close\r\n", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct parsed p;
        char head[128];
        snprintf(head, sizeof head, "GET / HTTP/%s\r\nHost: a\r\n%s\r\n", cases[i].version, cases[i].fields);
        assert_int_equal(parse(&p, str_z(head)), HTTP_PARSE_DONE);
        assert_int_equal(p.f.keep_alive, cases[i].keep_alive);
    }
}

static void the_length_is_read_without_overflow(void **state)
{
    static const struct {
        const char *text;
        uint64_t length;
    } lengths[] = {{"0", 0},
                   {"18446744073709551615", UINT64_MAX},
                   {"18446744073709551616", UINT64_MAX},
                   {"99999999999999999999999999999999", UINT64_MAX}};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct parsed p;
        char head[128];
        snprintf(head, sizeof head, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: %s\r\n\r\n", lengths[i].text);
        assert_int_equal(parse(&p, str_z(head)), HTTP_PARSE_DONE);
        assert_true(p.f.length == lengths[i].length);
        assert_int_equal(p.r.has_body, lengths[i].length > 0);
    }
}

/* Every prefix of a valid head is incomplete, neither invalid nor complete. */
static void a_head_is_complete_with_its_last_byte_and_not_before(void **state)
{
    struct str head =
        STR("PATCH /v1/a?b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
    (void)state;
    for (size_t n = 0; n < head.n; n++) {
        struct parsed p;
        char *copy = malloc(n + 1); /* exactly n bytes, so that the sanitizer detects a read beyond them */
        memcpy(copy, head.p, n);
        char *exact = realloc(copy, n ? n : 1);
        assert_int_equal(parse(&p, str_n(exact, n)), HTTP_PARSE_MORE);
        free(exact);
    }
    struct parsed p;
    assert_int_equal(parse(&p, head), HTTP_PARSE_DONE);
    assert_true(p.f.chunked && p.f.expect_continue && p.r.has_body);
}

static void an_invalid_line_is_detected_at_its_end(void **state)
{
    static const struct {
        struct str bytes;
        enum err why;
    } cases[] = {
#define C(bytes, why) {{bytes, sizeof(bytes) - 1}, why}
        C("GET /\r\n", ERR_BAD_REQUEST),
        C("GET /\n", ERR_BAD_REQUEST),
        C("\x16\x03\x01", ERR_BAD_REQUEST),
        C(" ", ERR_BAD_REQUEST),
        C("GET / HTTP/2.0\r\n", ERR_HTTP_VERSION),
        C("GET / HTTP/1.1\r\nbad\r\n", ERR_BAD_REQUEST),
        C("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n", ERR_BAD_REQUEST),
#undef C
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct parsed p;
        assert_int_equal(parse(&p, cases[i].bytes), HTTP_PARSE_REFUSED);
        assert_int_equal(p.f.why, cases[i].why);
    }
}

/* HTTP-43 */
static void the_limits_hold_to_the_byte(void **state)
{
    struct parsed p;
    struct buf b = BUF(2 * HTTP_MAX_HEAD);
    (void)state;
    buf_lit(&b, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    while (b.n < HTTP_MAX_HEAD - 4)
        buf_char(&b, 'x');
    assert_int_equal(parse(&p, buf_view(&b)), HTTP_PARSE_MORE);
    buf_lit(&b, "\r\n\r\n");
    assert_int_equal(parse(&p, buf_view(&b)), HTTP_PARSE_DONE);
    b.n -= 4;
    buf_lit(&b, "x\r\n\r\n");
    assert_int_equal(parse(&p, buf_view(&b)), HTTP_PARSE_REFUSED);
    assert_int_equal(p.f.why, ERR_HEADERS_TOO_LARGE);
    buf_done(&b);
}

static void empty_lines_are_counted_in_pairs(void **state)
{
    (void)state;
    assert_int_equal(http_empty_lines(STR("")), 0);
    assert_int_equal(http_empty_lines(STR("\r")), 0);
    assert_int_equal(http_empty_lines(STR("\r\n")), 2);
    assert_int_equal(http_empty_lines(STR("\r\n\r\n\rG")), 4);
    assert_int_equal(http_empty_lines(STR("\nG")), 0);
    assert_int_equal(http_empty_lines(STR("GET")), 0);
}

static void token_characters_follow_rfc_9110(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool token = letter || (c && c < 128 && strchr("!#$%&'*+-.^_`|~", c));
        assert_int_equal(http_is_tchar((char)c), token);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_parsed_into_its_parts),
        cmocka_unit_test(repeated_fields_are_counted),
        cmocka_unit_test(methods_are_case_sensitive),
        cmocka_unit_test(targets_of_every_form_become_origin_form),
        cmocka_unit_test(invalid_targets_are_refused),
        cmocka_unit_test(versions_are_distinguished),
        cmocka_unit_test(the_version_and_options_decide_if_the_connection_persists),
        cmocka_unit_test(the_length_is_read_without_overflow),
        cmocka_unit_test(a_head_is_complete_with_its_last_byte_and_not_before),
        cmocka_unit_test(an_invalid_line_is_detected_at_its_end),
        cmocka_unit_test(the_limits_hold_to_the_byte),
        cmocka_unit_test(empty_lines_are_counted_in_pairs),
        cmocka_unit_test(token_characters_follow_rfc_9110),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
