#include "site/oauth_token.h"
#include "api/gate.h"
#include "api/scopes.h"
#include "base/form.h"
#include "resources/oauth_request.h"
#include "site/oauth.h"
#include "site/oauth_error.h"

#define FIELDS_MAX 32

struct tokens {
    struct val access_token, token_type, expires_in, refresh_token, scope;
};
static const struct field token_fields[] = {
    FIELD(struct tokens, access_token, T_STRING, .flags = F_REQUIRED | F_SECRET),
    FIELD(struct tokens, token_type, T_STRING, .flags = F_REQUIRED),
    FIELD(struct tokens, expires_in, T_INT, .flags = F_REQUIRED),
    FIELD(struct tokens, refresh_token, T_STRING, .flags = F_REQUIRED | F_SECRET),
    FIELD(struct tokens, scope, T_STRING, .flags = F_REQUIRED),
};
static const struct shape token_shape = SHAPE(struct tokens, "OAuthTokens", token_fields);

/* The fields of a request that identifies its client. */
static bool read_form(struct request *q, struct form *ret)
{
    return gate_has_media(q, FORM_MEDIA) && form_read(q->http->body, FIELDS_MAX, q->tx.arena, ret) &&
           form_value(ret, "client_id").n;
}

static enum err reply_tokens(struct request *q, struct reply *p, struct oauth_tokens *t)
{
    struct tokens *r = arena_new(q->tx.arena, struct tokens);
    r->access_token = v_str(arena_str(q->tx.arena, str_z(t->access.text)));
    r->token_type = v_str(STR("Bearer"));
    r->expires_in = v_int((t->access.expires_at_us - q->tx.now_us) / US_PER_S);
    r->refresh_token = v_str(arena_str(q->tx.arena, str_z(t->refresh)));
    r->scope = v_str(scope_words(q->tx.arena, t->access.scopes));
    crypto_wipe(t, sizeof *t);
    return reply_ok(p, 200, &token_shape, r);
}

/* The errors of the rules, in the words of RFC 6749 section 5.2. */
static enum err reply_result(struct request *q, struct reply *p, enum err e, struct oauth_tokens *t)
{
    switch (e) {
    case ERR_NONE:
        return reply_tokens(q, p, t);
    case ERR_NOT_FOUND:
        return oauth_refuse(q, p, "invalid_grant", "unknown, expired, used, or not for this client and its parameters");
    case ERR_INSUFFICIENT_SCOPE:
        return oauth_refuse(q, p, "invalid_scope", "the resident has not allowed that");
    case ERR_KEY_LIMIT:
        return oauth_refuse(q, p, "invalid_grant", "the resident has too many assistants and keys");
    default:
        return e;
    }
}

/* The resident's consent has the name of a client with a document, which is not read again. */
static bool find_token_client(struct request *q, struct str id, struct oauth_client *ret)
{
    *ret = (struct oauth_client){.id = id};
    return oauth_client_is_address(id) || oauth_client_read(q->tx.arena, id, ret);
}

static const char *read_exchange(struct request *q, const struct form *f, struct oauth_token_request *r,
                                 const char **ret_why)
{
    r->exchange = (struct oauth_exchange){.code = form_value(f, "code"),
                                          .verifier = form_value(f, "code_verifier"),
                                          .redirect_uri = form_value(f, "redirect_uri"),
                                          .resource = r->resource};
    if (!r->exchange.code.n || !r->exchange.verifier.n) {
        *ret_why = "code and code_verifier are required";
        return "invalid_request";
    }
    *ret_why = "register again";
    return find_token_client(q, r->client_id, &r->client) ? NULL : "invalid_client";
}

/* The client is compared with the grant's, so a registration from before a change of the master key will do. */
static const char *read_refresh(const struct form *f, struct oauth_token_request *r, const char **ret_why)
{
    r->refresh = true;
    r->token = form_value(f, "refresh_token");
    r->scopes = key_scopes_named(form_value(f, "scope"));
    *ret_why = "refresh_token is required";
    return r->token.n ? NULL : "invalid_request";
}

const char *oauth_token_read(struct request *q, struct oauth_token_request *ret, const char **ret_why)
{
    struct form f;
    *ret = (struct oauth_token_request){0};
    *ret_why = "the body must be a form with client_id";
    if (!read_form(q, &f))
        return "invalid_request";
    const struct str type = form_value(&f, "grant_type");
    ret->client_id = form_value(&f, "client_id");
    *ret_why = "resource is not of this service";
    if (!oauth_resource_of(q, form_value(&f, "resource"), &ret->resource))
        return "invalid_target";
    if (str_eq(type, STR("authorization_code")))
        return read_exchange(q, &f, ret, ret_why);
    if (str_eq(type, STR("refresh_token")))
        return read_refresh(&f, ret, ret_why);
    *ret_why = type.n ? NULL : "grant_type is required, once";
    return type.n ? "unsupported_grant_type" : "invalid_request";
}

enum err oauth_token(struct request *q, struct reply *p)
{
    struct oauth_token_request r;
    struct oauth_tokens t;
    const char *why, *error = oauth_token_read(q, &r, &why);
    if (error)
        return oauth_refuse(q, p, error, why);
    enum err e = r.refresh ? oauth_refresh(&q->tx, r.client_id, r.token, r.scopes, r.resource, &t)
                           : oauth_code_exchange(&q->tx, &r.client, &r.exchange, &t);
    return reply_result(q, p, e, &t);
}

enum err oauth_revocation(struct request *q, struct reply *p)
{
    struct form f;
    if (!read_form(q, &f) || !form_value(&f, "token").n)
        return oauth_refuse(q, p, "invalid_request", "the body must be a form with client_id and token");
    enum err e = oauth_revoke(&q->tx, form_value(&f, "client_id"), form_value(&f, "token"));
    if (e == ERR_NOT_FOUND)
        return oauth_refuse(q, p, "invalid_client", "the token belongs to another client");
    p->status = 200;
    return e;
}
