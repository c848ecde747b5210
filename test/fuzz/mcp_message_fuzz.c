/* A POST of the Model Context Protocol: the first line has the fields of the head, separated by tabs, the rest is the
 * body. Whatever comes, it is read or refused, and the response is JSON. */
#include <stdlib.h>

#include "mcp/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_json(const struct buf *text)
{
    json_t *json;
    if (text->full || json_read(buf_view(text), &json))
        abort();
    json_decref(json);
}

static void check_refusal(const struct mcp_message *m, const struct mcp_fault *fault)
{
    struct buf text = BUF(1u << 22);
    if (fault->status != 200 && fault->status != 400 && fault->status != 404)
        abort();
    mcp_put_error(&text, m->id, fault);
    must_be_json(&text);
    buf_done(&text);
}

static void check_message(const struct mcp_message *m)
{
    struct buf text = BUF(1u << 22);
    if ((m->method == MCP_NOTIFICATION) != !m->id.p || (m->params && !json_node_is_object(m->params)))
        abort();
    mcp_put_result(&text, m->id.p ? m->id : STR("1"), STR("\"ok\":true"));
    must_be_json(&text);
    buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str body, head = str_cut(str_n((const char *)data, size), '\n', &body), more;
    const struct str revision = str_cut(head, '\t', &more), method = str_cut(more, '\t', &more);
    const struct http_header headers[] = {
        {STR("MCP-Protocol-Version"), revision}, {STR("Mcp-Method"), method}, {STR("Mcp-Name"), more}};
    const size_t count = more.p ? 3 : method.p ? 2 : revision.n > 0;
    const struct http_request r = {.headers = headers, .header_count = count, .body = body.p ? body : STR("")};
    struct mcp_message m;
    struct mcp_fault fault;
    struct arena arena;
    arena_init(&arena, NULL, 0);
    if (mcp_message_read(&r, &arena, &m, &fault))
        check_message(&m);
    else
        check_refusal(&m, &fault);
    arena_done(&arena);
    return 0;
}
