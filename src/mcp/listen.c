#include "mcp/listen.h"

#include "mcp/call.h"
#include "mcp/frame.h"
#include "mcp/tools.h"
#include "resources/events.h"
#include "resources/oauth_request.h"

#define TEXT_MAX 8192
#define DATA     "data: "
#define DATA_END "\n\n"

/* ---- messages ---- */

static void put_notification(struct buf *out, const char *method, struct str id)
{
    buf_printf(out, DATA "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\",\"params\":{\"_meta\":{\"", method);
    buf_lit(out, MCP_SUBSCRIPTION "\":");
    buf_str(out, id);
    buf_lit(out, "}");
}

static void put_acknowledgement(struct buf *out, struct str id, unsigned wanted)
{
    const struct mcp_resource *r;
    bool any = false;
    put_notification(out, "subscriptions/acknowledged", id);
    buf_str(out, wanted ? STR(",\"notifications\":{\"resourceSubscriptions\":[") : STR(",\"notifications\":{"));
    for (size_t i = 0; (r = mcp_resource_at(i)); i++)
        if (wanted & 1u << i) {
            buf_printf(out, "%s\"%s\"", any ? "," : "", r->uri);
            any = true;
        }
    buf_str(out, wanted ? STR("]}}}" DATA_END) : STR("}}}" DATA_END));
}

static void put_ending(struct buf *out, struct str id)
{
    buf_lit(out, DATA);
    mcp_put_begin(out, id);
    mcp_put_subscription_end(out, id);
    buf_lit(out, DATA_END);
}

/* ---- the stream ---- */

static void listen_begin(const struct hub_reader *r, struct buf *out)
{
    put_acknowledgement(out, str_z(r->tag), r->wanted);
}

/* Once for each resource, however many events. */
static void listen_news(const struct hub_reader *r, uint32_t types, struct buf *out)
{
    const struct mcp_resource *resource;
    for (size_t i = 0; (resource = mcp_resource_at(i)); i++) {
        if (!(r->wanted & 1u << i) || !(resource->events & types))
            continue;
        put_notification(out, "resources/updated", str_z(r->tag));
        buf_printf(out, ",\"uri\":\"%s\"}}" DATA_END, resource->uri);
    }
}

static void listen_end(const struct hub_reader *r, struct buf *out)
{
    put_ending(out, str_z(r->tag));
}

static const struct hub_form form = {listen_begin, listen_news, listen_end};

/* ---- the request ---- */

/* The wanted resources that the key may read. */
static unsigned admitted(const struct request *q, unsigned wanted, uint32_t *ret_scopes)
{
    const struct mcp_resource *r;
    unsigned set = 0;
    *ret_scopes = 0;
    for (size_t i = 0; (r = mcp_resource_at(i)); i++)
        if (wanted & 1u << i && mcp_resource_admits(r, &q->who)) {
            set |= 1u << i;
            *ret_scopes |= mcp_tool_named(r->operation)->scopes;
        }
    return set;
}

/* Nothing of it can be announced: it is acknowledged and ends. */
static enum err listen_to_nothing(struct request *q, struct reply *p, struct str id)
{
    struct buf text = BUF(TEXT_MAX);
    put_acknowledgement(&text, id, 0);
    put_ending(&text, id);
    p->status = 200;
    p->media = "text/event-stream";
    p->raw = arena_str(q->tx.arena, buf_view(&text));
    buf_done(&text);
    return ERR_NONE;
}

static enum err listen_handler(struct request *q, struct reply *p)
{
    const struct mcp_exchange *x = q->entry;
    uint32_t scopes;
    struct hub_reader *r;
    const unsigned wanted = admitted(q, x->wanted, &scopes);
    if (!wanted)
        return listen_to_nothing(q, p, x->id);
    enum err e = events_reader(q, scopes, &r);
    if (e)
        return e;
    r->form = &form;
    r->wanted = wanted;
    memcpy(r->tag, x->id.p, x->id.n);
    events_reply(p, r);
    return ERR_NONE;
}

static const struct route listen_row =
    ROUTE("mcpListen", POST, MCP_PATH, .credential = CRED_KEY, .limit = LIMIT_KEY, .building = BUILDING_HEADER,
          .run = RUN_READ, .handler = listen_handler, .media = "text/event-stream",
          .doc = ROUTE_DOC("Service", 200, "Changes for assistants"));

/* The resources of the list. Unknown ones are not acknowledged. */
static unsigned resources_named(const json_t *uris)
{
    unsigned set = 0;
    size_t k;
    const json_t *uri;
    const struct mcp_resource *r;
    json_array_foreach (uris, k, uri)
        for (size_t i = 0; (r = mcp_resource_at(i)); i++)
            if (json_is_string(uri) && strcmp(json_string_value(uri), r->uri) == 0)
                set |= 1u << i;
    return set;
}

bool mcp_listen(struct request *q, struct mcp_exchange *x, const struct mcp_message *m, const char **ret_why)
{
    const struct json_node *filter = json_node_member(m->params, STR("notifications"));
    const struct json_node *uris = json_node_member(filter, STR("resourceSubscriptions"));
    json_t *list = NULL;
    struct str why;
    *ret_why = NULL;
    if (!json_node_is_object(filter))
        *ret_why = "notifications must be an object.";
    else if (m->id.n >= HUB_TAG_MAX)
        *ret_why = "The id of a subscription must be shorter.";
    else if (uris && (json_read(uris->text, &list) || !json_is_array(list)))
        *ret_why = "resourceSubscriptions must be a list.";
    x->wanted = resources_named(list);
    json_decref(list);
    if (*ret_why || !mcp_call_make(q, &listen_row, NULL, &why))
        return false;
    x->frame = mcp_frame_listen;
    return true;
}
