/* Replies of the API as results of the protocol, and prompts filled in with the resident's words. */
#include "mcp/frame.h"

#include "api/door.h"
#include "base/json.h"
#include "base/unit.h"
#include "mcp/exchange.h"
#include "mcp/prompts.h"

/* ---- frames ---- */

static const struct mcp_resource account = {.uri = "portero://account"};
static const struct route row = {.operation_id = "createUnlock", .scopes = SCOPE(ACCESS_WRITE)};

static const struct {
    mcp_frame *frame;
    int status;
    const char *json;
    int64_t retry_after_s;
    bool replayed;
    int framed;
    const char *parts[4]; /* of the message */
    const char *absent;
} frames[] = {
    {mcp_frame_tool,
     200,
     "{\"id\":1}",
     0,
     false,
     200,
     {"\"id\":5,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"id\\\":1}\"}]",
      "\"structuredContent\":{\"id\":1}", "\"isError\":false"},
     "repeats an earlier call"},
    {mcp_frame_tool, 204, "", 0, false, 200, {"\"text\":\"done\"", "\"isError\":false"}, "structuredContent"},
    {mcp_frame_tool,
     200,
     "{}",
     0,
     true,
     200,
     {"repeats an earlier call", "\"structuredContent\":{}"},
     "isError\":true"},
    {mcp_frame_tool,
     409,
     "{\"error\":{}}",
     0,
     false,
     200,
     {"\"text\":\"{\\\"error\\\":{}}\"}],\"isError\":true"},
     "structuredContent"},
    {mcp_frame_tool, 429, "{\"error\":{}}", 17, false, 200, {"\\\"retry_after_s\\\":17}"}, "structuredContent"},
    {mcp_frame_tool, 401, "{\"error\":{}}", 0, false, 0, {NULL}, "{"},
    {mcp_frame_resource,
     200,
     "{\"id\":1}",
     0,
     false,
     200,
     {"\"contents\":[{\"uri\":\"portero://account\",\"mimeType\":\"application/json\",\"text\":\"{\\\"id\\\":1}\"}]",
      "\"cacheScope\":\"private\""},
     "error"},
    {mcp_frame_resource,
     404,
     "{\"error\":{}}",
     0,
     false,
     200,
     {"\"error\":{\"code\":-32602,", "\"data\":{\"error\":{}}"},
     "result"},
    {mcp_frame_resource, 503, "{\"error\":{}}", 0, false, 200, {"\"error\":{\"code\":-32603,"}, "result"},
    {mcp_frame_resource, 401, "{}", 0, false, 0, {NULL}, "{"},
    {mcp_frame_listen, 200, "", 0, false, 0, {NULL}, "{"},
    {mcp_frame_listen, 401, "{}", 0, false, 0, {NULL}, "{"},
    {mcp_frame_listen,
     403,
     "{\"error\":{}}",
     0,
     false,
     200,
     {"There is no subscription", "\"code\":-32602", "\"data\":{\"error\":{}}"},
     "result"},
};

static void a_reply_becomes_a_result_or_goes_out_as_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(frames); i++) {
        struct mcp_exchange x = {.id = STR("5"), .resource = &account};
        struct request q = {.door = &door_api, .route = &row, .entry = &x};
        struct buf out = BUF(1u << 16);
        q.tx.retry_after_s = frames[i].retry_after_s;
        if (frames[i].replayed)
            q.reply.headers[q.reply.header_count++] = (struct reply_header){"Idempotency-Replayed", STR("true")};
        assert_int_equal(frames[i].frame(&q, frames[i].status, str_z(frames[i].json), &out), frames[i].framed);
        buf_char(&out, '\0');
        for (const char *const *part = frames[i].parts; *part; part++)
            if (!strstr(out.p, *part))
                fail_msg("%d: no %s in %s", frames[i].status, *part, out.p);
        if (strstr(out.p, frames[i].absent))
            fail_msg("%d: %s in %s", frames[i].status, frames[i].absent, out.p);
        if (frames[i].framed) {
            json_t *read = NULL;
            assert_int_equal(json_read(str_z(out.p), &read), ERR_NONE);
            json_decref(read);
        }
        buf_done(&out);
    }
}

/* The client learns from the status of the message that the resident may allow more. */
static void a_call_for_lack_of_scopes_keeps_its_status(void **state)
{
    (void)state;
    static mcp_frame *const all[] = {mcp_frame_tool, mcp_frame_resource, mcp_frame_listen};
    for (size_t i = 0; i < COUNT(all); i++) {
        struct mcp_exchange x = {.id = STR("5"), .resource = &account};
        struct request q = {.door = &door_api, .route = &row, .entry = &x, .result = ERR_INSUFFICIENT_SCOPE};
        struct buf out = BUF(1u << 16);
        assert_int_equal(all[i](&q, 403, STR("{\"error\":{}}"), &out), 403);
        q.who.scopes = SCOPE(ACCESS_WRITE); /* not the row's scopes are missing */
        assert_int_equal(all[i](&q, 403, STR("{\"error\":{}}"), &out), 200);
        buf_done(&out);
    }
}

/* ---- prompts ---- */

static const struct {
    const char *name, *arguments; /* NULL: none */
    const char *part;             /* of the text; or of the reason, if it is refused */
    bool refused;
} prompts[] = {
    {"party", "{\"start\":\"Saturday 18:00\",\"end\":\"23:00\",\"what\":\"the \\\"big\\\" birthday\"}",
     "Let everybody in for the \\\"big\\\" birthday from Saturday 18:00 to 23:00.", false},
    {"party", "{\"start\":\"18:00\",\"end\":\"23:00\"}", "Let everybody in for the party from 18:00 to 23:00.", false},
    {"party", "{\"start\":\"18:00\",\"end\":\"23:00\",\"what\":\"\"}", "for the party from", false},
    {"party", "{\"start\":\"{end}\",\"end\":\"23:00\"}", "from {end} to 23:00.", false},
    {"who_came", NULL, "Tell me who came to the door today.", false},
    {"who_came", "{\"unknown\":\"a\"}", "Tell me who came to the door today.", false},
    {"party", "{\"start\":\"18:00\"}", "A required argument is missing", true},
    {"party", "{\"start\":\"\",\"end\":\"23:00\"}", "A required argument is missing", true},
    {"party", NULL, "A required argument is missing", true},
    {"who_came", "{\"when\":7}", "must be texts", true},
    {"who_came", "{\"other\":[]}", "must be texts", true},
    {"nothing", NULL, "Unknown prompt", true},
    {"", NULL, "Unknown prompt", true},
};

static void a_prompt_has_the_residents_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(prompts); i++) {
        struct buf out = BUF(1u << 16);
        json_t *arguments = NULL;
        const char *why = NULL;
        if (prompts[i].arguments)
            assert_int_equal(json_read(str_z(prompts[i].arguments), &arguments), ERR_NONE);
        assert_int_equal(mcp_put_prompt(str_z(prompts[i].name), arguments, &out, &why), !prompts[i].refused);
        buf_char(&out, '\0');
        if (!strstr(prompts[i].refused ? why : out.p, prompts[i].part))
            fail_msg("%s: %s", prompts[i].name, prompts[i].refused ? why : out.p);
        assert_true(!prompts[i].refused || !*out.p);
        buf_done(&out);
        json_decref(arguments);
    }
}

/* Each prompt of the list can be got with the arguments that the list requires. */
static void the_list_of_prompts_says_which_arguments_they_need(void **state)
{
    (void)state;
    size_t i, k;
    json_t *list, *prompt, *argument;
    struct buf text = BUF(1u << 16);
    mcp_put_prompts(&text);
    assert_int_equal(json_read(buf_view(&text), &list), ERR_NONE);
    assert_true(json_array_size(list) >= 5);
    json_array_foreach (list, i, prompt) {
        struct buf given = BUF(4096), out = BUF(1u << 16);
        json_t *arguments;
        const char *why = "", *name = json_string_value(json_object_get(prompt, "name"));
        bool any = false;
        buf_char(&given, '{');
        json_array_foreach (json_object_get(prompt, "arguments"), k, argument)
            if (json_is_true(json_object_get(argument, "required"))) {
                buf_printf(&given, "%s\"%s\":\"W%zu\"", any ? "," : "",
                           json_string_value(json_object_get(argument, "name")), k);
                any = true;
            }
        buf_char(&given, '}');
        assert_int_equal(json_read(buf_view(&given), &arguments), ERR_NONE);
        if (!mcp_put_prompt(str_z(name), arguments, &out, &why))
            fail_msg("%s: %s", name, why);
        json_array_foreach (json_object_get(prompt, "arguments"), k, argument) {
            char word[32];
            snprintf(word, sizeof word, "W%zu", k);
            const bool told = memmem(out.p, out.n, word, strlen(word)) != NULL;
            assert_int_equal(told, json_is_true(json_object_get(argument, "required")));
        }
        buf_done(&given);
        buf_done(&out);
        json_decref(arguments);
    }
    json_decref(list);
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_becomes_a_result_or_goes_out_as_it_is),
        cmocka_unit_test(a_call_for_lack_of_scopes_keeps_its_status),
        cmocka_unit_test(a_prompt_has_the_residents_words),
        cmocka_unit_test(the_list_of_prompts_says_which_arguments_they_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
