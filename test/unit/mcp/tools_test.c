/* Every tool that the rows of the API give: distinct arguments, schemas that are JSON, and the tools that prompts and
 * resources name. */
#include "base/unit.h"

#include "base/json.h"
#include "mcp/resources.h"
#include "mcp/tools.h"
#include "resources/routes.h"

#define LIST_MAX (1u << 20)

static const struct principal everyone = {.scopes = UINT32_MAX, .web_session = true};

static json_t *tools_of(const struct principal *who)
{
    struct buf text = BUF(LIST_MAX);
    json_t *tools = NULL;
    mcp_put_tools(who, &text);
    assert_false(text.full);
    assert_int_equal(json_read(buf_view(&text), &tools), ERR_NONE); /* refuses a member that is there twice */
    buf_done(&text);
    return tools;
}

static bool has_tool(const json_t *tools, const char *name)
{
    size_t i;
    const json_t *tool;
    json_array_foreach (tools, i, tool)
        if (!strcmp(json_string_value(json_object_get(tool, "name")), name))
            return true;
    return false;
}

static void no_two_arguments_of_a_tool_have_the_same_name(void **state)
{
    (void)state;
    json_t *tools = tools_of(&everyone);
    assert_true(json_array_size(tools) > 40);
    json_decref(tools);
}

static void required_arguments_are_arguments(void **state)
{
    (void)state;
    size_t i, k;
    json_t *tools = tools_of(&everyone), *tool, *name;
    json_array_foreach (tools, i, tool) {
        const json_t *input = json_object_get(tool, "inputSchema");
        json_array_foreach (json_object_get(input, "required"), k, name)
            assert_non_null(json_object_get(json_object_get(input, "properties"), json_string_value(name)));
    }
    json_decref(tools);
}

/* DOC-13 */
static void a_key_sees_the_tools_of_its_scopes_and_kind(void **state)
{
    (void)state;
    struct principal reader = {.scopes = SCOPE(ACCESS_READ)}, member = everyone, bound = everyone;
    id_parse(STR("0123456789abcdef01234567"), &member.member_id);
    id_parse(STR("0123456789abcdef01234567"), &bound.building_id);
    json_t *few = tools_of(&reader), *members = tools_of(&member), *one = tools_of(&bound);
    assert_true(has_tool(few, "listUnlocks") && has_tool(few, "revokeOwnKey"));
    assert_false(has_tool(few, "createUnlock") || has_tool(few, "listLogs") || has_tool(few, "createKey"));
    assert_true(has_tool(members, "createUnlock") && !has_tool(members, "updateSettings"));
    assert_true(has_tool(one, "createUnlock") && !has_tool(one, "createWebhook"));
    json_decref(few);
    json_decref(members);
    json_decref(one);
}

/* DOC-13 */
static void rows_without_a_key_and_without_json_are_no_tools(void **state)
{
    (void)state;
    static const char *const others[] = {"requestOtp",      "verifyOtp",    "getHealth",    "getDocument",
                                         "listPlans",       "getGuide",     "streamEvents", "getCallMessage",
                                         "previewGreeting", "signInBrowser"};
    for (size_t i = 0; i < COUNT(others); i++)
        assert_null(mcp_tool(str_z(others[i])));
}

/* docs/api.md, Assistants: "unless another one does the same". */
static void each_operation_of_a_key_with_json_is_a_tool_but_three_of_passes(void **state)
{
    (void)state;
    static const char *const others[] = {"getPass", "listPasses", "revokePass", NULL};
    int tools = 0;
    for (size_t set = 0; set < api_set_count; set++)
        for (size_t i = 0; i < api_sets[set]->count; i++) {
            const struct route *r = &api_sets[set]->rows[i];
            const struct str name = str_z(r->operation_id);
            if (!route_needs_key(r) || !r->reply || r->flags & (ROUTE_PAGE | ROUTE_SITE_ONLY))
                continue;
            if ((mcp_tool(name) != NULL) == (str_index(name, others) >= 0))
                fail_msg("%s", r->operation_id);
            tools++;
        }
    assert_true(tools > 40);
}

static void arguments_are_the_parameters_of_the_path(void **state)
{
    (void)state;
    const struct route *replay = mcp_tool_named("replayWebhookDelivery");
    assert_true(str_eq(mcp_parameter(replay, 0), STR("id")) && str_eq(mcp_parameter(replay, 1), STR("delivery_id")));
    assert_null(mcp_parameter(replay, 2).p);
    assert_true(str_eq(mcp_parameter(mcp_tool_named("getSetup"), 0), STR(MCP_BUILDING_ID)));
    assert_true(str_eq(mcp_parameter(mcp_tool_named("expireCheckout"), 0), STR("id")));
}

static void resources_are_limited_to_the_key(void **state)
{
    (void)state;
    struct buf text = BUF(LIST_MAX);
    mcp_put_resources(&(struct principal){.scopes = SCOPE(LOGS_READ)}, &text);
    json_t *list;
    assert_int_equal(json_read(buf_view(&text), &list), ERR_NONE);
    assert_int_equal(json_array_size(list), 1);
    assert_non_null(mcp_resource(str_z(json_string_value(json_object_get(json_array_get(list, 0), "uri")))));
    assert_null(mcp_resource(STR("")));
    json_decref(list);
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_arguments_of_a_tool_have_the_same_name),
        cmocka_unit_test(required_arguments_are_arguments),
        cmocka_unit_test(a_key_sees_the_tools_of_its_scopes_and_kind),
        cmocka_unit_test(rows_without_a_key_and_without_json_are_no_tools),
        cmocka_unit_test(each_operation_of_a_key_with_json_is_a_tool_but_three_of_passes),
        cmocka_unit_test(arguments_are_the_parameters_of_the_path),
        cmocka_unit_test(resources_are_limited_to_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
