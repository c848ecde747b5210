/* The OpenAPI document of a few rows: what is left out, what is renamed, and what the columns say in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "api/openapi.h"

struct body {
    struct val name;
};
static const struct field body_fields[] = {FIELD(struct body, name, T_STRING, .flags = F_REQUIRED)};
static const struct shape body_shape = SHAPE(struct body, "Body", body_fields);

static const struct route keyed_rows[] = {
    {.operation_id = "make",
     .summary = "Make one",
     .description = "Of the given name.",
     .tag = "Access grants",
     .method = HTTP_POST,
     .path = "/v1/things",
     .credential = CRED_PARENT,
     .parent_error = ERR_PARENT_BILLING_REQUIRED,
     .scopes = SCOPE(ACCESS_WRITE) | SCOPE(ACCOUNT_READ),
     .limit = LIMIT_KEY,
     .idempotency = NEED_REQUIRED,
     .body = &body_shape,
     .body_error = ERR_INVALID_UNLOCK,
     .body_example = "{\"name\": \"first\"}",
     .status = 201,
     .other_status = 200,
     .flags = ROUTE_REPLAY,
     .store_error = ERR_CREATE_FAILED},
    {.operation_id = "end",
     .summary = "End one",
     .tag = "Access grants",
     .method = HTTP_POST,
     .path = "/v1/things/{text}/end",
     .credential = CRED_WEB_SESSION,
     .status = 200},
};
static const struct route open_rows[] = {
    {.operation_id = "look", .summary = "Look", .tag = "Service", .method = HTTP_GET, .path = "/look", .status = 200},
    {.operation_id = "page",
     .summary = "A page",
     .tag = "Sandbox",
     .method = HTTP_GET,
     .path = "/page/",
     .status = 200,
     .flags = ROUTE_PAGE},
};
static const struct route_set keyed = ROUTE_SET(keyed_rows), open = ROUTE_SET(open_rows);
static const struct route_set *const both[] = {&keyed, &open}, *const open_only[] = {&open};

static const struct openapi whole = {
    .title = "Whole", .description = "All.", .sets = both, .set_count = 2, .guide = "/guide"};
static const struct openapi public = {.title = "Public", .description = "Some.", .sets = open_only, .set_count = 1};

static json_t *document(const struct openapi *d, const char *public_url)
{
    struct buf out = BUF(1U << 20);
    openapi_document(d, public_url, &out);
    assert_false(out.full);
    json_t *read = json_loadb(out.p, out.n, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(read);
    buf_done(&out);
    return read;
}

/* What a path of member names leads to; NULL where it ends before. */
static json_t *at(json_t *node, const char *const *names)
{
    while (node && *names)
        node = json_object_get(node, *names++);
    return node;
}
#define AT(node, ...)   at((node), (const char *const[]){__VA_ARGS__, NULL})
#define TEXT(node, ...) json_string_value(AT(node, __VA_ARGS__))

static void names_the_server_only_where_others_can_reach_it(void **state)
{
    (void)state;
    static const char *const nobody_elses[] = {NULL, "https://localhost", "https://localhost:8443"};
    for (size_t i = 0; i < sizeof nobody_elses / sizeof *nobody_elses; i++) {
        json_t *d = document(&whole, nobody_elses[i]);
        assert_string_equal(TEXT(json_array_get(AT(d, "servers"), 0), "url"), "/");
        assert_null(AT(d, "externalDocs"));
        json_decref(d);
    }
    json_t *d = document(&whole, "https://door.example.org");
    assert_string_equal(TEXT(json_array_get(AT(d, "servers"), 0), "url"), "https://door.example.org");
    assert_string_equal(TEXT(d, "externalDocs", "url"), "https://door.example.org/guide");
    assert_string_equal(TEXT(d, "info", "contact", "url"), "https://door.example.org");
    json_decref(d);
}

static void leaves_out_pages_and_what_nothing_uses(void **state)
{
    (void)state;
    json_t *d = document(&public, NULL);
    assert_int_equal(json_object_size(AT(d, "paths")), 1);
    assert_non_null(AT(d, "paths", "/look", "get"));
    assert_null(AT(d, "components", "securitySchemes"));
    assert_int_equal(json_array_size(AT(d, "tags")), 1);
    json_decref(d);
}

static void lists_a_group_once_with_what_it_is_about(void **state)
{
    (void)state;
    json_t *d = document(&whole, NULL), *tags = AT(d, "tags");
    assert_int_equal(json_array_size(tags), 2);
    for (size_t i = 0; i < json_array_size(tags); i++)
        assert_non_null(TEXT(json_array_get(tags, i), "description"));
    json_decref(d);
}

static void calls_every_id_id(void **state)
{
    (void)state;
    json_t *d = document(&whole, NULL);
    json_t *parameters = AT(d, "paths", "/v1/things/{id}/end", "post", "parameters");
    assert_int_equal(json_array_size(parameters), 1);
    assert_string_equal(TEXT(json_array_get(parameters, 0), "name"), "id");
    json_decref(d);
}

static void says_in_words_what_the_columns_ask(void **state)
{
    (void)state;
    json_t *d = document(&whole, NULL);
    const char *make = TEXT(d, "paths", "/v1/things", "post", "description");
    static const char *const expected[] = {"Of the given name.\n\n", "`account:read` and `access:write`",
                                           "`PARENT_BILLING_REQUIRED`", "`Idempotency-Key`"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_non_null(strstr(make, expected[i]));
    assert_non_null(strstr(TEXT(d, "paths", "/v1/things/{id}/end", "post", "description"), "website session"));
    assert_string_equal(TEXT(d, "paths", "/look", "get", "description"), "Needs no key.");
    json_decref(d);
}

static void shows_the_example_and_tells_the_answers_apart(void **state)
{
    (void)state;
    json_t *d = document(&whole, NULL), *make = AT(d, "paths", "/v1/things", "post");
    assert_string_equal(TEXT(make, "requestBody", "content", "application/json", "example", "name"), "first");
    assert_string_not_equal(TEXT(make, "responses", "200", "description"),
                            TEXT(make, "responses", "201", "description"));
    assert_non_null(AT(make, "responses", "200", "headers", "Idempotency-Replayed"));
    assert_null(AT(make, "responses", "201", "headers", "Idempotency-Replayed"));
    assert_non_null(strstr(TEXT(make, "responses", "500", "description"), "CREATE_FAILED"));
    json_decref(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_server_only_where_others_can_reach_it),
        cmocka_unit_test(leaves_out_pages_and_what_nothing_uses),
        cmocka_unit_test(lists_a_group_once_with_what_it_is_about),
        cmocka_unit_test(calls_every_id_id),
        cmocka_unit_test(says_in_words_what_the_columns_ask),
        cmocka_unit_test(shows_the_example_and_tells_the_answers_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
