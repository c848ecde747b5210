#include "mcp/call.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>

#include "api/service.h"
#include "base/schema_text.h"
#include "mcp/exchange.h"
#include "mcp/tools.h"
#include "resources/routes.h"

#define SAME_CALL_US   (120 * US_PER_S) /* the same call within this time is a repetition */
#define HEADERS_ADDED  3
#define TAKEN_MAX      32 /* arguments that stand for parts of the path, parameters and headers */
#define NAME_SHOWN     64 /* bytes of an unknown name in a message */
#define KEY_HASH_BYTES 16

struct call {
    struct request *q;
    struct arena *arena;
    const struct route *row;
    const struct json_node *arguments;        /* an object; NULL: none */
    const struct json_node *taken[TAKEN_MAX]; /* arguments that are not members of the body */
    size_t taken_count;
};

/* ---- texts of arguments ---- */

/* A string as it is, anything else as JSON in its usual notation. STR_NONE for null and for nothing. */
static struct str argument_text(struct call *c, const struct json_node *value)
{
    json_t *json;
    if (!value || json_node_is_null(value))
        return STR_NONE;
    if (json_node_is_string(value))
        return arena_str(c->arena, json_node_string(value, c->arena));
    if (json_read(value->text, &json))
        return STR_NONE;
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
    const struct str copy = arena_str(c->arena, str_z(text));
    free(text);
    json_decref(json);
    return copy;
}

static struct str take_named(struct call *c, struct str name)
{
    const struct json_node *value = json_node_member(c->arguments, name);
    if (value) {
        assert(c->taken_count < TAKEN_MAX);
        c->taken[c->taken_count++] = value;
    }
    return argument_text(c, value);
}

/* The argument's text; it is no member of the body then. */
static struct str take(struct call *c, const char *name)
{
    return take_named(c, str_z(name));
}

static bool is_taken_argument(const struct call *c, const struct json_node *argument)
{
    for (size_t i = 0; i < c->taken_count; i++)
        if (c->taken[i] == argument)
            return true;
    return false;
}

/* The first argument that is not taken, or the first after that one; NULL: all are. */
static const struct json_node *left_after(const struct call *c, const struct json_node *n)
{
    n = n ? json_node_after(c->arguments, n) : json_node_first(c->arguments);
    while (n && is_taken_argument(c, n))
        n = json_node_after(c->arguments, n);
    return n;
}

static void put_encoded(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        const unsigned char c = (unsigned char)s.p[i];
        if (isalnum(c) || c == '-' || c == '_' || c == '.')
            buf_char(b, (char)c);
        else
            buf_printf(b, "%%%02X", c);
    }
}

/* ---- the parts of the request ---- */

static void set_path(struct call *c)
{
    struct str *const texts[] = {&c->q->path_text, &c->q->item_text};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct str name = mcp_parameter(c->row, i);
        if (!name.p)
            return;
        const struct str text = take_named(c, name);
        *texts[i] = text.p ? text : STR("");
    }
}

static void set_query(struct call *c)
{
    struct buf query = BUF(HTTP_MAX_BODY * 4);
    const struct shape *shape = c->row->query;
    for (size_t i = 0; shape && i < shape->field_count; i++) {
        const struct str value = take(c, shape->fields[i].name);
        if (!value.p)
            continue;
        buf_printf(&query, "%s%s=", query.n ? "&" : "", shape->fields[i].name);
        put_encoded(&query, value);
    }
    c->q->http->query = query.n ? arena_str(c->arena, buf_view(&query)) : STR_NONE;
    buf_done(&query);
}

/* In quotes, if it lacks them. */
static struct str quoted_tag(struct call *c, struct str text)
{
    return text.p && !memchr(text.p, '"', text.n) ? arena_printf(c->arena, "\"%.*s\"", STR_ARG(text)) : text;
}

static bool is_replaced(struct str name)
{
    return str_eqi(name, STR("Idempotency-Key")) || str_eqi(name, STR("If-Match")) ||
           str_eqi(name, STR("X-Service-Building-Id"));
}

/* The head of the message, with the arguments in place of the headers that they stand for. */
static void set_call_headers(struct call *c)
{
    struct http_request *r = c->q->http;
    struct http_header *headers = arena_array(c->arena, struct http_header, r->header_count + HEADERS_ADDED);
    size_t n = 0;
    for (size_t i = 0; i < r->header_count; i++)
        if (!is_replaced(r->headers[i].name))
            headers[n++] = r->headers[i];
    const struct http_header added[HEADERS_ADDED] = {
        {STR("Idempotency-Key"), c->row->idempotency == NEED_NOT ? STR_NONE : take(c, MCP_IDEMPOTENCY_KEY)},
        {STR("If-Match"), c->row->match == MATCH_NONE ? STR_NONE : quoted_tag(c, take(c, MCP_IF_MATCH))},
        {STR("X-Service-Building-Id"), c->row->building == BUILDING_HEADER ? take(c, MCP_BUILDING_ID) : STR_NONE},
    };
    for (size_t i = 0; i < HEADERS_ADDED; i++)
        if (added[i].value.p)
            headers[n++] = added[i];
    r->headers = headers;
    r->header_count = n;
}

/* All arguments that are left, as they are written. */
static struct str body_text(struct call *c)
{
    struct buf text = BUF(HTTP_MAX_BODY * 8);
    if (c->arguments && !c->taken_count)
        return c->arguments->text;
    buf_char(&text, '{');
    for (const struct json_node *n = NULL; (n = left_after(c, n));) {
        buf_str(&text, text.n > 1 ? STR(",") : STR(""));
        json_put_str(&text, n->name);
        buf_char(&text, ':');
        buf_str(&text, n->text);
    }
    buf_char(&text, '}');
    const struct str copy = arena_str(c->arena, buf_view(&text));
    buf_done(&text);
    return copy;
}

static void set_body(struct call *c)
{
    const bool omitted = !c->row->body || (c->row->body_optional && !left_after(c, NULL));
    c->q->http->has_body = !omitted;
    c->q->http->body = omitted ? STR("") : body_text(c);
}

/* ---- stand-ins ---- */

/* The row of GET at the same path, which gives the tag; NULL: there is none. */
static const struct route *tag_row(const struct route *row)
{
    for (size_t set = 0; set < api_set_count; set++)
        for (size_t i = 0; i < api_sets[set]->count; i++) {
            const struct route *r = &api_sets[set]->rows[i];
            if (r->method == HTTP_GET && r->flags & ROUTE_ETAG && strcmp(r->path, row->path) == 0)
                return r;
        }
    return NULL;
}

/* An Idempotency-Key from the key of the caller, the tool, its arguments and the time; not from the ID of the message,
 * because clients repeat a call under another one. */
static struct str made_key(struct call *c, const unsigned char call_hash[static SHA256_LEN], int64_t period)
{
    unsigned char hash[SHA256_LEN];
    char text[2 * KEY_HASH_BYTES + 1], whole[2 * SHA256_LEN + 1];
    hex_encode(call_hash, SHA256_LEN, whole);
    crypto_sha256(arena_printf(c->arena, "%s %lld", whole, (long long)period), hash);
    hex_encode(hash, KEY_HASH_BYTES, text);
    return arena_printf(c->arena, "mcp-%s", text);
}

static void hash_call(struct call *c, unsigned char ret[static SHA256_LEN])
{
    const struct str caller = http_header(c->q->http, STR("Authorization"), NULL);
    struct buf text = BUF(HTTP_MAX_BODY * 8);
    json_t *arguments = NULL;
    buf_printf(&text, "%s\n%.*s\n", c->row->operation_id, STR_ARG(caller));
    if (c->arguments && !json_read(c->arguments->text, &arguments))
        json_canonical(arguments, &text);
    json_decref(arguments);
    crypto_sha256(buf_view(&text), ret);
    crypto_wipe(text.p, text.n);
    buf_done(&text);
}

static void set_stand_ins(struct call *c)
{
    struct mcp_exchange *x = c->q->entry;
    const struct json_node *given = json_node_member(c->arguments, STR(MCP_IF_MATCH));
    const bool is_read = c->row->match != MATCH_NONE && (!given || json_node_is_null(given));
    x->tag = is_read ? tag_row(c->row) : NULL;
    if (c->row->idempotency != NEED_NOT) {
        unsigned char hash[SHA256_LEN];
        const int64_t period = c->q->tx.now_us / SAME_CALL_US;
        hash_call(c, hash);
        x->key = made_key(c, hash, period);
        x->earlier_key = made_key(c, hash, period - 1);
    }
}

/* The earlier key if it has been used, whatever for, else the other one. */
static enum err choose_key(struct request *q, struct str *ret)
{
    const struct mcp_exchange *x = q->entry;
    q->idempotency_key = x->earlier_key;
    const enum err e = q->route->receipt(q);
    q->tx.why = STR_NONE;
    *ret = e == ERR_NOT_FOUND ? x->key : x->earlier_key;
    return e == ERR_NOT_FOUND || e == ERR_IDEMPOTENCY_CONFLICT ? ERR_NONE : e;
}

static enum err current_tag(struct request *q, struct str *ret)
{
    const struct mcp_exchange *x = q->entry;
    struct reply reply;
    enum err e = x->tag ? service_read(q, x->tag, &reply) : ERR_INTERNAL_ERROR;
    if (!e)
        *ret = reply_header_value(&reply, "ETag");
    return e;
}

enum err mcp_call_value(struct request *q, enum door_value which, struct str *ret, size_t *ret_count)
{
    enum err e = door_header(q, which, ret, ret_count);
    if (e || *ret_count || which == DOOR_BUILDING)
        return e;
    *ret_count = 1;
    return which == DOOR_MATCH ? current_tag(q, ret) : choose_key(q, ret);
}

uint32_t mcp_call_scopes(const struct request *q)
{
    const struct mcp_exchange *x = q->entry;
    return x->tag ? x->tag->scopes : 0;
}

/* ---- the call ---- */

static void set_call_method(struct http_request *r, enum http_method method)
{
    static const struct str names[] = {[HTTP_GET] = {"GET", 3},
                                       [HTTP_POST] = {"POST", 4},
                                       [HTTP_PUT] = {"PUT", 3},
                                       [HTTP_PATCH] = {"PATCH", 5},
                                       [HTTP_DELETE] = {"DELETE", 6}};
    r->method = method;
    r->method_text = names[method];
}

bool mcp_call_make(struct request *q, const struct route *row, const struct json_node *arguments, struct str *ret_why)
{
    struct call c = {.q = q, .arena = q->tx.arena, .row = row, .arguments = arguments};
    set_stand_ins(&c);
    set_path(&c);
    set_query(&c);
    set_call_headers(&c);
    const struct json_node *left = left_after(&c, NULL);
    if (left && !row->body) {
        *ret_why = arena_printf(c.arena, "%s has no argument %.*s.", row->operation_id,
                                STR_ARG(text_start(left->name, NAME_SHOWN)));
        return false;
    }
    set_body(&c);
    set_call_method(q->http, row->method);
    service_become(q, row);
    return true;
}
