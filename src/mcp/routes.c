#include "mcp/routes.h"

#include "api/parts.h"
#include "base/schema_text.h"
#include "mcp/call.h"
#include "mcp/exchange.h"
#include "mcp/frame.h"
#include "mcp/instructions.h"
#include "mcp/listen.h"
#include "mcp/prompts.h"
#include "mcp/tools.h"
#include "resources/oauth_request.h"

#define REPLY_MAX  (1u << 20)
#define NAME_SHOWN 64 /* bytes of an unknown name in a message */
/* Lists never change while a key holds; resources are announced to clients of the current revision alone. */
#define CAPABILITIES(resources) "\"capabilities\":{\"tools\":{},\"resources\":{" resources "},\"prompts\":{}}"
#define LISTS_LAST              ",\"ttlMs\":300000,\"cacheScope\":\"private\"" /* they depend on the key */
#define CONSTANTS_LAST          ",\"ttlMs\":3600000,\"cacheScope\":\"public\""

/* ---- replies ---- */

static void complete_reply(struct request *q, struct mcp_exchange *x, int status, struct buf *body)
{
    x->status = status;
    x->reply = body->n ? arena_str(q->tx.arena, buf_view(body)) : STR_NONE;
    buf_done(body);
}

static void refuse_message(struct request *q, struct mcp_exchange *x, const struct mcp_fault *fault)
{
    struct buf body = BUF(REPLY_MAX);
    mcp_put_error(&body, x->id, fault);
    complete_reply(q, x, fault->status, &body);
}

static void refuse_params(struct request *q, struct mcp_exchange *x, struct str why)
{
    refuse_message(q, x, &(struct mcp_fault){.status = 200, .code = MCP_INVALID_PARAMS, .message = why});
}

static void put_instructions(struct buf *out)
{
    buf_lit(out, ",\"instructions\":");
    json_put_str(out, str_z(instructions_text));
}

/* Also to revisions that are not served, as the protocol wants it: the client decides. */
static void initialize(struct request *q, struct mcp_exchange *x, const struct mcp_message *m)
{
    struct buf body = BUF(REPLY_MAX);
    mcp_put_begin(&body, x->id);
    buf_printf(&body,
               "\"protocolVersion\":\"%s\"," CAPABILITIES(
                   "") ",\"serverInfo\":{\"name\":\"portero\",\"title\":\"Portero\",\"version\":\"" PORTERO_VERSION
                       "\"}",
               m->older ? m->older : MCP_REVISION_OLD);
    put_instructions(&body);
    mcp_put_end(&body);
    complete_reply(q, x, 200, &body);
}

static void discover(struct request *q, struct mcp_exchange *x)
{
    struct buf body = BUF(REPLY_MAX);
    mcp_put_begin(&body, x->id);
    buf_lit(&body, "\"supportedVersions\":[\"" MCP_REVISION "\"]," CAPABILITIES("\"subscribe\":true"));
    put_instructions(&body);
    buf_lit(&body, CONSTANTS_LAST);
    mcp_put_end(&body);
    complete_reply(q, x, 200, &body);
}

static void answer_with(struct request *q, struct mcp_exchange *x, struct str members)
{
    struct buf body = BUF(REPLY_MAX);
    mcp_put_result(&body, x->id, members);
    complete_reply(q, x, 200, &body);
}

/* Clients of the older revisions want an empty result. */
static void pong(struct request *q, struct mcp_exchange *x)
{
    struct buf body = BUF(REPLY_MAX);
    buf_printf(&body, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{}}", STR_ARG(x->id));
    complete_reply(q, x, 200, &body);
}

static void get_prompt(struct request *q, struct mcp_exchange *x, const struct mcp_message *m)
{
    struct buf members = BUF(REPLY_MAX);
    const struct json_node *given = json_node_member(m->params, STR("arguments"));
    json_t *arguments = NULL;
    const char *why = NULL;
    if (given && json_read(given->text, &arguments))
        arguments = NULL;
    if (mcp_put_prompt(m->name, arguments, &members, &why))
        answer_with(q, x, buf_view(&members));
    else
        refuse_params(q, x, str_z(why));
    json_decref(arguments);
    buf_done(&members);
}

/* ---- requests of the API ---- */

static void call_tool(struct request *q, struct mcp_exchange *x, const struct mcp_message *m)
{
    const struct json_node *arguments = json_node_member(m->params, STR("arguments"));
    const struct route *row = mcp_tool(m->name);
    struct str why;
    if (!row)
        refuse_params(q, x, arena_printf(q->tx.arena, "Unknown tool: %.*s", STR_ARG(text_start(m->name, NAME_SHOWN))));
    else if (arguments && !json_node_is_object(arguments))
        refuse_params(q, x, STR("arguments must be an object."));
    else if (!mcp_call_make(q, row, arguments, &why))
        refuse_params(q, x, why);
    else
        x->frame = mcp_frame_tool;
}

static void refuse_resource(struct request *q, struct mcp_exchange *x, struct str uri)
{
    struct buf data = BUF(REPLY_MAX);
    buf_lit(&data, "{\"uri\":");
    json_put_str(&data, uri);
    buf_char(&data, '}');
    refuse_message(q, x,
                   &(struct mcp_fault){.status = 200,
                                       .code = MCP_INVALID_PARAMS,
                                       .message = STR("Unknown resource: see resources/list."),
                                       .data = buf_view(&data)});
    buf_done(&data);
}

static void read_resource(struct request *q, struct mcp_exchange *x, const struct mcp_message *m)
{
    x->resource = mcp_resource(m->name);
    if (!x->resource) {
        refuse_resource(q, x, m->name);
        return;
    }
    const struct json_node *arguments = NULL;
    struct str why;
    if (x->resource->arguments && json_nodes_read(str_z(x->resource->arguments), q->tx.arena, &arguments))
        arguments = NULL;
    if (mcp_call_make(q, mcp_tool_named(x->resource->operation), arguments, &why))
        x->frame = mcp_frame_resource;
}

static void listen_to_changes(struct request *q, struct mcp_exchange *x, const struct mcp_message *m)
{
    const char *why;
    if (!mcp_listen(q, x, m, &why))
        refuse_params(q, x, str_z(why));
}

static void take_mcp_message(struct request *q, struct mcp_exchange *x, const struct mcp_message *m)
{
    x->method = m->method;
    switch (m->method) {
    case MCP_NOTIFICATION:
        x->status = 202;
        return;
    case MCP_INITIALIZE:
        initialize(q, x, m);
        return;
    case MCP_PING:
        pong(q, x);
        return;
    case MCP_DISCOVER:
        discover(q, x);
        return;
    case MCP_PROMPTS_GET:
        get_prompt(q, x, m);
        return;
    case MCP_RESOURCES_TEMPLATES:
        answer_with(q, x, STR("\"resourceTemplates\":[]" CONSTANTS_LAST));
        return;
    case MCP_TOOLS_CALL:
        call_tool(q, x, m);
        return;
    case MCP_RESOURCES_READ:
        read_resource(q, x, m);
        return;
    case MCP_LISTEN:
        listen_to_changes(q, x, m);
        return;
    case MCP_TOOLS_LIST:
    case MCP_PROMPTS_LIST:
    case MCP_RESOURCES_LIST:
        return;
    }
}

/* A page of another site must not use a key that its user's browser may hold. Programs send no Origin. */
static bool is_allowed_origin(const struct request *q)
{
    size_t count;
    const struct str origin = http_header(q->http, STR("Origin"), &count);
    return !count || (count == 1 && str_eqi(origin, str_z(q->parts->public_url)));
}

static struct str metadata_address(const struct request *q)
{
    return arena_printf(q->tx.arena, "%s" OAUTH_RESOURCE_PATH MCP_PATH, q->parts->public_url);
}

static int frame_reply(struct request *q, int status, struct str json, struct buf *out)
{
    const struct mcp_exchange *x = q->entry;
    return x->frame ? x->frame(q, status, json, out) : 0;
}

/* By no path: a message to /mcp comes in by it. */
static const struct door door_mcp = {.prefix = "",
                                     .via = " via=mcp",
                                     .key_hash = door_bearer,
                                     .value = mcp_call_value,
                                     .query = mcp_call_query,
                                     .body = mcp_call_body,
                                     .scopes = mcp_call_scopes,
                                     .frame = frame_reply,
                                     .metadata = metadata_address};

/* Before all checks: the checks follow the row that the message asks for, or else this one. */
static enum err mcp_receive(struct request *q)
{
    struct mcp_exchange *x = arena_new(q->tx.arena, struct mcp_exchange);
    struct mcp_message m;
    struct mcp_fault fault;
    q->door = &door_mcp;
    q->entry = x;
    if (!is_allowed_origin(q))
        return ERR_CROSS_SITE_REQUEST;
    const bool read = mcp_message_read(q->http, q->tx.arena, &m, &fault);
    x->id = m.id;
    if (read)
        take_mcp_message(q, x, &m);
    else
        refuse_message(q, x, &fault);
    return ERR_NONE;
}

/* ---- the row ---- */

static void put_listing(const struct request *q, enum mcp_method method, struct buf *out)
{
    switch (method) {
    case MCP_TOOLS_LIST:
        buf_lit(out, "\"tools\":");
        mcp_put_tools(&q->who, out);
        return;
    case MCP_RESOURCES_LIST:
        buf_lit(out, "\"resources\":");
        mcp_put_resources(&q->who, out);
        return;
    default:
        buf_lit(out, "\"prompts\":");
        mcp_put_prompts(out);
        return;
    }
}

static enum err mcp_answer(struct request *q, struct reply *p)
{
    const struct mcp_exchange *x = q->entry;
    p->status = x->status;
    p->raw = x->reply;
    if (x->status)
        return ERR_NONE;
    struct buf body = BUF(REPLY_MAX);
    mcp_put_begin(&body, x->id);
    put_listing(q, x->method, &body);
    buf_lit(&body, LISTS_LAST);
    mcp_put_end(&body);
    p->status = 200;
    p->raw = arena_str(q->tx.arena, buf_view(&body));
    const bool whole = !body.full;
    buf_done(&body);
    return whole ? ERR_NONE : ERR_INTERNAL_ERROR;
}

static const struct route rows[] = {
    ROUTE("mcp", POST, MCP_PATH, .credential = CRED_KEY, .limit = LIMIT_KEY, .run = RUN_HERE, .verify = mcp_receive,
          .handler = mcp_answer, .media = "application/json",
          .doc = ROUTE_DOC("Service", 200, "The API for assistants")),
};
static const struct route_set mcp_routes = ROUTE_SET(rows);
const struct route_set *const mcp_sets[] = {&mcp_routes};
const size_t mcp_set_count = sizeof mcp_sets / sizeof *mcp_sets;
