#include "mcp/tools.h"

#include <assert.h>

#include "api/gate.h"
#include "mcp/schema.h"
#include "resources/routes.h"

static bool is_tool(const struct route *row)
{
    return route_needs_key(row) && !row->media && !row->verify && !(row->flags & (ROUTE_PAGE | ROUTE_SITE_ONLY)) &&
           !(row->doc.flags & DOC_NO_TOOL);
}

static const struct route *next_tool(size_t *set, size_t *row)
{
    for (; *set < api_set_count; (*set)++, *row = 0)
        while (*row < api_sets[*set]->count) {
            const struct route *r = &api_sets[*set]->rows[(*row)++];
            if (is_tool(r))
                return r;
        }
    return NULL;
}

const struct route *mcp_tool(struct str name)
{
    const struct route *r;
    for (size_t set = 0, row = 0; (r = next_tool(&set, &row));)
        if (str_eq(name, str_z(r->operation_id)))
            return r;
    return NULL;
}

const struct route *mcp_tool_named(const char *operation_id)
{
    const struct route *row = mcp_tool(str_z(operation_id));
    assert(row);
    return row;
}

struct str mcp_parameter(const struct route *row, size_t i)
{
    struct str name = STR_NONE, rest = str_z(row->path);
    for (size_t k = 0; k <= i; k++) {
        str_cut(rest, '{', &rest);
        if (!rest.p)
            return STR_NONE;
        name = str_cut(rest, '}', &rest);
    }
    if (str_eq(name, STR("buildingId")))
        return STR(MCP_BUILDING_ID);
    return str_eq(name, STR("text")) ? STR("id") : name;
}

/* ---- descriptions ---- */

/* The fields of each variant that one member selects. */
static void put_variant_lines(const struct shape *body, struct buf *text)
{
    if (!body || !body->variants || !(body->variants[0]->fields[0].flags & F_CONST))
        return;
    for (const struct shape *const *v = body->variants; *v; v++) {
        const struct field *tag = &(*v)->fields[0];
        buf_printf(text, "\n%s=%s:", tag->name, tag->values[0]);
        for (size_t i = 1; i < (*v)->field_count; i++)
            buf_printf(text, "%s %s%s", i > 1 ? "," : "", (*v)->fields[i].name,
                       (*v)->fields[i].flags & F_REQUIRED ? "*" : "");
        if ((*v)->doc)
            buf_printf(text, "; %s", (*v)->doc);
    }
}

static void put_description(const struct route *row, struct buf *out)
{
    struct buf text = BUF(1u << 16);
    buf_printf(&text, "%s.", row->doc.summary);
    if (row->doc.description)
        buf_printf(&text, " %s", row->doc.description);
    put_variant_lines(row->body, &text);
    json_put_str(out, buf_view(&text));
    buf_done(&text);
}

/* ---- schemas ---- */

static void put_string_property(struct mcp_members *properties, const char *name)
{
    mcp_put_name(properties, name);
    buf_lit(properties->out, "{\"type\":\"string\"}");
}

/* The building is an argument if a header or the path selects it. */
static bool selects_building(const struct route *row)
{
    return row->building == BUILDING_HEADER || row->building == BUILDING_PATH;
}

static void put_input_properties(const struct route *row, struct buf *out)
{
    struct mcp_members properties = {.out = out};
    struct str name;
    for (size_t i = 0; (name = mcp_parameter(row, i)).p; i++) {
        char text[64] = "";
        memcpy(text, name.p, name.n < sizeof text ? name.n : sizeof text - 1);
        if (strcmp(text, MCP_BUILDING_ID) != 0)
            put_string_property(&properties, text);
    }
    mcp_put_properties(row->query, &properties);
    mcp_put_properties(row->body, &properties);
    if (selects_building(row))
        put_string_property(&properties, MCP_BUILDING_ID);
    if (row->idempotency != NEED_NOT)
        put_string_property(&properties, MCP_IDEMPOTENCY_KEY);
    if (row->match != MATCH_NONE)
        put_string_property(&properties, MCP_IF_MATCH);
}

static void put_input(const struct route *row, struct buf *out)
{
    bool any = false;
    struct str name;
    buf_lit(out, "{\"type\":\"object\",\"properties\":{");
    put_input_properties(row, out);
    buf_lit(out, "},\"required\":[");
    for (size_t i = 0; (name = mcp_parameter(row, i)).p; i++) {
        if (str_eq(name, STR(MCP_BUILDING_ID)))
            continue;
        buf_str(out, any ? STR(",") : STR(""));
        json_put_str(out, name);
        any = true;
    }
    mcp_put_required(row->query, out, &any);
    if (!row->body_optional)
        mcp_put_required(row->body, out, &any);
    buf_lit(out, "],\"additionalProperties\":false}");
}

/* Hints for the client, which may ask its user before a call. A creation destroys nothing; to call anything else that
 * writes may. */
static void put_annotations(const struct route *row, struct buf *out)
{
    const bool creates = row->method == HTTP_POST && (row->doc.status == 201 || row->idempotency != NEED_NOT);
    if (row->method == HTTP_GET)
        buf_lit(out, "{\"readOnlyHint\":true}");
    else
        buf_printf(out, "{\"destructiveHint\":%s,\"idempotentHint\":%s}", creates ? "false" : "true",
                   row->method == HTTP_DELETE || row->method == HTTP_PUT ? "true" : "false");
}

static void put_tool(const struct route *row, struct buf *out)
{
    buf_printf(out, "{\"name\":\"%s\",\"description\":", row->operation_id);
    put_description(row, out);
    buf_lit(out, ",\"inputSchema\":");
    put_input(row, out);
    if (row->reply) {
        buf_lit(out, ",\"outputSchema\":");
        mcp_put_output(row->reply, out);
    }
    buf_lit(out, ",\"annotations\":");
    put_annotations(row, out);
    buf_char(out, '}');
}

void mcp_put_tools(const struct principal *who, struct buf *out)
{
    const struct route *row;
    bool any = false;
    buf_char(out, '[');
    for (size_t set = 0, i = 0; (row = next_tool(&set, &i));) {
        if (!gate_admits(row, who))
            continue;
        buf_str(out, any ? STR(",") : STR(""));
        put_tool(row, out);
        any = true;
    }
    buf_char(out, ']');
}
