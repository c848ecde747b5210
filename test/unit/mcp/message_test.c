/* Messages of the protocol: two generations, checked against the head, and responses. */
#include "mcp/message.h"

#include "base/unit.h"

#define META(more) "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"" more "}"
#define CAPABLE    META(",\"io.modelcontextprotocol/clientCapabilities\":{}")
#define NOW_SENT   "2026-07-28"

/* Fields of the head: MCP-Protocol-Version, Mcp-Method, Mcp-Name; NULL: not sent. */
struct head {
    const char *version, *method, *name;
};

struct given {
    struct head head;
    const char *body;
};

struct seen {
    bool read;
    struct mcp_message message;
    struct mcp_fault fault;
};

static struct seen see(struct arena *a, const struct given *g)
{
    static const char *const names[] = {"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"};
    const char *const values[] = {g->head.version, g->head.method, g->head.name};
    struct http_header headers[COUNT(names)];
    struct http_request http = {.headers = headers, .body = str_z(g->body)};
    struct seen s = {.read = false};
    for (size_t i = 0; i < COUNT(names); i++)
        if (values[i])
            headers[http.header_count++] = (struct http_header){str_z(names[i]), str_z(values[i])};
    s.read = mcp_message_read(&http, a, &s.message, &s.fault);
    return s;
}

/* ---- read ---- */

static const struct {
    struct given given;
    enum mcp_method method;
    const char *id; /* NULL: none */
    const char *name;
    const char *older;
} reads[] = {
    /* the current revision */
    {{{NOW_SENT, "tools/list", NULL},
      "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{" CAPABLE "}}"},
     MCP_TOOLS_LIST,
     "7",
     "",
     NULL},
    {{{NOW_SENT, "tools/call", "getAccount"},
      "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"getAccount\"," CAPABLE "}}"},
     MCP_TOOLS_CALL,
     "\"a\"",
     "getAccount",
     NULL},
    {{{NOW_SENT, "tools/call", "=?base64?Z2V0QWNjb3VudA==?="},
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"getAccount\"," CAPABLE "}}"},
     MCP_TOOLS_CALL,
     "1",
     "getAccount",
     NULL},
    {{{NOW_SENT, "resources/read", "portero://account"},
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"portero://account\"," CAPABLE
      "}}"},
     MCP_RESOURCES_READ,
     "1",
     "portero://account",
     NULL},
    {{{NOW_SENT, "server/discover", NULL},
      "{\"jsonrpc\":\"2.0\",\"id\":1e1,\"method\":\"server/discover\",\"params\":{" CAPABLE "}}"},
     MCP_DISCOVER,
     "10",
     "",
     NULL},
    /* older ones: a name need not be repeated, and no revision need be named */
    {{{NULL, NULL, NULL},
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"}}"},
     MCP_INITIALIZE,
     "0",
     "",
     "2025-06-18"},
    {{{NULL, NULL, NULL},
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2024-11-05\"}}"},
     MCP_INITIALIZE,
     "0",
     "",
     NULL},
    {{{MCP_REVISION_OLD, NULL, NULL}, "{\"jsonrpc\":\"2.0\",\"id\":-3,\"method\":\"ping\"}"}, MCP_PING, "-3", "", NULL},
    {{{MCP_REVISION_OLD, NULL, NULL},
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"party\"}}"},
     MCP_PROMPTS_GET,
     "1",
     "party",
     NULL},
    /* without an ID, whatever its method */
    {{{NULL, NULL, NULL}, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"},
     MCP_NOTIFICATION,
     NULL,
     NULL,
     NULL},
};

static void a_message_of_either_generation_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(reads); i++) {
        struct arena a;
        arena_init(&a, NULL, 0);
        const struct seen s = see(&a, &reads[i].given);
        if (!s.read)
            fail_msg("%s: %.*s", reads[i].given.body, STR_ARG(s.fault.message));
        assert_int_equal(s.message.method, reads[i].method);
        if (reads[i].id)
            assert_text(s.message.id, reads[i].id);
        else
            assert_null(s.message.id.p);
        if (reads[i].name && *reads[i].name)
            assert_text(s.message.name, reads[i].name);
        if (reads[i].older)
            assert_string_equal(s.message.older, reads[i].older);
        else
            assert_null(s.message.older);
        arena_done(&a);
    }
}

/* ---- refused ---- */

static const struct {
    struct given given;
    int status;
    enum mcp_code code;
    const char *id; /* NULL: none could be read */
} refusals[] = {
    {{{NULL, NULL, NULL}, ""}, 400, MCP_PARSE_ERROR, NULL},
    {{{NULL, NULL, NULL}, "{\"jsonrpc\":"}, 400, MCP_PARSE_ERROR, NULL},
    {{{NULL, NULL, NULL}, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]"}, 400, MCP_INVALID_REQUEST, NULL},
    {{{NULL, NULL, NULL}, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}"}, 400, MCP_INVALID_REQUEST, NULL},
    {{{NULL, NULL, NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}"}, 400, MCP_INVALID_REQUEST, NULL},
    {{{NULL, NULL, NULL}, "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}"}, 400, MCP_INVALID_REQUEST, "1"},
    {{{NULL, NULL, NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"}, 400, MCP_INVALID_REQUEST, "1"},
    {{{NULL, NULL, NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}"},
     400,
     MCP_INVALID_PARAMS,
     "1"},
    {{{NULL, NULL, NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\"}"}, 200, MCP_METHOD_NOT_FOUND, "1"},
    {{{NULL, NULL, NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}"},
     200,
     MCP_METHOD_NOT_FOUND,
     "1"},
    {{{NOW_SENT, "ping", NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{" CAPABLE "}}"},
     404,
     MCP_METHOD_NOT_FOUND,
     "1"},
    {{{"2024-11-05", NULL, NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"},
     400,
     MCP_UNSUPPORTED_VERSION,
     "1"},
    {{{NOW_SENT, "tools/list", NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"},
     400,
     MCP_INVALID_PARAMS,
     "1"},
    {{{NOW_SENT, "tools/list", NULL},
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META("") "}}"},
     400,
     MCP_INVALID_PARAMS,
     "1"},
    {{{NULL, "tools/list", NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" CAPABLE "}}"},
     400,
     MCP_HEADER_MISMATCH,
     "1"},
    {{{MCP_REVISION_OLD, "tools/list", NULL},
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" CAPABLE "}}"},
     400,
     MCP_HEADER_MISMATCH,
     "1"},
    {{{NOW_SENT, "tools/call", NULL},
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" CAPABLE "}}"},
     400,
     MCP_HEADER_MISMATCH,
     "1"},
    {{{NOW_SENT, "tools/call", "getOther"},
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"getAccount\"," CAPABLE "}}"},
     400,
     MCP_HEADER_MISMATCH,
     "1"},
    {{{NOW_SENT, "tools/call", "=?base64?Z2V0T3RoZXI=?="},
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"getAccount\"," CAPABLE "}}"},
     400,
     MCP_HEADER_MISMATCH,
     "1"},
    {{{NOW_SENT, "tools/call", NULL},
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"getAccount\"," CAPABLE "}}"},
     400,
     MCP_HEADER_MISMATCH,
     "1"},
};

static void another_message_is_refused_with_its_id(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct arena a;
        arena_init(&a, NULL, 0);
        const struct seen s = see(&a, &refusals[i].given);
        if (s.read || s.fault.code != refusals[i].code || s.fault.status != refusals[i].status)
            fail_msg("%s: %d %d", refusals[i].given.body, s.fault.status, s.read ? 0 : (int)s.fault.code);
        assert_true(s.fault.message.n > 0);
        if (refusals[i].id)
            assert_text(s.message.id, refusals[i].id);
        else
            assert_null(s.message.id.p);
        arena_done(&a);
    }
}

/* A client that knows only later revisions is told the current one, an older client also those before. */
static void a_revision_that_is_not_served_is_answered_with_the_served_ones(void **state)
{
    (void)state;
    static const struct {
        struct given given;
        const char *data;
    } cases[] = {
        {{{"2024-11-05", NULL, NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"},
         "{\"supported\":[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\"],\"requested\":\"2024-11-05\"}"},
        {{{"2030-01-01", NULL, NULL},
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
          "\"io.modelcontextprotocol/protocolVersion\":\"2030-01-01\"}}}"},
         "{\"supported\":[\"2026-07-28\"],\"requested\":\"2030-01-01\"}"},
        {{{"\x01", NULL, NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"},
         "{\"supported\":[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\"],\"requested\":\"\"}"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena a;
        arena_init(&a, NULL, 0);
        const struct seen s = see(&a, &cases[i].given);
        assert_false(s.read);
        assert_int_equal(s.fault.code, MCP_UNSUPPORTED_VERSION);
        assert_text(s.fault.data, cases[i].data);
        arena_done(&a);
    }
}

/* ---- responses ---- */

static void a_response_has_the_id_as_it_was_sent(void **state)
{
    (void)state;
    struct buf out = BUF(4096);
    mcp_put_error(&out, STR("\"a\""), &(struct mcp_fault){.code = MCP_INVALID_PARAMS, .message = STR("a \"b\"")});
    assert_text(buf_view(&out),
                "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32602,\"message\":\"a \\\"b\\\"\"}}");
    out.n = 0;
    mcp_put_error(&out, STR_NONE,
                  &(struct mcp_fault){.code = MCP_PARSE_ERROR, .message = STR("no"), .data = STR("[1]")});
    assert_text(buf_view(&out), "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"no\",\"data\":[1]}}");
    out.n = 0;
    mcp_put_result(&out, STR("12"), STR("\"tools\":[]"));
    assert_text(buf_view(&out), "{\"jsonrpc\":\"2.0\",\"id\":12,\"result\":{\"tools\":[],\"resultType\":\"complete\","
                                "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"portero\",\"version\":"
                                "\"" PORTERO_VERSION "\"}}}}");
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_of_either_generation_is_read),
        cmocka_unit_test(another_message_is_refused_with_its_id),
        cmocka_unit_test(a_revision_that_is_not_served_is_answered_with_the_served_ones),
        cmocka_unit_test(a_response_has_the_id_as_it_was_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
