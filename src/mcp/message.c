#include "mcp/message.h"

#include <stdio.h>

#include "base/crypto.h"

#define META          "io.modelcontextprotocol/"
#define ENCODED_START "=?base64?"
#define ENCODED_END   "?="
#define NAME_MAX_LEN  1024 /* bytes of a name or URI that is compared with the head */

enum era { OLDER = 1, CURRENT = 2, BOTH = 3 };

static const struct {
    const char *name;
    enum mcp_method method;
    enum era eras;
    const char *named; /* the member of params that the field Mcp-Name repeats */
} methods[] = {
    {"tools/call", MCP_TOOLS_CALL, BOTH, "name"},
    {"tools/list", MCP_TOOLS_LIST, BOTH, NULL},
    {"resources/read", MCP_RESOURCES_READ, BOTH, "uri"},
    {"resources/list", MCP_RESOURCES_LIST, BOTH, NULL},
    {"resources/templates/list", MCP_RESOURCES_TEMPLATES, BOTH, NULL},
    {"prompts/get", MCP_PROMPTS_GET, BOTH, "name"},
    {"prompts/list", MCP_PROMPTS_LIST, BOTH, NULL},
    {"server/discover", MCP_DISCOVER, CURRENT, NULL},
    {"subscriptions/listen", MCP_LISTEN, CURRENT, NULL},
    {"initialize", MCP_INITIALIZE, OLDER, NULL},
    {"ping", MCP_PING, OLDER, NULL},
};

static const char *const older_revisions[] = {MCP_REVISION_OLD, "2025-06-18", NULL};

/* A message while it is read. */
struct reading {
    const struct http_request *http;
    struct arena *arena;
    struct mcp_message *message;
    struct mcp_fault *fault;
    struct str method; /* as sent */
    enum era era;
};

/* Always false, for the return of a check. */
static bool fail(struct reading *r, int status, enum mcp_code code, struct str why)
{
    *r->fault = (struct mcp_fault){.status = status, .code = code, .message = why};
    return false;
}

static struct str member_text(const struct reading *r, const struct json_node *of, struct str name)
{
    return json_node_string(json_node_member(of, name), r->arena);
}

/* ---- JSON-RPC ---- */

/* Of an integer that is written in the usual way. */
static bool is_digits(struct str s)
{
    uint64_t number;
    return str_to_u64(s, INT64_MAX, &number);
}

/* An ID as it is written, but for an integer in another notation; STR_NONE if it is neither string nor integer. */
static struct str id_text(struct arena *a, const struct json_node *id)
{
    json_t *value;
    struct str text = STR_NONE;
    if (json_node_is_string(id) || (id && is_digits(id->text)))
        return id->text;
    if (!id || json_read(id->text, &value))
        return STR_NONE;
    if (json_is_integer(value))
        text = arena_printf(a, "%lld", (long long)json_integer_value(value));
    json_decref(value);
    return text;
}

static bool read_envelope(struct reading *r)
{
    struct mcp_message *m = r->message;
    const struct json_node *json;
    if (json_nodes_read(r->http->body, r->arena, &json))
        return fail(r, 400, MCP_PARSE_ERROR, STR("The body is not JSON."));
    if (!json_node_is_object(json))
        return fail(r, 400, MCP_INVALID_REQUEST, STR("The body must be one JSON-RPC message; batches are not served."));
    const struct json_node *id = json_node_member(json, STR("id"));
    m->id = id_text(r->arena, id);
    if (id && !m->id.p)
        return fail(r, 400, MCP_INVALID_REQUEST, STR("id must be a string or an integer."));
    if (!str_eq(member_text(r, json, STR("jsonrpc")), STR("2.0")))
        return fail(r, 400, MCP_INVALID_REQUEST, STR("jsonrpc must be \"2.0\"."));
    r->method = member_text(r, json, STR("method"));
    if (!r->method.p)
        return fail(r, 400, MCP_INVALID_REQUEST, STR("method is missing: only requests and notifications are served."));
    m->params = json_node_member(json, STR("params"));
    if (m->params && !json_node_is_object(m->params))
        return fail(r, 400, MCP_INVALID_PARAMS, STR("params must be an object."));
    return true;
}

/* ---- the revision ---- */

/* A field of the head may hold any bytes, a reply only text. */
static bool is_printable(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 0x20 || s.p[i] > 0x7e)
            return false;
    return true;
}

/* A request that names its revision in `_meta` can be of no older one. */
static bool refuse_revision(struct reading *r, struct str requested, bool older)
{
    struct buf data = BUF(HTTP_MAX_BODY * 8);
    buf_lit(&data, "{\"supported\":[\"" MCP_REVISION "\"");
    for (size_t i = 0; older && older_revisions[i]; i++)
        buf_printf(&data, ",\"%s\"", older_revisions[i]);
    buf_lit(&data, "],\"requested\":");
    json_put_str(&data, is_printable(requested) ? requested : STR(""));
    buf_lit(&data, "}");
    fail(r, 400, MCP_UNSUPPORTED_VERSION, STR("Unsupported protocol version"));
    r->fault->data = data.full ? STR_NONE : arena_str(r->arena, buf_view(&data));
    buf_done(&data);
    return false;
}

static bool mismatch(struct reading *r, const char *field)
{
    return fail(r, 400, MCP_HEADER_MISMATCH,
                arena_printf(r->arena, "Header mismatch: %s must repeat the body.", field));
}

static struct str only_header(const struct reading *r, struct str name)
{
    size_t count;
    const struct str value = http_header(r->http, name, &count);
    return count == 1 ? value : STR_NONE;
}

static bool read_revision(struct reading *r)
{
    const struct json_node *meta = json_node_member(r->message->params, STR("_meta"));
    const struct str head = only_header(r, STR("MCP-Protocol-Version"));
    const struct str body = member_text(r, meta, STR(META "protocolVersion"));
    const struct str named = body.p ? body : head;
    const bool current = str_eq(named, STR(MCP_REVISION));
    r->era = current ? CURRENT : OLDER;
    if (body.p && !str_eq(body, head))
        return mismatch(r, "MCP-Protocol-Version");
    if (current && !body.p)
        return fail(r, 400, MCP_INVALID_PARAMS, STR("_meta lacks " META "protocolVersion."));
    if (current && !json_node_is_object(json_node_member(meta, STR(META "clientCapabilities"))))
        return fail(r, 400, MCP_INVALID_PARAMS, STR("_meta lacks " META "clientCapabilities."));
    if (!current && named.p && str_index(named, older_revisions) < 0)
        return refuse_revision(r, named, !body.p);
    return true;
}

/* ---- the method ---- */

/* Whether a field of the head has the value, plain or encoded. */
static bool repeats(struct str field, struct str value)
{
    char encoded[BASE64_LEN(NAME_MAX_LEN) + 1];
    const size_t around = strlen(ENCODED_START) + strlen(ENCODED_END);
    if (!str_starts(field, STR(ENCODED_START)) || field.n < around || value.n > NAME_MAX_LEN)
        return field.p && str_eq(field, value);
    base64_standard_encode(value.p, value.n, encoded);
    return str_eq(str_n(field.p + strlen(ENCODED_START), field.n - around), str_z(encoded)) &&
           str_eq(str_from(field, field.n - strlen(ENCODED_END)), STR(ENCODED_END));
}

static bool read_name(struct reading *r, const char *member)
{
    const struct str name = member_text(r, r->message->params, str_z(member));
    r->message->name = name.p ? name : STR("");
    if (r->era == CURRENT && !repeats(only_header(r, STR("Mcp-Name")), r->message->name))
        return mismatch(r, "Mcp-Name");
    return true;
}

static bool read_method(struct reading *r)
{
    if (r->era == CURRENT && !str_eq(only_header(r, STR("Mcp-Method")), r->method))
        return mismatch(r, "Mcp-Method");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (!(methods[i].eras & r->era) || !str_eq(r->method, str_z(methods[i].name)))
            continue;
        r->message->method = methods[i].method;
        return !methods[i].named || read_name(r, methods[i].named);
    }
    /* Clients of older revisions take another status than 200 for a failure of the transport. */
    return fail(r, r->era == CURRENT ? 404 : 200, MCP_METHOD_NOT_FOUND, STR("Method not found"));
}

bool mcp_message_read(const struct http_request *http, struct arena *a, struct mcp_message *ret,
                      struct mcp_fault *ret_fault)
{
    struct reading r = {.http = http, .arena = a, .message = ret, .fault = ret_fault};
    *ret = (struct mcp_message){.method = MCP_NOTIFICATION};
    if (!read_envelope(&r))
        return false;
    if (!ret->id.p)
        return true;
    if (!read_revision(&r) || !read_method(&r))
        return false;
    const int older = str_index(member_text(&r, ret->params, STR("protocolVersion")), older_revisions);
    ret->older = older < 0 ? NULL : older_revisions[older];
    return true;
}

/* ---- responses ---- */

static void put_response_head(struct buf *out, struct str id)
{
    buf_lit(out, "{\"jsonrpc\":\"2.0\"");
    if (id.p) {
        buf_lit(out, ",\"id\":");
        buf_str(out, id);
    }
}

void mcp_put_begin(struct buf *out, struct str id)
{
    put_response_head(out, id);
    buf_lit(out, ",\"result\":{");
}

#define SERVER_INFO "\"" META "serverInfo\":{\"name\":\"portero\",\"version\":\"" PORTERO_VERSION "\"}"

void mcp_put_end(struct buf *out)
{
    buf_lit(out, ",\"resultType\":\"complete\",\"_meta\":{" SERVER_INFO "}}}");
}

void mcp_put_subscription_end(struct buf *out, struct str id)
{
    buf_lit(out, "\"resultType\":\"complete\",\"_meta\":{\"" MCP_SUBSCRIPTION "\":");
    buf_str(out, id);
    buf_lit(out, "," SERVER_INFO "}}}");
}

void mcp_put_result(struct buf *out, struct str id, struct str json)
{
    mcp_put_begin(out, id);
    buf_str(out, json);
    mcp_put_end(out);
}

void mcp_put_error(struct buf *out, struct str id, const struct mcp_fault *fault)
{
    put_response_head(out, id);
    buf_printf(out, ",\"error\":{\"code\":%d,\"message\":", (int)fault->code);
    json_put_str(out, fault->message);
    if (fault->data.p) {
        buf_lit(out, ",\"data\":");
        buf_str(out, fault->data);
    }
    buf_lit(out, "}}");
}
