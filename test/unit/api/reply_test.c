/* Responses on the wire: statuses, headers, the error envelope, constant texts, and replies that are too long. */
#include "api/server.h"

#include <stdatomic.h>

/* ---- routes ---- */

struct text_body {
    struct val text;
};
static const struct field text_fields[] = {FIELD(struct text_body, text, T_STRING, .flags = F_REQUIRED)};
static const struct shape text_shape = SHAPE(struct text_body, "Text", text_fields);

static _Atomic(enum err) chosen; /* the error of the next request to /v1/error */

static enum err fail_as_chosen(struct request *q, struct reply *p)
{
    (void)p;
    return tx_fail(&q->tx, chosen, "a detail of the handler");
}

static enum err fail_without_detail(struct request *q, struct reply *p)
{
    (void)q;
    (void)p;
    return chosen;
}

static enum err keep_chosen(struct request *q, struct reply *p)
{
    (void)q;
    return reply_error_keep(p, chosen);
}

static enum err reply_text(struct request *q, struct reply *p, struct str text)
{
    struct text_body *body = arena_new(q->tx.arena, struct text_body);
    body->text = v_str(text);
    return reply_ok(p, 201, &text_shape, body);
}

static enum err show(struct request *q, struct reply *p)
{
    reply_version(q, p, 7);
    reply_header(p, "Location", STR("/v1/show/1"));
    return reply_text(q, p, STR("\"shown\""));
}

static enum err show_too_much(struct request *q, struct reply *p)
{
    const size_t n = 16u << 20;
    char *text = arena_alloc(q->tx.arena, n);
    memset(text, 'x', n);
    return reply_text(q, p, str_n(text, n));
}

static enum err show_page(struct request *q, struct reply *p)
{
    (void)q;
    p->status = 200;
    p->raw = STR("<!doctype html><p>A page</p>");
    return ERR_NONE;
}

#define LONG "a text that repeats itself, a text that repeats itself, a text that repeats itself, "

static const struct route rows[] = {
    ROUTE("error", GET, "/v1/error", .handler = fail_as_chosen),
    ROUTE("bare", GET, "/v1/bare", .handler = fail_without_detail),
    ROUTE("keep", POST, "/v1/keep", .run = RUN_WRITE, .handler = keep_chosen),
    ROUTE("show", GET, "/v1/show", .handler = show),
    ROUTE("putShow", PATCH, "/v1/show", .handler = show),
    ROUTE("public", GET, "/v1/public", .limit = LIMIT_PLANS, .handler = show, .flags = ROUTE_CACHEABLE | ROUTE_CORS),
    ROUTE("big", GET, "/v1/big", .handler = show_too_much),
    ROUTE("page", GET, "/page", .handler = show_page, .media = "text/html; charset=utf-8", .flags = ROUTE_PAGE),
    ROUTE("text", GET, "/text", .text = LONG LONG LONG, .media = "text/plain"),
};
static const struct route_set set = ROUTE_SET(rows);
static const struct route_set *const sets[] = {&set};

static int open_server(void **state)
{
    return fixture_open(state) ? -1 : server_open(state, sets, 1);
}

/* ---- tests ---- */

static void expect_header(const struct answer *a, const char *name, const char *value)
{
    struct str got = answer_field(a->head, name);
    if (value ? !str_eq(got, str_z(value)) : got.p != NULL)
        fail_msg("%s: %.*s, expected %s", name, STR_ARG(got), value ? value : "no such header");
}

static void every_error_has_the_type_of_its_status(void **state)
{
    (void)state;
    static const struct {
        enum err e;
        int status;
        const char *type;
        bool retryable;
    } cases[] = {
        {ERR_INVALID_ID, 400, "invalid_request_error", false},
        {ERR_AUTH_REQUIRED, 401, "authentication_error", false},
        {ERR_PAYMENT_FAILED, 402, "invalid_request_error", false},
        {ERR_INSUFFICIENT_SCOPE, 403, "permission_error", false},
        {ERR_NOT_FOUND, 404, "not_found_error", false},
        {ERR_GRANT_REVOKED, 409, "invalid_request_error", false},
        {ERR_VERSION_REQUIRED, 428, "invalid_request_error", false},
        {ERR_RATE_LIMIT_EXCEEDED, 429, "rate_limit_error", true},
        {ERR_FETCH_FAILED, 500, "internal_error", true},
        {ERR_CHECKOUT_UNAVAILABLE, 503, "internal_error", true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char type[60];
        chosen = cases[i].e;
        struct answer a = server_ask("GET /v1/error", "", NULL);
        expect_envelope(&a, cases[i].status, err_info(chosen)->code);
        snprintf(type, sizeof type, "\"type\":\"%s\"", cases[i].type);
        assert_true(answer_has(&a, type));
        assert_true(answer_has(&a, cases[i].retryable ? "\"retryable\":true" : "\"retryable\":false"));
        assert_true(answer_has(&a, err_info(chosen)->next_action));
        expect_header(&a, "Content-Type", "application/json");
        expect_header(&a, "Cache-Control", "no-store");
        expect_header(&a, "WWW-Authenticate", cases[i].status == 401 ? "Bearer" : NULL);
        expect_header(&a, "Retry-After", cases[i].status == 503 ? "1" : NULL);
        answer_done(&a);
    }
}

static void a_detail_is_shown_for_the_clients_errors_only(void **state)
{
    (void)state;
    chosen = ERR_INVALID_UNLOCK;
    struct answer a = server_ask("GET /v1/error", "", NULL);
    assert_true(answer_has(&a, "\"message\":\"a detail of the handler\""));
    answer_done(&a);
    a = server_ask("GET /v1/bare", "", NULL);
    assert_true(answer_has(&a, err_info(chosen)->message));
    answer_done(&a);
    chosen = ERR_INTERNAL_ERROR;
    a = server_ask("GET /v1/error", "", NULL);
    assert_false(answer_has(&a, "a detail"));
    assert_true(answer_has(&a, err_info(chosen)->message));
    answer_done(&a);
}

static void a_kept_error_looks_like_a_returned_one(void **state)
{
    (void)state;
    chosen = ERR_INVALID_OTP;
    struct answer a = server_ask("POST /v1/keep", "", NULL);
    expect_envelope(&a, 401, "INVALID_OTP");
    expect_header(&a, "WWW-Authenticate", "Bearer");
    answer_done(&a);
}

static void a_success_has_its_headers_and_escaped_json(void **state)
{
    (void)state;
    struct answer a = server_ask("GET /v1/show", "", NULL);
    assert_int_equal(a.statuses[0], 201);
    assert_text(a.body, "{\"text\":\"\\\"shown\\\"\"}");
    expect_header(&a, "ETag", "\"7\"");
    expect_header(&a, "Location", "/v1/show/1");
    expect_header(&a, "Content-Type", "application/json");
    expect_header(&a, "Cache-Control", "no-store");
    expect_header(&a, "X-Content-Type-Options", "nosniff");
    expect_header(&a, "Strict-Transport-Security", "max-age=31536000");
    expect_header(&a, "Content-Security-Policy", NULL);
    expect_header(&a, "Access-Control-Allow-Origin", NULL);
    expect_header(&a, "RateLimit-Limit", NULL);
    assert_int_equal(answer_field(a.head, "X-Request-ID").n, 28);
    answer_done(&a);
}

static void head_has_the_headers_of_get_and_no_body(void **state)
{
    (void)state;
    struct answer get = server_ask("GET /v1/show", "", NULL), head = server_ask("HEAD /v1/show", "", NULL);
    assert_int_equal(head.statuses[0], 201);
    assert_true(str_eq(answer_field(get.head, "Content-Length"), answer_field(head.head, "Content-Length")));
    expect_header(&head, "ETag", "\"7\"");
    assert_int_equal(head.in.n, head.head.n);
    answer_done(&get);
    answer_done(&head);
}

static void a_public_route_may_be_cached_and_shows_its_limit(void **state)
{
    (void)state;
    for (int left = 9; left >= 0; left--) {
        char text[12];
        snprintf(text, sizeof text, "%d", left);
        struct answer a = server_ask("GET /v1/public", "", NULL);
        expect_header(&a, "Cache-Control", "public, max-age=60");
        expect_header(&a, "Access-Control-Allow-Origin", "*");
        expect_header(&a, "RateLimit-Limit", "10");
        expect_header(&a, "RateLimit-Remaining", text);
        assert_non_null(answer_field(a.head, "RateLimit-Reset").p);
        answer_done(&a);
    }
    struct answer a = server_ask("GET /v1/public", "", NULL);
    expect_envelope(&a, 429, "RATE_LIMIT_EXCEEDED");
    expect_header(&a, "Cache-Control", "no-store");
    assert_non_null(answer_field(a.head, "Retry-After").p);
    answer_done(&a);
}

static void unknown_paths_and_methods_have_envelopes(void **state)
{
    (void)state;
    struct answer a = server_ask("GET /v1/nothing", "", NULL);
    expect_envelope(&a, 404, "NOT_FOUND");
    expect_header(&a, "Allow", NULL);
    answer_done(&a);
    a = server_ask("DELETE /v1/show", "", NULL);
    expect_envelope(&a, 405, "METHOD_NOT_ALLOWED");
    expect_header(&a, "Allow", "GET, HEAD, PATCH");
    answer_done(&a);
}

/* HTTP-24 */
static void a_browser_gets_an_error_page_outside_the_api(void **state)
{
    (void)state;
    const char *browser = "Accept: text/html,application/xhtml+xml\r\n";
    struct answer a = server_ask("GET /nothing", browser, NULL);
    assert_int_equal(a.statuses[0], 404);
    expect_header(&a, "Content-Type", "text/html; charset=utf-8");
    expect_header(&a, "Vary", "Accept, Accept-Language");
    assert_non_null(answer_field(a.head, "Content-Security-Policy").p);
    struct str id = answer_field(a.head, "X-Request-ID");
    assert_true(id.n == 28 && memmem(a.body.p, a.body.n, id.p, id.n));
    answer_done(&a);
    a = server_ask("GET /v1/nothing", browser, NULL);
    expect_envelope(&a, 404, "NOT_FOUND");
    answer_done(&a);
}

/* HTTP-25 */
static void a_page_has_a_strict_policy(void **state)
{
    (void)state;
    struct answer a = server_ask("GET /page", "", NULL);
    assert_int_equal(a.statuses[0], 200);
    assert_text(a.body, "<!doctype html><p>A page</p>");
    expect_header(&a, "Content-Type", "text/html; charset=utf-8");
    expect_header(&a, "Referrer-Policy", "same-origin");
    struct str policy = answer_field(a.head, "Content-Security-Policy");
    assert_true(policy.n && memmem(policy.p, policy.n, "default-src 'none'", 18));
    assert_true(policy.n && memmem(policy.p, policy.n, "frame-ancestors 'none'", 22));
    answer_done(&a);
}

static void a_constant_text_is_compressed_and_revalidated(void **state)
{
    (void)state;
    struct answer plain = server_ask("GET /text", "", NULL),
                  small = server_ask("GET /text", "Accept-Encoding: gzip\r\n", NULL);
    assert_text(plain.body, LONG LONG LONG);
    expect_header(&plain, "Content-Encoding", NULL);
    expect_header(&small, "Content-Encoding", "gzip");
    assert_true(small.body.n < plain.body.n);
    expect_header(&plain, "Cache-Control", "no-cache");
    struct str tag = answer_field(plain.head, "ETag");
    assert_false(str_eq(tag, answer_field(small.head, "ETag")));
    char condition[120];
    snprintf(condition, sizeof condition, "If-None-Match: %.*s\r\n", STR_ARG(tag));
    struct answer again = server_ask("GET /text", condition, NULL);
    assert_int_equal(again.statuses[0], 304);
    assert_int_equal(again.body.n, 0);
    answer_done(&plain);
    answer_done(&small);
    answer_done(&again);
}

/* HTTP-22 */
static void a_reply_that_is_too_long_is_an_error_and_not_cut_off(void **state)
{
    (void)state;
    struct client c = client_plain(server->port);
    struct answer a = {0};
    server_send(&c, "GET /v1/big", "", NULL);
    assert_true(answer_next(&a, &c));
    expect_envelope(&a, 500, "INTERNAL_ERROR");
    server_send(&c, "GET /v1/show", "", NULL); /* the same connection and buffers */
    assert_true(answer_next(&a, &c));
    assert_int_equal(a.statuses[1], 201);
    assert_text(a.body, "{\"text\":\"\\\"shown\\\"\"}");
    answer_done(&a);
    client_close(&c);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, open_server, server_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_error_has_the_type_of_its_status),
        TEST(a_detail_is_shown_for_the_clients_errors_only),
        TEST(a_kept_error_looks_like_a_returned_one),
        TEST(a_success_has_its_headers_and_escaped_json),
        TEST(head_has_the_headers_of_get_and_no_body),
        TEST(a_public_route_may_be_cached_and_shows_its_limit),
        TEST(unknown_paths_and_methods_have_envelopes),
        TEST(a_browser_gets_an_error_page_outside_the_api),
        TEST(a_page_has_a_strict_policy),
        TEST(a_constant_text_is_compressed_and_revalidated),
        TEST(a_reply_that_is_too_long_is_an_error_and_not_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
