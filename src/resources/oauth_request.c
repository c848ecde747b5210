#include "resources/oauth_request.h"

#include <glib.h>

#include "api/parts.h"
#include "base/form.h"

#define FIELDS_MAX 32

/* Scheme and host in any case, as the protocol asks for. */
bool oauth_resource_of(const struct request *q, struct str resource, enum oauth_resource *ret)
{
    const struct str base = str_z(q->parts->public_url);
    *ret = OAUTH_ANY;
    if (!resource.p)
        return true;
    if (resource.n < base.n || !str_eqi(str_n(resource.p, base.n), base))
        return false;
    const struct str path = str_from(resource, base.n);
    *ret = str_eq(path, STR(MCP_PATH)) ? OAUTH_MCP : OAUTH_SERVICE;
    return *ret == OAUTH_MCP || !path.n || str_eq(path, STR("/"));
}

/* RFC 6749 section 3.1: no parameter twice. */
static bool names_differ(const struct form *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(f->fields[i].name, f->fields[k].name))
                return false;
    return true;
}

/* A parameter without a value counts as omitted. */
static struct str parameter(const struct form *f, const char *name)
{
    const struct str value = form_value(f, name);
    return value.n ? value : STR_NONE;
}

static bool is_challenge(struct str s)
{
    size_t n = 0;
    while (n < s.n && (g_ascii_isalnum(s.p[n]) || s.p[n] == '-' || s.p[n] == '_'))
        n++;
    return n == OAUTH_CHALLENGE && s.n == n;
}

static const char *request_fault(struct request *q, const struct form *f, struct oauth_request *r)
{
    if (!names_differ(f) || !parameter(f, "response_type").p)
        return "invalid_request";
    if (!str_eq(parameter(f, "response_type"), STR("code")))
        return "unsupported_response_type";
    if (!is_challenge(r->challenge) || !str_eq(parameter(f, "code_challenge_method"), STR("S256")))
        return "invalid_request";
    return oauth_resource_of(q, parameter(f, "resource"), &r->resource) ? NULL : "invalid_target";
}

/* Sets address and client. */
static bool find_client(struct request *q, struct str id, const struct oauth_client *known, struct oauth_request *r)
{
    if (!q->tx.config->oauth_client_documents || !oauth_client_is_address(id))
        return oauth_client_read(q->tx.arena, id, &r->client);
    r->address = id;
    const bool is_known = known && str_eq(known->id, id);
    if (is_known)
        r->client = *known;
    return is_known;
}

bool oauth_request_needs_document(const struct oauth_request *r)
{
    return r->address.p && !r->client.id.p;
}

void oauth_request_read(struct request *q, struct str query, const struct oauth_client *known,
                        struct oauth_request *ret)
{
    struct oauth_request r = {.error = "invalid_request"};
    struct form f;
    *ret = r;
    if (query.n > OAUTH_QUERY_MAX || !form_read(query, FIELDS_MAX, q->tx.arena, &f))
        return;
    if (!find_client(q, form_value(&f, "client_id"), known, &r)) {
        ret->address = r.address;
        return;
    }
    const struct str uri = form_value(&f, "redirect_uri");
    if (oauth_client_has_redirect(&r.client, uri))
        r.redirect_uri = uri;
    r.state = parameter(&f, "state");
    r.challenge = parameter(&f, "code_challenge");
    r.scopes = key_scopes_named(parameter(&f, "scope"));
    if (!r.scopes)
        r.scopes = key_scopes_current.standard;
    r.error = r.redirect_uri.p ? request_fault(q, &f, &r) : "invalid_request";
    *ret = r;
}

static void put_parameter(struct buf *out, const char *name, struct str value)
{
    char *text = g_uri_escape_bytes((const guint8 *)value.p, value.n, NULL);
    buf_printf(out, "%s=%s", name, text);
    g_free(text);
}

struct str oauth_request_answer(struct request *q, const struct oauth_request *r, const char *name, struct str value)
{
    if (!r->redirect_uri.p)
        return STR_NONE;
    struct buf b = BUF(4 * OAUTH_QUERY_MAX);
    buf_str(&b, r->redirect_uri);
    buf_char(&b, memchr(r->redirect_uri.p, '?', r->redirect_uri.n) ? '&' : '?');
    put_parameter(&b, name, value);
    if (r->state.p) {
        buf_char(&b, '&');
        put_parameter(&b, "state", r->state);
    }
    buf_char(&b, '&');
    put_parameter(&b, "iss", str_z(q->parts->public_url));
    const struct str answer = b.full ? STR_NONE : arena_str(q->tx.arena, buf_view(&b));
    buf_done(&b);
    return answer;
}
