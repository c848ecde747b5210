/* Finding rows by path: exact paths, one or two parameters, other methods, and near misses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "api/door_site.h"
#include "api/router.h"

static const struct route rows[] = {
    ROUTE("list", GET, "/v1/unlock", ),
    ROUTE("create", POST, "/v1/unlock", ),
    ROUTE("get", GET, "/v1/unlock/{id}", ),
    ROUTE("revoke", DELETE, "/v1/unlock/{id}", ),
    ROUTE("setup", GET, "/v1/buildings/{buildingId}/setup", ),
    ROUTE("revokeOthers", POST, "/v1/auth/keys/revoke-others", ),
    ROUTE("revokeKey", DELETE, "/v1/auth/keys/{id}", ),
    ROUTE("replay", POST, "/v1/webhooks/{id}/deliveries/{delivery_id}/replay", ),
    ROUTE("delivery", GET, "/v1/webhooks/{id}/deliveries/{delivery_id}", ),
    ROUTE("site", GET, "/v1/site", .flags = ROUTE_SITE),
    ROUTE("siteOnly", POST, "/v1/site", .flags = ROUTE_SITE_ONLY),
    ROUTE("release", DELETE, "/admin/numbers", .credential = CRED_CONTROL),
};
static const struct route_set set = ROUTE_SET(rows);
static const struct route_set *const sets[] = {&set};

struct expectation {
    enum http_method method;
    const char *path;
    const char *operation; /* NULL: no Allow */
    const char *param;
    const char *allow;
    const char *second;
};

static const struct expectation expectations[] = {
    {HTTP_GET, "/v1/unlock", "list", NULL, NULL, NULL},
    {HTTP_HEAD, "/v1/unlock", "list", NULL, NULL, NULL},
    {HTTP_POST, "/v1/unlock", "create", NULL, NULL, NULL},
    {HTTP_GET, "/v1/unlock/abc", "get", "abc", NULL, NULL},
    {HTTP_GET, "/v1/buildings/b7/setup", "setup", "b7", NULL, NULL},
    {HTTP_POST, "/v1/auth/keys/revoke-others", "revokeOthers", NULL, NULL, NULL},
    {HTTP_DELETE, "/v1/auth/keys/revoke-others", "revokeKey", "revoke-others", NULL, NULL},
    {HTTP_PATCH, "/v1/unlock", NULL, NULL, "GET, HEAD, POST", NULL},
    {HTTP_OTHER, "/v1/unlock/abc", NULL, NULL, "GET, HEAD, DELETE", NULL},
    {HTTP_GET, "/v1/unlock/", NULL, NULL, NULL, NULL},
    {HTTP_GET, "/v1/unlock/a/b", NULL, NULL, NULL, NULL},
    {HTTP_GET, "/v1/buildings//setup", NULL, NULL, NULL, NULL},
    {HTTP_GET, "/v1/buildings/setup", NULL, NULL, NULL, NULL},
    {HTTP_GET, "/v1/unlocks", NULL, NULL, NULL, NULL},
    {HTTP_GET, "/V1/unlock", NULL, NULL, NULL, NULL},
    {HTTP_GET, "/", NULL, NULL, NULL, NULL},
    {HTTP_POST, "/v1/webhooks/w1/deliveries/d2/replay", "replay", "w1", NULL, "d2"},
    {HTTP_GET, "/v1/webhooks/w1/deliveries/d2", "delivery", "w1", NULL, "d2"},
    {HTTP_GET, "/v1/webhooks/w1/deliveries/d2/replay", NULL, NULL, "POST", NULL},
    {HTTP_POST, "/v1/webhooks//deliveries/d2/replay", NULL, NULL, NULL, NULL},
    {HTTP_POST, "/v1/webhooks/w1/deliveries//replay", NULL, NULL, NULL, NULL},
    {HTTP_POST, "/v1/webhooks/w1/deliveries/d2/replay/", NULL, NULL, NULL, NULL},
    {HTTP_POST, "/v1/webhooks/w1/deliveries/replay", NULL, NULL, "GET, HEAD", NULL},
    {HTTP_GET, "/v1/webhooks/w1/deliveries/", NULL, NULL, NULL, NULL},
    {HTTP_DELETE, "/admin/numbers", NULL, NULL, NULL, NULL},
    {HTTP_GET, "/admin/numbers", NULL, NULL, NULL, NULL},
    {HTTP_GET, "/v1/site", "site", NULL, NULL, NULL},
    {HTTP_POST, "/v1/site", NULL, NULL, "GET, HEAD", NULL},
};

static void a_path_finds_its_row_or_the_methods_it_allows(void **state)
{
    (void)state;
    struct router *r = router_new(sets, 1);
    assert_non_null(r);
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        const struct expectation *x = &expectations[i];
        struct arena a;
        arena_init(&a, NULL, 0);
        struct str params[ROUTE_PARAMS] = {STR_NONE}, allow = STR_NONE;
        const struct route *found = router_find(r, &door_api, x->method, str_z(x->path), &a, params, &allow);
        if (x->operation) {
            assert_non_null(found);
            assert_string_equal(found->operation_id, x->operation);
            assert_true(str_eq(params[0], str_z(x->param)));
            assert_true(str_eq(params[1], str_z(x->second)));
        } else {
            assert_null(found);
            assert_true(str_eq(allow, str_z(x->allow)));
            assert_int_equal(allow.p != NULL, x->allow != NULL);
        }
        arena_done(&a);
    }
    router_free(r);
}

static void the_website_finds_the_rows_that_are_open_to_it(void **state)
{
    (void)state;
    struct router *r = router_new(sets, 1);
    struct arena a;
    arena_init(&a, NULL, 0);
    struct str params[ROUTE_PARAMS] = {STR_NONE}, allow = STR_NONE;
    assert_non_null(router_find(r, &door_site, HTTP_GET, STR("/v1/site"), &a, params, &allow));
    assert_non_null(router_find(r, &door_site, HTTP_POST, STR("/v1/site"), &a, params, &allow));
    assert_null(router_find(r, &door_site, HTTP_GET, STR("/v1/unlock"), &a, params, &allow));
    assert_null(allow.p);
    assert_null(router_find(r, &door_site, HTTP_DELETE, STR("/admin/numbers"), &a, params, &allow));
    assert_null(allow.p);
    arena_done(&a);
    router_free(r);
}

static void the_control_socket_finds_only_control_rows(void **state)
{
    (void)state;
    struct router *r = router_new(sets, 1);
    assert_non_null(r);
    struct arena a;
    arena_init(&a, NULL, 0);
    struct str params[ROUTE_PARAMS] = {STR_NONE}, allow = STR_NONE;
    assert_non_null(router_find(r, &door_control, HTTP_DELETE, STR("/admin/numbers"), &a, params, &allow));
    assert_null(router_find(r, &door_control, HTTP_GET, STR("/admin/numbers"), &a, params, &allow));
    assert_true(str_eq(allow, STR("DELETE")));
    assert_null(router_find(r, &door_control, HTTP_GET, STR("/v1/unlock"), &a, params, &allow));
    assert_null(allow.p);
    assert_null(router_find(r, &door_control, HTTP_PUT, STR("/v1/unlock"), &a, params, &allow));
    assert_null(allow.p);
    arena_done(&a);
    router_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_path_finds_its_row_or_the_methods_it_allows),
                                       cmocka_unit_test(the_website_finds_the_rows_that_are_open_to_it),
                                       cmocka_unit_test(the_control_socket_finds_only_control_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
