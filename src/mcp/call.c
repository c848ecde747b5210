#include "mcp/call.h"

#include <stdlib.h>

#include "api/gate.h"
#include "api/query.h"
#include "api/service.h"
#include "base/schema_text.h"
#include "mcp/exchange.h"
#include "mcp/tools.h"
#include "resources/routes.h"

#define SAME_CALL_US   (120 * US_PER_S) /* the same call within this time is a repetition */
#define NAME_SHOWN     64               /* bytes of an unknown name in a message */
#define KEY_HASH_BYTES 16

struct call {
    struct request *q;
    struct arena *arena;
    const struct route *row;
    json_t *arguments; /* those not taken yet; NULL: none were given */
    struct mcp_values *values;
};

/* A string as it is, anything else as JSON in its usual notation. STR_NONE for null and for nothing. */
static struct str argument_text(struct arena *a, const json_t *value)
{
    if (!value || json_is_null(value))
        return STR_NONE;
    if (json_is_string(value))
        return arena_str(a, str_n(json_string_value(value), json_string_length(value)));
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    const struct str copy = arena_str(a, str_z(text));
    free(text);
    return copy;
}

/* The argument's text; it is left no more. */
static struct str take(struct call *c, struct str name)
{
    const struct str text = argument_text(c->arena, json_object_getn(c->arguments, name.p, name.n));
    json_object_deln(c->arguments, name.p, name.n);
    return text;
}

/* ---- the values of the request ---- */

static void take_path(struct call *c)
{
    struct str *const texts[] = {&c->q->path_text, &c->q->item_text};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct str name = mcp_parameter(c->row, i);
        if (!name.p)
            return;
        const struct str text = take(c, name);
        *texts[i] = text.p ? text : STR("");
    }
}

static void take_query(struct call *c)
{
    const struct shape *shape = c->row->query;
    if (!shape || !json_object_size(c->arguments))
        return;
    c->values->query = json_object();
    json_keep(c->arena, c->values->query);
    for (size_t i = 0; i < shape->field_count; i++) {
        json_t *value = json_object_get(c->arguments, shape->fields[i].name);
        if (value && !json_is_null(value))
            json_object_set(c->values->query, shape->fields[i].name, value);
        json_object_del(c->arguments, shape->fields[i].name);
    }
}

/* In quotes, if it lacks them. */
static struct str quoted_tag(struct call *c, struct str text)
{
    return text.p && !memchr(text.p, '"', text.n) ? arena_printf(c->arena, "\"%.*s\"", STR_ARG(text)) : text;
}

static void take_headers(struct call *c)
{
    struct str *given = c->values->given;
    given[DOOR_IDEMPOTENCY_KEY] = c->row->idempotency == NEED_NOT ? STR_NONE : take(c, STR(MCP_IDEMPOTENCY_KEY));
    given[DOOR_MATCH] = c->row->match == MATCH_NONE ? STR_NONE : quoted_tag(c, take(c, STR(MCP_IF_MATCH)));
    given[DOOR_BUILDING] = c->row->building == BUILDING_HEADER ? take(c, STR(MCP_BUILDING_ID)) : STR_NONE;
}

/* ---- in place of values that are not given ---- */

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
    buf_printf(&text, "%s\n%.*s\n", c->row->operation_id, STR_ARG(caller));
    if (c->arguments)
        json_canonical(c->arguments, &text);
    crypto_sha256(buf_view(&text), ret);
    crypto_wipe(text.p, text.n);
    buf_done(&text);
}

/* Before any argument is taken. */
static void make_keys(struct call *c)
{
    unsigned char hash[SHA256_LEN];
    const int64_t period = c->q->tx.now_us / SAME_CALL_US;
    if (c->row->idempotency == NEED_NOT)
        return;
    hash_call(c, hash);
    c->values->made_key = made_key(c, hash, period);
    c->values->earlier_key = made_key(c, hash, period - 1);
}

/* The earlier key if it has been used, whatever for, else the other one. */
static enum err choose_key(struct request *q, const struct mcp_values *v, struct str *ret)
{
    q->idempotency_key = v->earlier_key;
    const enum err e = q->route->receipt(q);
    q->tx.why = STR_NONE;
    *ret = e == ERR_NOT_FOUND ? v->made_key : v->earlier_key;
    return e == ERR_NOT_FOUND || e == ERR_IDEMPOTENCY_CONFLICT ? ERR_NONE : e;
}

static enum err current_tag(struct request *q, const struct mcp_values *v, struct str *ret)
{
    struct reply reply;
    enum err e = v->tag ? service_read(q, v->tag, &reply) : ERR_INTERNAL_ERROR;
    if (!e)
        *ret = reply_header_value(&reply, "ETag");
    return e;
}

/* ---- operations of the door ---- */

static const struct mcp_values *values_of(const struct request *q)
{
    const struct mcp_exchange *x = q->entry;
    return &x->values;
}

enum err mcp_call_value(struct request *q, enum door_value which, struct str *ret, size_t *ret_count)
{
    const struct mcp_values *v = values_of(q);
    *ret = v->given[which];
    *ret_count = ret->p || which != DOOR_BUILDING;
    if (ret->p || which == DOOR_BUILDING)
        return ERR_NONE;
    return which == DOOR_MATCH ? current_tag(q, v, ret) : choose_key(q, v, ret);
}

uint32_t mcp_call_scopes(const struct request *q)
{
    const struct mcp_values *v = values_of(q);
    return v->tag ? v->tag->scopes : 0;
}

/* Numbers and truth values as they are, anything else by its text, as in a query of HTTP. */
static bool add_parameter(const struct field *f, json_t *value, struct arena *a, json_t *values,
                          struct schema_fault *ret_fault)
{
    const bool number = f->type == T_INT && json_is_integer(value) && json_integer_value(value) >= 0;
    if (number || (f->type == T_BOOL && json_is_boolean(value)))
        return json_object_set(values, f->name, value) == 0;
    return query_add(f, argument_text(a, value), a, values, ret_fault);
}

bool mcp_call_query(struct request *q, void *ret, struct schema_fault *ret_fault)
{
    const struct shape *shape = q->route->query;
    const json_t *given = values_of(q)->query;
    json_t *values = json_object();
    bool read = true;
    for (size_t i = 0; read && i < shape->field_count; i++) {
        json_t *value = json_object_get(given, shape->fields[i].name);
        read = !value || add_parameter(&shape->fields[i], value, q->tx.arena, values, ret_fault);
    }
    read = read && query_read_values(shape, values, q->tx.arena, ret, ret_fault);
    json_decref(values);
    return read;
}

enum err mcp_call_body(struct request *q, json_t **ret)
{
    json_t *body = values_of(q)->body;
    if (!body && q->route->body_optional) {
        *ret = json_object();
        return ERR_NONE;
    }
    if (!gate_has_media(q, STR("application/json")))
        return tx_fail(&q->tx, ERR_INVALID_JSON, "Content-Type must be application/json");
    *ret = body ? json_incref(body) : json_object();
    return ERR_NONE;
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

bool mcp_call_make(struct request *q, const struct route *row, json_t *arguments, struct str *ret_why)
{
    struct mcp_exchange *x = q->entry;
    struct call c = {.q = q, .arena = q->tx.arena, .row = row, .arguments = arguments, .values = &x->values};
    make_keys(&c);
    take_path(&c);
    take_query(&c);
    take_headers(&c);
    x->values.tag = row->match != MATCH_NONE && !x->values.given[DOOR_MATCH].p ? tag_row(row) : NULL;
    const char *left = json_object_iter_key(json_object_iter(arguments));
    if (left && !row->body) {
        *ret_why = arena_printf(c.arena, "%s has no argument %.*s.", row->operation_id,
                                STR_ARG(text_start(str_z(left), NAME_SHOWN)));
        return false;
    }
    x->values.body = left ? arguments : NULL;
    set_call_method(q->http, row->method);
    service_become(q, row);
    return true;
}
