#include "base/json_nodes.h"
#include "unit.h"

static struct arena arena;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const struct json_node *nodes_of(struct str text)
{
    const struct json_node *whole;
    assert_int_equal(json_nodes_read(text, &arena, &whole), ERR_NONE);
    return whole;
}

static void assert_value(const struct json_node *n, const char *text)
{
    assert_non_null(n);
    if (!str_eq(n->text, str_z(text)))
        fail_msg("%.*s is not %s", STR_ARG(n->text), text);
}

static void members_are_found_with_their_values_as_written(void **state)
{
    (void)state;
    const struct json_node *whole =
        nodes_of(STR(" { \"a\" : 5.0 , \"b\":{\"c\": [1, {\"a\":2}] ,\"d\":{}},\"e\" :\"x\\n\" } "));
    assert_value(json_node_member(whole, STR("a")), "5.0");
    const struct json_node *b = json_node_member(whole, STR("b"));
    assert_value(b, "{\"c\": [1, {\"a\":2}] ,\"d\":{}}");
    assert_value(json_node_member(b, STR("c")), "[1, {\"a\":2}]");
    assert_value(json_node_member(b, STR("d")), "{}");
    assert_null(json_node_member(b, STR("a")));
    assert_value(json_node_member(whole, STR("e")), "\"x\\n\"");
    assert_null(json_node_member(whole, STR("c")));
    assert_null(json_node_first(json_node_member(b, STR("d"))));
    assert_null(json_node_member(NULL, STR("a")));
}

static void members_are_walked_in_their_order(void **state)
{
    (void)state;
    const struct json_node *whole = nodes_of(STR("{\"a\":{\"x\":1,\"y\":2},\"b\":3,\"c\":{\"z\":4}}"));
    char names[8] = "";
    for (const struct json_node *n = json_node_first(whole); n; n = json_node_after(whole, n))
        strncat(names, n->name.p, n->name.n);
    assert_string_equal(names, "abc");
}

static void names_and_strings_are_decoded(void **state)
{
    (void)state;
    const struct json_node *whole = nodes_of(STR("{\"\\u0061b\":\"\\u00e9\\\"\",\"k\":\"plain\",\"n\":1}"));
    assert_true(str_eq(json_node_string(json_node_member(whole, STR("ab")), &arena), STR("\xc3\xa9\"")));
    assert_true(str_eq(json_node_string(json_node_member(whole, STR("k")), &arena), STR("plain")));
    assert_null(json_node_string(json_node_member(whole, STR("n")), &arena).p);
    assert_null(json_node_string(NULL, &arena).p);
}

/* More members than are compared one by one, and more nodes than the first room. */
static void an_object_of_many_members_is_read_and_its_repetitions_are_refused(void **state)
{
    (void)state;
    struct buf text = BUF(1u << 16);
    const struct json_node *whole;
    for (int i = 0; i < 500; i++)
        buf_printf(&text, "%s\"m%d\":{\"v\":%d}", i ? "," : "{", i, i);
    const size_t length = text.n;
    buf_char(&text, '}');
    whole = nodes_of(buf_view(&text));
    assert_int_equal(whole->nodes, 1001);
    assert_value(json_node_member(json_node_member(whole, STR("m499")), STR("v")), "499");
    text.n = length;
    buf_lit(&text, ",\"m450\":1}");
    assert_int_equal(json_nodes_read(buf_view(&text), &arena, &whole), ERR_INVALID_JSON);
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(members_are_found_with_their_values_as_written, begin, end),
        cmocka_unit_test_setup_teardown(members_are_walked_in_their_order, begin, end),
        cmocka_unit_test_setup_teardown(names_and_strings_are_decoded, begin, end),
        cmocka_unit_test_setup_teardown(an_object_of_many_members_is_read_and_its_repetitions_are_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
