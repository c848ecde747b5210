#include "mcp/frame.h"

#include "api/challenge.h"

#define REPLAYED                                                                                                       \
    "This repeats an earlier call: nothing was created again. To create another one, give a new idempotency_key."

/* The error of the API, with the seconds to wait as a member, which HTTP has in a header. */
static void put_error_text(const struct request *q, struct str json, struct buf *out)
{
    struct buf text = BUF(1u << 16);
    buf_put(&text, json.p, json.n ? json.n - 1 : 0);
    if (q->tx.retry_after_s)
        buf_printf(&text, ",\"retry_after_s\":%lld", (long long)q->tx.retry_after_s);
    buf_char(&text, '}');
    json_put_str(out, buf_view(&text));
    buf_done(&text);
}

/* Clients check structured content against the schema of the output, so an error has none. */
int mcp_frame_tool(struct request *q, int status, struct str json, struct buf *out)
{
    const struct mcp_exchange *x = q->entry;
    if (status == 401)
        return 0;
    const int framed = challenge_widens(q) ? status : 200;
    mcp_put_begin(out, x->id);
    buf_lit(out, "\"content\":[{\"type\":\"text\",\"text\":");
    if (status >= 400) {
        put_error_text(q, json, out);
        buf_lit(out, "}],\"isError\":true");
    } else {
        json_put_str(out, json.n ? json : STR("done"));
        if (reply_header_value(&q->reply, "Idempotency-Replayed").p)
            buf_lit(out, "},{\"type\":\"text\",\"text\":\"" REPLAYED "\"");
        buf_lit(out, "}],\"isError\":false");
        buf_str(out, json.n ? STR(",\"structuredContent\":") : STR(""));
        buf_str(out, json);
    }
    mcp_put_end(out);
    return framed;
}

/* The error of the API as one of the protocol. Returns the status of the message, as for an error of a tool. */
static int put_refusal(const struct request *q, const char *message, int status, struct str json, struct buf *out)
{
    const struct mcp_exchange *x = q->entry;
    const struct mcp_fault fault = {
        .code = status >= 500 ? MCP_INTERNAL_ERROR : MCP_INVALID_PARAMS, .message = str_z(message), .data = json};
    mcp_put_error(out, x->id, &fault);
    return challenge_widens(q) ? status : 200;
}

int mcp_frame_resource(struct request *q, int status, struct str json, struct buf *out)
{
    const struct mcp_exchange *x = q->entry;
    if (status == 401)
        return 0;
    if (status >= 400)
        return put_refusal(q, "The resource cannot be read: see data.", status, json, out);
    mcp_put_begin(out, x->id);
    buf_printf(out, "\"contents\":[{\"uri\":\"%s\",\"mimeType\":\"application/json\",\"text\":", x->resource->uri);
    json_put_str(out, json);
    buf_lit(out, "}],\"ttlMs\":0,\"cacheScope\":\"private\"");
    mcp_put_end(out);
    return 200;
}

/* A stream that begins is no message. */
int mcp_frame_listen(struct request *q, int status, struct str json, struct buf *out)
{
    const bool refused = status >= 400 && status != 401;
    return refused ? put_refusal(q, "There is no subscription: see data.", status, json, out) : 0;
}
