#include "mcp/call.h"

#include <assert.h>
#include <stdlib.h>

#include "api/gate.h"
#include "api/query.h"
#include "api/service.h"
#include "base/schema_text.h"
#include "mcp/exchange.h"
#include "mcp/tools.h"
#include "resources/routes.h"

#define SAME_CALL_US   (120 * US_PER_S) /* the same call within this time is a repetition */
#define TAKEN_MAX      32               /* arguments that stand for parts of the path, parameters and headers */
#define NAME_SHOWN     64               /* bytes of an unknown name in a message */
#define KEY_HASH_BYTES 16

#define SAME_WISHES_MAX 16 /* the same call within a period, each after the end of what the one before it made */

struct call {
    struct request *q;
    struct arena *arena;
    const struct route *row;
    const struct json_node *arguments;        /* an object; NULL: none */
    const struct json_node *taken[TAKEN_MAX]; /* arguments that are not members of the body */
    size_t taken_count;
    struct mcp_values *values;
};

/* ---- arguments ---- */

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

/* The argument's text; it is no member of the body then. */
static struct str take_argument(struct call *c, struct str name)
{
    const struct json_node *value = json_node_member(c->arguments, name);
    if (value) {
        assert(c->taken_count < TAKEN_MAX);
        c->taken[c->taken_count++] = value;
    }
    return argument_text(c, value);
}

static bool is_taken_argument(const struct call *c, const struct json_node *argument)
{
    for (size_t i = 0; i < c->taken_count; i++)
        if (c->taken[i] == argument)
            return true;
    return false;
}

/* The first argument that is not taken; NULL: all are. */
static const struct json_node *first_left(const struct call *c)
{
    const struct json_node *n = json_node_first(c->arguments);
    while (n && is_taken_argument(c, n))
        n = json_node_after(c->arguments, n);
    return n;
}

/* ---- the values of the request ---- */

static void take_path(struct call *c)
{
    struct str *const texts[] = {&c->q->path_text, &c->q->item_text};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct str name = mcp_parameter(c->row, i);
        if (!name.p)
            return;
        const struct str text = take_argument(c, name);
        *texts[i] = text.p ? text : STR("");
    }
}

static void take_query(struct call *c)
{
    struct mcp_values *v = c->values;
    const struct shape *shape = c->row->query;
    bool good = true;
    if (!shape || !json_node_first(c->arguments))
        return;
    v->query = json_object();
    json_keep(c->arena, v->query);
    for (size_t i = 0; i < shape->field_count; i++) {
        const struct str text = take_argument(c, str_z(shape->fields[i].name));
        good = good && (!text.p || query_add(&shape->fields[i], text, c->arena, v->query, &v->query_fault));
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
    given[DOOR_IDEMPOTENCY_KEY] =
        c->row->idempotency == NEED_NOT ? STR_NONE : take_argument(c, STR(MCP_IDEMPOTENCY_KEY));
    given[DOOR_MATCH] = c->row->match == MATCH_NONE ? STR_NONE : quoted_tag(c, take_argument(c, STR(MCP_IF_MATCH)));
    given[DOOR_BUILDING] = c->row->building == BUILDING_HEADER ? take_argument(c, STR(MCP_BUILDING_ID)) : STR_NONE;
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

static struct str hashed_key(struct arena *a, struct str of)
{
    unsigned char hash[SHA256_LEN];
    char text[2 * KEY_HASH_BYTES + 1];
    crypto_sha256(of, hash);
    hex_encode(hash, KEY_HASH_BYTES, text);
    return arena_printf(a, "mcp-%s", text);
}

/* An Idempotency-Key from the key of the caller, the tool, its arguments and the time; not from the ID of the message,
 * because clients repeat a call under another one. */
static struct str made_key(struct call *c, const unsigned char call_hash[static SHA256_LEN], int64_t period)
{
    char whole[2 * SHA256_LEN + 1];
    hex_encode(call_hash, SHA256_LEN, whole);
    return hashed_key(c->arena, arena_printf(c->arena, "%s %lld", whole, (long long)period));
}

static void hash_call(struct call *c, const json_t *arguments, unsigned char ret[static SHA256_LEN])
{
    const struct str caller = http_header(c->q->http, STR("Authorization"), NULL);
    struct buf text = BUF(HTTP_MAX_BODY * 8);
    buf_printf(&text, "%s\n%.*s\n", c->row->operation_id, STR_ARG(caller));
    if (arguments)
        json_canonical(arguments, &text);
    crypto_sha256(buf_view(&text), ret);
    crypto_wipe(text.p, text.n);
    buf_done(&text);
}

static void make_keys(struct call *c, const json_t *arguments)
{
    unsigned char hash[SHA256_LEN];
    const int64_t period = c->q->tx.now_us / SAME_CALL_US;
    hash_call(c, arguments, hash);
    c->values->made_key = made_key(c, hash, period);
    c->values->earlier_key = made_key(c, hash, period - 1);
}

/* Whether the key has been used, whatever for. */
static enum err is_used(struct request *q, struct str key, bool *ret)
{
    q->idempotency_key = key;
    q->receipt_ended = false;
    const enum err e = q->route->receipt(q);
    q->tx.why = STR_NONE;
    if (e && e != ERR_NOT_FOUND && e != ERR_IDEMPOTENCY_CONFLICT)
        return e;
    *ret = e != ERR_NOT_FOUND;
    return ERR_NONE;
}

/* The first of a line of keys that is not used, or whose object has not ended. */
static enum err follow_keys(struct request *q, struct str *key, bool *ret_used)
{
    for (int i = 0; i < SAME_WISHES_MAX; i++) {
        enum err e = is_used(q, *key, ret_used);
        if (e || !*ret_used || !q->receipt_ended)
            return e;
        *key = hashed_key(q->tx.arena, *key);
    }
    return ERR_NONE;
}

/* The key that a repetition has, of this period or the one before it; else the next of this one. */
static enum err choose_key(struct request *q, const struct mcp_values *v, struct str *ret)
{
    struct str earlier = v->earlier_key, key = v->made_key;
    bool used = false;
    enum err e = follow_keys(q, &earlier, &used);
    if (!e && !used)
        e = follow_keys(q, &key, &used);
    else
        key = earlier;
    if (!e)
        *ret = key;
    return e;
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

bool mcp_call_query(struct request *q, void *ret, struct schema_fault *ret_fault)
{
    const struct mcp_values *v = values_of(q);
    *ret_fault = v->query_fault;
    return !v->query_fault.message.p && query_read_values(q->route->query, v->query, q->tx.arena, ret, ret_fault);
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

static const struct field *body_field(const struct shape *body, const char *name)
{
    for (size_t i = 0; i < body->field_count; i++)
        if (strcmp(name, body->fields[i].name) == 0)
            return &body->fields[i];
    const struct field *f = NULL;
    for (const struct shape *const *v = body->fields ? NULL : body->variants; v && *v && !f; v++)
        f = body_field(*v, name);
    return f;
}

/* Some models send null for each argument that they do not give. Only in a change null can be a value. */
static void leave_out_nulls(const struct route *row, json_t *values)
{
    const bool changes = row->method == HTTP_PATCH || row->method == HTTP_PUT;
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(values, next, name, value)
    {
        const struct field *f = json_is_null(value) ? body_field(row->body, name) : NULL;
        if (f && !(changes && f->flags & F_NULLABLE))
            json_object_del(values, name);
    }
}

/* Reads the arguments: a made key depends on all of them; the body has the others. */
static void read_arguments(struct call *c)
{
    json_t *values = NULL;
    const bool keyed = c->row->idempotency != NEED_NOT;
    if (c->arguments && (keyed || c->row->body) && !json_read(c->arguments->text, &values))
        json_keep(c->arena, values);
    if (keyed)
        make_keys(c, values);
    for (size_t i = 0; values && i < c->taken_count; i++)
        json_object_deln(values, c->taken[i]->name.p, c->taken[i]->name.n);
    if (c->row->body)
        leave_out_nulls(c->row, values);
    c->values->body = json_object_size(values) ? values : NULL;
}

bool mcp_call_make(struct request *q, const struct route *row, const struct json_node *arguments, struct str *ret_why)
{
    struct mcp_exchange *x = q->entry;
    struct call c = {.q = q, .arena = q->tx.arena, .row = row, .arguments = arguments, .values = &x->values};
    take_path(&c);
    take_query(&c);
    take_headers(&c);
    const struct json_node *left = row->body ? NULL : first_left(&c);
    if (left) {
        *ret_why = arena_printf(c.arena, "%s has no argument %.*s.", row->operation_id,
                                STR_ARG(text_start(left->name, NAME_SHOWN)));
        return false;
    }
    read_arguments(&c);
    x->values.tag = row->match != MATCH_NONE && !x->values.given[DOOR_MATCH].p ? tag_row(row) : NULL;
    q->http->method = row->method;
    q->http->method_text = http_method_names[row->method];
    service_become(q, row);
    return true;
}
