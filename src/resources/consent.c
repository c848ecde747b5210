/* The resident's consent to an assistant that asks for access: the page's data, and the decision. */
#include "api/parts.h"
#include "api/scopes.h"
#include "resources/client_documents.h"
#include "resources/oauth_request.h"
#include "resources/routes.h"

#define TAG "Assistants"

struct consent_view {
    struct val client, client_host, unread, host, this_device, scopes, error, reason, back, voucher;
};
static const struct field view_fields[] = {
    FIELD(struct consent_view, client, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "the name that the assistant has chosen; null: this service does not know it"),
    FIELD(struct consent_view, client_host, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "of an assistant that is known by the address of its document: the host, which vouches for the name"),
    FIELD(struct consent_view, unread, T_BOOL, .flags = F_REQUIRED,
          .doc = "true: the document is not read yet; `POST /v1/oauth/client` reads it"),
    FIELD(struct consent_view, host, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "where the browser goes next, or the scheme of a program on its device; null: the address is not the "
                 "assistant's"),
    FIELD(struct consent_view, this_device, T_BOOL, .flags = F_REQUIRED, .doc = "true: it is on the browser's device"),
    FIELD(struct consent_view, scopes, T_STRINGS, .flags = F_REQUIRED, .values = scope_values,
          .doc = "that it asks for, among those that can be given; if there are none, those of a new key"),
    FIELD(struct consent_view, error, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "why the request cannot be granted, as in RFC 6749; null: it can"),
    FIELD(struct consent_view, reason, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "why the document is refused, for its author; null: it is not"),
    FIELD(struct consent_view, back, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "the address that tells the assistant of `error`; null: there is none, or no error"),
    FIELD(struct consent_view, voucher, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "for the decision, within an hour: what the document said; null: it is not needed"),
};
static const struct shape view_shape = SHAPE(struct consent_view, "AuthorizationRequest", view_fields);

struct document_request {
    struct val request;
};
static const struct field document_request_fields[] = {
    FIELD(struct document_request, request, T_STRING, .flags = F_REQUIRED, .max = OAUTH_QUERY_MAX,
          .doc = "the query of the page's address"),
};
static const struct shape document_request_shape =
    SHAPE(struct document_request, "AuthorizationClient", document_request_fields);

struct decision {
    struct val request, allow, scopes, voucher;
};
static const struct field decision_fields[] = {
    FIELD(struct decision, request, T_STRING, .flags = F_REQUIRED, .max = OAUTH_QUERY_MAX,
          .doc = "the query of the page's address"),
    FIELD(struct decision, allow, T_BOOL, .flags = F_REQUIRED),
    FIELD(struct decision, scopes, T_STRINGS, .min = 1, .max = SCOPE_VALUES, .values = scope_values,
          .doc = "some of those that the request has; default: all"),
    FIELD(struct decision, voucher, T_STRING, .max = OAUTH_VOUCHER_MAX,
          .doc = "as `POST /v1/oauth/client` gave it, for an assistant that is known by an address"),
};
static const struct shape decision_shape = SHAPE(struct decision, "AuthorizationDecision", decision_fields);

struct next {
    struct val redirect_to;
};
static const struct field next_fields[] = {
    FIELD(struct next, redirect_to, T_STRING, .flags = F_REQUIRED | F_SECRET,
          .doc = "the assistant's address, with a code of one minute or an error"),
};
static const struct shape next_shape = SHAPE(struct next, "AuthorizationAnswer", next_fields);

static struct consent_view *view_of(struct request *q, const struct oauth_request *r)
{
    struct arena *a = q->tx.arena;
    const bool known = r->redirect_uri.p;
    struct consent_view *v = arena_new(a, struct consent_view);
    v->client = v_str(r->client.name);
    v->client_host = v_str(r->address.p ? oauth_redirect_host(a, r->address) : STR_NONE);
    v->unread = v_bool(oauth_request_needs_document(r));
    v->host = v_str(known ? oauth_redirect_host(a, r->redirect_uri) : STR_NONE);
    v->this_device = v_bool(known && oauth_redirect_is_local(r->redirect_uri));
    v->scopes = scope_list(a, r->scopes);
    v->error = v_str(str_z(r->error));
    v->reason = v_null();
    v->back = v_str(r->error ? oauth_request_answer(q, r, "error", str_z(r->error)) : STR_NONE);
    v->voucher =
        v_str(r->address.p && !r->error ? oauth_client_vouch(a, q->tx.now_us, &r->client, r->redirect_uri) : STR_NONE);
    return v;
}

static enum err get_request(struct request *q, struct reply *p)
{
    struct oauth_request r;
    oauth_request_read(q, q->http->query, NULL, &r);
    return reply_ok(p, 200, &view_shape, view_of(q, &r));
}

static enum err read_client(struct request *q, struct reply *p)
{
    const struct document_request *d = q->body;
    struct oauth_request r;
    struct oauth_client client;
    const char *why = NULL;
    oauth_request_read(q, d->request.s, NULL, &r);
    if (oauth_request_needs_document(&r)) {
        enum err e = client_documents_get(q->parts->client_documents, q, r.address, &client, &why);
        if (e)
            return e;
        oauth_request_read(q, d->request.s, why ? NULL : &client, &r);
    }
    struct consent_view *v = view_of(q, &r);
    v->unread = v_bool(false);
    v->reason = v_str(str_z(why));
    return reply_ok(p, 200, &view_shape, v);
}

static enum err allow(struct request *q, const struct oauth_request *r, struct str *ret)
{
    const struct decision *d = q->body;
    char code[OAUTH_CODE_LEN + 1];
    struct oauth_consent consent = {.client_id = r->client.id,
                                    .redirect_uri = r->redirect_uri,
                                    .challenge = r->challenge,
                                    .client_name = r->address.p ? r->client.name : STR_NONE,
                                    .shared = r->address.p && oauth_redirect_is_local(r->redirect_uri),
                                    .resource = r->resource,
                                    .scopes = r->scopes};
    enum err e =
        v_given(d->scopes) ? key_scopes(&q->tx, &key_scopes_current, d->scopes, r->scopes, &consent.scopes) : ERR_NONE;
    if (!e)
        e = oauth_code_issue(&q->tx, &q->who.account_id, &consent, code);
    if (e)
        return e;
    *ret = oauth_request_answer(q, r, "code", str_z(code));
    crypto_wipe(code, sizeof code);
    return ERR_NONE;
}

static void read_decided(struct request *q, const struct decision *d, struct oauth_request *ret)
{
    struct oauth_client client;
    oauth_request_read(q, d->request.s, NULL, ret);
    if (oauth_request_needs_document(ret) && v_given(d->voucher) &&
        oauth_client_vouched(q->tx.arena, q->tx.now_us, d->voucher.s, ret->address, &client))
        oauth_request_read(q, d->request.s, &client, ret);
}

static enum err post_decision(struct request *q, struct reply *p)
{
    const struct decision *d = q->body;
    struct oauth_request r;
    struct str to;
    read_decided(q, d, &r);
    if (!r.redirect_uri.p || (r.error && d->allow.b))
        return tx_fail(&q->tx, ERR_INVALID_KEY_OPTIONS, "request is not one that can be granted");
    enum err e = ERR_NONE;
    if (d->allow.b)
        e = allow(q, &r, &to);
    else
        to = oauth_request_answer(q, &r, "error", STR("access_denied"));
    if (e)
        return e;
    struct next *n = arena_new(q->tx.arena, struct next);
    n->redirect_to = v_str(to);
    return to.p ? reply_ok(p, 200, &next_shape, n) : ERR_INTERNAL_ERROR;
}

static const struct route rows[] = {
    ROUTE("getAuthorizationRequest", GET, "/v1/oauth/request", .credential = CRED_WEB_SESSION,
          .scopes = SCOPE(KEYS_WRITE), .limit = LIMIT_KEY, .run = RUN_READ, .handler = get_request,
          .reply = &view_shape, .flags = ROUTE_SITE_ONLY, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(
              TAG, 200, "What an assistant asks for",
              .description =
                  "The query is that of an authorization request of OAuth 2.1, as `/oauth/authorize` gets it. "
                  "`client` is a name that the assistant has chosen itself; `host` is what can be relied on.",
              .flags = DOC_EXTENSION)),
    ROUTE("readAuthorizationClient", POST, "/v1/oauth/client", .credential = CRED_WEB_SESSION,
          .scopes = SCOPE(KEYS_WRITE), .limit = LIMIT_KEY, .body = &document_request_shape,
          .body_error = ERR_INVALID_KEY_OPTIONS, .run = RUN_BLOCKING, .handler = read_client, .reply = &view_shape,
          .flags = ROUTE_SITE_ONLY, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(
              TAG, 200, "Read the document of an assistant that is known by its address",
              .description =
                  "The service fetches it (OAuth Client ID Metadata Document), or has it from an earlier fetch, and "
                  "answers as `GET /v1/oauth/request` does, with the name in it and a voucher for the decision.",
              .body_example = "{\"request\": \"response_type=code&client_id=https://...\"}", .flags = DOC_EXTENSION)),
    ROUTE("decideAuthorization", POST, "/v1/oauth/decision", .credential = CRED_WEB_SESSION,
          .scopes = SCOPE(KEYS_WRITE), .limit = LIMIT_KEY, .body = &decision_shape,
          .body_error = ERR_INVALID_KEY_OPTIONS, .run = RUN_WRITE, .handler = post_decision, .reply = &next_shape,
          .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_CREATE_FAILED,
          .doc =
              ROUTE_DOC(TAG, 200, "Allow or refuse what an assistant asks for",
                        .description = "The browser then goes to `redirect_to`. The assistant exchanges the code there "
                                       "for a key of these scopes, which `GET /v1/auth/keys` lists under its name.",
                        .body_example = "{\"request\": \"response_type=code&client_id=...\", \"allow\": true, "
                                        "\"scopes\": [\"account:read\", \"access:read\"]}",
                        .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_KEY_LIMIT))),
};
const struct route_set consent_routes = ROUTE_SET(rows);
