/* Calls of tools: the values that their arguments give the gate. */
#include "mcp/call.h"

#include "api/service.h"
#include "base/unit.h"
#include "mcp/exchange.h"

/* ---- in place of api/service_part.c ---- */

void service_become(struct request *q, const struct route *row)
{
    q->route = row;
}

static const char *current; /* the current ETag */

enum err service_read(struct request *q, const struct route *row, struct reply *ret)
{
    (void)q, (void)row;
    *ret = (struct reply){.status = 200};
    reply_header(ret, "ETag", str_z(current));
    return ERR_NONE;
}

/* ---- a tool ---- */

struct query {
    struct val limit, open, text, since;
};
static const struct field query_fields[] = {
    FIELD(struct query, limit, T_INT, .min = 1, .max = 100),
    FIELD(struct query, open, T_BOOL, ),
    FIELD(struct query, text, T_STRING, ),
    FIELD(struct query, since, T_TIME, ),
};
static const struct shape query_shape = SHAPE(struct query, "Query", query_fields);

struct body {
    struct val label, uses;
};
static const struct field body_fields[] = {
    FIELD(struct body, label, T_STRING, .flags = F_REQUIRED),
    FIELD(struct body, uses, T_INT, .max = 9),
};
static const struct shape body_shape = SHAPE(struct body, "Body", body_fields);

static const char *used; /* the idempotency key that has been used; NULL: none */

static enum err receipt(struct request *q)
{
    return used && str_eq(q->idempotency_key, str_z(used)) ? ERR_IDEMPOTENCY_CONFLICT : ERR_NOT_FOUND;
}

static const struct route list = ROUTE("list", GET, "/v1/things", .building = BUILDING_HEADER, .query = &query_shape),
                          make = ROUTE("make", POST, "/v1/things/{id}/parts/{partId}", .building = BUILDING_HEADER,
                                       .receipt = receipt, .idempotency = NEED_REQUIRED, .body = &body_shape),
                          edit = ROUTE("edit", PATCH, "/v1/unlock/{id}", .building = BUILDING_HEADER,
                                       .match = MATCH_GRANT, .body = &body_shape, .body_optional = true);

struct called {
    struct arena arena;
    struct http_header headers[2];
    struct http_request http;
    struct mcp_exchange x;
    struct request q;
    struct str why;
};

/* The call; false if it is refused. */
static bool call(struct called *c, const struct route *row, const char *arguments)
{
    const struct json_node *nodes = NULL;
    *c = (struct called){.headers = {{STR("Content-Type"), STR("application/json")},
                                     {STR("X-Service-Building-Id"), STR("of the message")}}};
    arena_init(&c->arena, NULL, 0);
    c->http = (struct http_request){.headers = c->headers, .header_count = COUNT(c->headers)};
    c->q = (struct request){.http = &c->http, .entry = &c->x, .tx = {.arena = &c->arena, .now_us = US_PER_S * 1000}};
    if (arguments)
        assert_int_equal(json_nodes_read(str_z(arguments), &c->arena, &nodes), ERR_NONE);
    return mcp_call_make(&c->q, row, nodes, &c->why);
}

static void call_ends(struct called *c)
{
    arena_done(&c->arena);
}

static struct str value_of(struct called *c, enum door_value which)
{
    struct str text;
    size_t count;
    assert_int_equal(mcp_call_value(&c->q, which, &text, &count), ERR_NONE);
    assert_int_equal(count, text.p != NULL);
    return text;
}

/* ---- the query ---- */

static const struct {
    const char *arguments;
    int64_t limit;          /* 0: absent */
    const char *text, *why; /* why: the rule that refuses it */
} queries[] = {
    {NULL, 0, NULL, NULL},
    {"{}", 0, NULL, NULL},
    {"{\"limit\":20,\"open\":true,\"text\":\"a&b=%20+\"}", 20, "a&b=%20+", NULL},
    {"{\"limit\":\"20\",\"open\":\"false\",\"text\":7}", 20, "7", NULL},
    {"{\"limit\":5.0,\"text\":null}", 5, NULL, NULL},
    {"{\"text\":{\"a\":[1]}}", 0, "{\"a\":[1]}", NULL},
    {"{\"since\":\"2026-11-20T09:30:00+02:00\"}", 0, NULL, NULL},
    {"{\"since\":\"2026-11-20T09:30:00 02:00\"}", 0, NULL, "%2B"},
    {"{\"limit\":-5}", 0, NULL, "limit must be"},
    {"{\"limit\":101}", 0, NULL, "limit must be"},
    {"{\"limit\":2.5}", 0, NULL, "limit must be"},
    {"{\"limit\":[]}", 0, NULL, "limit must be"},
    {"{\"open\":1}", 0, NULL, "open must be"},
    {"{\"text\":\"\"}", 0, NULL, "text must not be empty"},
};

static void arguments_are_the_parameters_of_a_query(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(queries); i++) {
        struct called c;
        struct query query;
        struct schema_fault fault = {0};
        assert_true(call(&c, &list, queries[i].arguments));
        const bool read = mcp_call_query(&c.q, &query, &fault);
        if (read != !queries[i].why)
            fail_msg("%s: %.*s", queries[i].arguments, STR_ARG(fault.message));
        if (read) {
            assert_int_equal(v_given(query.limit) ? query.limit.i : 0, queries[i].limit);
            assert_int_equal(v_given(query.text), queries[i].text != NULL);
            if (queries[i].text)
                assert_text(query.text.s, queries[i].text);
        } else {
            assert_non_null(memmem(fault.message.p, fault.message.n, queries[i].why, strlen(queries[i].why)));
        }
        call_ends(&c);
    }
}

/* ---- path, headers and body ---- */

static void the_body_has_the_arguments_that_nothing_else_takes(void **state)
{
    (void)state;
    struct called c;
    json_t *body;
    assert_true(call(&c, &make,
                     "{\"uses\":2,\"id\":12,\"partId\":\"b\",\"building_id\":\"B\","
                     "\"idempotency_key\":\"K\",\"label\":\"\\u00fc\"}"));
    assert_text(c.q.path_text, "12");
    assert_text(c.q.item_text, "b");
    assert_text(value_of(&c, DOOR_BUILDING), "B");
    assert_text(value_of(&c, DOOR_IDEMPOTENCY_KEY), "K");
    assert_int_equal(mcp_call_body(&c.q, &body), ERR_NONE);
    struct buf text = BUF(100);
    json_canonical(body, &text);
    assert_text(buf_view(&text), "{\"label\":\"\xc3\xbc\",\"uses\":2}");
    buf_done(&text);
    json_decref(body);
    call_ends(&c);
}

static void headers_of_the_message_are_not_of_the_call(void **state)
{
    (void)state;
    struct called c;
    json_t *body;
    assert_true(call(&c, &make, NULL));
    assert_text(c.q.path_text, "");
    assert_null(value_of(&c, DOOR_BUILDING).p);
    assert_int_equal(mcp_call_body(&c.q, &body), ERR_NONE);
    assert_int_equal(json_object_size(body), 0);
    json_decref(body);
    c.headers[0].value = STR("text/plain");
    assert_int_equal(mcp_call_body(&c.q, &body), ERR_INVALID_JSON);
    call_ends(&c);
    assert_true(call(&c, &edit, "{\"id\":\"a\"}"));
    c.headers[0].value = STR("text/plain"); /* of a body that there need not be */
    assert_int_equal(mcp_call_body(&c.q, &body), ERR_NONE);
    json_decref(body);
    call_ends(&c);
}

static void an_argument_that_belongs_to_nothing_is_refused(void **state)
{
    (void)state;
    struct called c;
    assert_false(call(&c, &list, "{\"limit\":1,\"idempotency_key\":\"K\"}"));
    assert_text(c.why, "list has no argument idempotency_key.");
    call_ends(&c);
}

/* ---- in place of what is not given ---- */

/* The key of the same call within two minutes is the same, also if the time between is divided by a period's end. */
static void a_call_without_a_key_gets_one_of_its_arguments(void **state)
{
    (void)state;
    char first[64], other[64];
    struct called c;
    used = NULL;
    assert_true(call(&c, &make, "{\"label\":\"a\",\"uses\":1}"));
    snprintf(first, sizeof first, "%.*s", STR_ARG(value_of(&c, DOOR_IDEMPOTENCY_KEY)));
    call_ends(&c);
    assert_true(call(&c, &make, "{\"uses\":1.0,\"label\":\"\\u0061\"}"));
    assert_text(value_of(&c, DOOR_IDEMPOTENCY_KEY), first);
    snprintf(other, sizeof other, "%.*s", STR_ARG(c.x.values.earlier_key));
    used = other;
    assert_text(value_of(&c, DOOR_IDEMPOTENCY_KEY), other);
    assert_string_not_equal(first, other);
    used = NULL;
    call_ends(&c);
    assert_true(call(&c, &make, "{\"label\":\"b\",\"uses\":1}"));
    assert_false(str_eq(value_of(&c, DOOR_IDEMPOTENCY_KEY), str_z(first)));
    call_ends(&c);
}

static void a_version_is_quoted_or_the_current_one(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *tag;
    } tags[] = {
        {"{\"id\":\"a\",\"if_match\":7}", "\"7\""},
        {"{\"id\":\"a\",\"if_match\":\"\\\"7\\\"\"}", "\"7\""},
        {"{\"id\":\"a\",\"if_match\":\"\"}", "\"\""},
        {"{\"id\":\"a\",\"if_match\":null}", "\"9\""},
        {"{\"id\":\"a\"}", "\"9\""},
    };
    current = "\"9\"";
    for (size_t i = 0; i < COUNT(tags); i++) {
        struct called c;
        assert_true(call(&c, &edit, tags[i].arguments));
        assert_text(value_of(&c, DOOR_MATCH), tags[i].tag);
        assert_int_equal(mcp_call_scopes(&c.q), i < 3 ? 0 : SCOPE(ACCESS_READ));
        call_ends(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_the_parameters_of_a_query),
        cmocka_unit_test(the_body_has_the_arguments_that_nothing_else_takes),
        cmocka_unit_test(headers_of_the_message_are_not_of_the_call),
        cmocka_unit_test(an_argument_that_belongs_to_nothing_is_refused),
        cmocka_unit_test(a_call_without_a_key_gets_one_of_its_arguments),
        cmocka_unit_test(a_version_is_quoted_or_the_current_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
