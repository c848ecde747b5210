#include "providers/rest.h"

#include <glib.h>

#include "base/crypto.h"

#define FIELDS_MAX 16384
#define FORM_TYPE  "application/x-www-form-urlencoded"

/* ---- the request ---- */

/* application/x-www-form-urlencoded; STR_NONE if it is too long. */
static struct str encode_fields(const struct rest_request *request, struct arena *a)
{
    struct buf b = BUF(FIELDS_MAX);
    for (size_t i = 0; i < request->field_count; i++) {
        const struct rest_field *f = &request->fields[i];
        char *value = g_uri_escape_bytes((const guint8 *)f->value.p, f->value.n, NULL);
        buf_printf(&b, "%s%s=%s", i ? "&" : "", f->name, value);
        g_free(value);
    }
    struct str text = b.full ? STR_NONE : arena_str(a, buf_view(&b));
    crypto_wipe(b.p, b.n);
    buf_done(&b);
    return text;
}

enum net_exchange rest_exchange(const struct rest *r, const struct rest_request *request, struct arena *a,
                                struct net_answer *ret)
{
    bool get = strcmp(request->method, "GET") == 0, post = strcmp(request->method, "POST") == 0;
    struct str fields = encode_fields(request, a);
    if (!fields.p)
        return NET_NOT_SENT;
    struct net_header *headers = arena_array(a, struct net_header, request->header_count + 1);
    if (request->header_count)
        memcpy(headers, request->headers, request->header_count * sizeof *headers);
    headers[request->header_count] = (struct net_header){"Content-Type", STR(FORM_TYPE)};
    struct str query = get && fields.n ? arena_printf(a, "?%.*s", STR_ARG(fields)) : STR("");
    const struct net_call call = {
        .method = request->method,
        .url = arena_printf(a, "%.*s%.*s%.*s", STR_ARG(r->root), STR_ARG(request->path), STR_ARG(query)),
        .headers = headers,
        .header_count = request->header_count + post,
        .user = r->user,
        .password = r->password,
        .body = post ? fields : STR_NONE,
        .repeatable = request->repeatable,
        .timeout_ms = r->timeout_ms,
        .answer_max = REST_ANSWER_MAX};
    return net_client_call(r->client, &call, a, ret);
}

/* ---- the response ---- */

static json_t *read_json_object(const struct net_answer *http)
{
    json_t *body;
    if (!str_eqi(http->type, STR("application/json")) || json_read(http->body, &body))
        return NULL;
    if (json_is_object(body))
        return body;
    json_decref(body);
    return NULL;
}

struct rest_answer rest_call(const struct rest *r, const struct rest_request *request, struct arena *a)
{
    struct net_answer http;
    struct rest_answer answer = {.exchange = rest_exchange(r, request, a, &http)};
    if (answer.exchange == NET_ANSWERED) {
        answer.status = http.status;
        answer.body = read_json_object(&http);
    }
    return answer;
}

const char *rest_reason(enum net_exchange exchange)
{
    return exchange == NET_ANSWERED ? "answer" : exchange == NET_NOT_SENT ? "not_sent" : "no_answer";
}

struct str rest_text(const json_t *object, const char *name)
{
    const json_t *v = json_object_get(object, name);
    return json_is_string(v) ? str_n(json_string_value(v), json_string_length(v)) : STR_NONE;
}
