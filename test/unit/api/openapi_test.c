/* The OpenAPI document of a few rows: omissions, renamed parameters, and the descriptions of columns. */
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
    ROUTE("make", POST, "/v1/things", .credential = CRED_PARENT, .parent_error = ERR_PARENT_BILLING_REQUIRED,
          .scopes = SCOPE(ACCESS_WRITE) | SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY, .idempotency = NEED_REQUIRED,
          .body = &body_shape, .body_error = ERR_INVALID_UNLOCK, .store_error = ERR_CREATE_FAILED,
          .doc = ROUTE_DOC("Access grants", 201, "Make one", .description = "Of the given name.",
                           .body_example = "{\"name\": \"first\"}", .other_status = 200, .flags = DOC_REPLAY)),
    ROUTE("end", POST, "/v1/things/{text}/end", .credential = CRED_WEB_SESSION,
          .doc = ROUTE_DOC("Access grants", 200, "End one")),
};
static const struct route open_rows[] = {
    ROUTE("look", GET, "/look", .doc = ROUTE_DOC("Service", 200, "Look")),
    ROUTE("page", GET, "/page/", .flags = ROUTE_PAGE, .doc = ROUTE_DOC("Sandbox", 200, "A page")),
};
/* Responses with the same first code and status as in keyed_rows, and other contents. */
static const struct route more_rows[] = {
    ROUTE("first", GET, "/a/first", .credential = CRED_WEB_SESSION, .store_error = ERR_CREATE_FAILED,
          .doc = ROUTE_DOC("Access grants", 200, "First")),
    ROUTE("second", GET, "/a/second", .credential = CRED_WEB_SESSION, .store_error = ERR_CREATE_FAILED,
          .doc = ROUTE_DOC("Access grants", 200, "Second")),
    ROUTE("third", GET, "/a/third", .credential = CRED_PARENT, .parent_error = ERR_PARENT_BILLING_REQUIRED,
          .scopes = SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY, .doc = ROUTE_DOC("Access grants", 200, "Third")),
    ROUTE("fourth", GET, "/a/fourth", .credential = CRED_PARENT, .parent_error = ERR_PARENT_BILLING_REQUIRED,
          .scopes = SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY, .doc = ROUTE_DOC("Access grants", 200, "Fourth")),
};
static const struct route_set keyed = ROUTE_SET(keyed_rows), open = ROUTE_SET(open_rows), more = ROUTE_SET(more_rows);
static const struct route_set *const grown_sets[] = {&more, &keyed, &open};
static const struct openapi grown = {
    .title = "Grown", .description = "All and more.", .sets = grown_sets, .set_count = 3, .guide = "/guide"};
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

/* The value at a path of member names; NULL if a member is missing. */
static json_t *at(json_t *node, const char *const *names)
{
    while (node && *names)
        node = json_object_get(node, *names++);
    return node;
}
#define AT(node, ...)   at((node), (const char *const[]){__VA_ARGS__, NULL})
#define TEXT(node, ...) json_string_value(AT(node, __VA_ARGS__))

static void the_server_is_named_only_by_a_public_address(void **state)
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

static void pages_and_unused_parts_are_left_out(void **state)
{
    (void)state;
    json_t *d = document(&public, NULL);
    assert_int_equal(json_object_size(AT(d, "paths")), 1);
    assert_non_null(AT(d, "paths", "/look", "get"));
    assert_null(AT(d, "components", "securitySchemes"));
    assert_int_equal(json_array_size(AT(d, "tags")), 1);
    json_decref(d);
}

static void a_group_is_listed_once_with_its_description(void **state)
{
    (void)state;
    json_t *d = document(&whole, NULL), *tags = AT(d, "tags");
    assert_int_equal(json_array_size(tags), 2);
    for (size_t i = 0; i < json_array_size(tags); i++)
        assert_non_null(TEXT(json_array_get(tags, i), "description"));
    json_decref(d);
}

static void every_id_parameter_is_named_id(void **state)
{
    (void)state;
    json_t *d = document(&whole, NULL);
    json_t *parameters = AT(d, "paths", "/v1/things/{id}/end", "post", "parameters");
    assert_int_equal(json_array_size(parameters), 1);
    assert_string_equal(TEXT(json_array_get(parameters, 0), "name"), "id");
    json_decref(d);
}

static void descriptions_state_the_requirements_of_the_row(void **state)
{
    (void)state;
    json_t *d = document(&whole, NULL);
    const char *make = TEXT(d, "paths", "/v1/things", "post", "description");
    static const char *const expected[] = {"Of the given name.\n\n", "`account:read` and `access:write`",
                                           "`PARENT_BILLING_REQUIRED`", "`Idempotency-Key`"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_non_null(strstr(make, expected[i]));
    assert_non_null(strstr(TEXT(d, "paths", "/v1/things/{id}/end", "post", "description"), "website session"));
    assert_string_equal(TEXT(d, "paths", "/look", "get", "description"), "Requires no key.");
    json_decref(d);
}

/* DOC-2 */
static void operations_have_an_example_and_distinct_responses(void **state)
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

/* DOC-3 */
static void more_operations_rename_nothing_that_is_shared(void **state)
{
    (void)state;
    json_t *before = document(&whole, NULL), *after = document(&grown, NULL);
    const char *kind, *name;
    json_t *list, *shared;
    json_object_foreach (json_object_get(before, "components"), kind, list) {
        json_object_foreach (list, name, shared) {
            if (!json_equal(shared, AT(after, "components", kind, name)))
                fail_msg("%s %s is another one or has another name", kind, name);
        }
    }
    assert_true(json_object_size(AT(after, "components", "responses")) >
                json_object_size(AT(before, "components", "responses")));
    json_decref(before);
    json_decref(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_is_named_only_by_a_public_address),
        cmocka_unit_test(pages_and_unused_parts_are_left_out),
        cmocka_unit_test(a_group_is_listed_once_with_its_description),
        cmocka_unit_test(every_id_parameter_is_named_id),
        cmocka_unit_test(descriptions_state_the_requirements_of_the_row),
        cmocka_unit_test(operations_have_an_example_and_distinct_responses),
        cmocka_unit_test(more_operations_rename_nothing_that_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
