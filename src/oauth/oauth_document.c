#include "oauth/oauth_document.h"

#include "base/schema.h"

struct document {
    struct val client_id, client_name, redirect_uris, grant_types, response_types, token_endpoint_auth_method,
        token_endpoint_auth_methods_supported, client_secret, client_secret_expires_at;
};
static const struct field document_fields[] = {
    FIELD(struct document, client_id, T_STRING, .flags = F_REQUIRED),
    FIELD(struct document, client_name, T_STRING, .flags = F_REQUIRED | F_TRIM),
    FIELD(struct document, redirect_uris, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct document, grant_types, T_STRINGS),
    FIELD(struct document, response_types, T_STRINGS),
    FIELD(struct document, token_endpoint_auth_method, T_STRING),
    FIELD(struct document, token_endpoint_auth_methods_supported, T_STRINGS),
    FIELD(struct document, client_secret, T_STRING, .flags = F_SECRET),
    FIELD(struct document, client_secret_expires_at, T_INT),
};
static const struct shape document_shape = SHAPE(struct document, "ClientDocument", document_fields, .open = true);

/* A client that offers a key alone would have to prove it (section 8.2). A client that offers no proof as well is a
 * public one, the only kind in this service's metadata. */
static bool can_be_public(const struct document *d)
{
    const struct val one = d->token_endpoint_auth_method, several = d->token_endpoint_auth_methods_supported;
    if (v_given(one) && str_eq(one.s, STR("none")))
        return true;
    return v_given(several) ? oauth_list_has(several, STR("none")) : !v_given(one);
}

/* A secret cannot be shared (section 4.1). */
static const char *document_fault(const struct document *d, struct str id)
{
    if (!str_eq(d->client_id.s, id))
        return "client_id is not the address of the document";
    if (!oauth_name_is_allowed(d->client_name.s))
        return "client_name must have 1 to 80 characters, and none that is invisible";
    if (!oauth_list_has(d->grant_types, STR("authorization_code")) || !oauth_list_has(d->response_types, STR("code")))
        return "grant_types must have authorization_code, and response_types code";
    if (!can_be_public(d))
        return "token_endpoint_auth_method must be none, or token_endpoint_auth_methods_supported must have it";
    if (v_given(d->client_secret) || v_given(d->client_secret_expires_at))
        return "client_secret and client_secret_expires_at must not be in the document";
    return NULL;
}

static const char *read_object(struct arena *a, struct str id, const json_t *json, struct oauth_client *ret)
{
    struct document d;
    struct schema_fault fault = {0};
    if (!json_is_object(json))
        return "the document must be one JSON object";
    if (!schema_read(&document_shape, json, ERR_BAD_REQUEST, a, &d, &fault))
        return fault.message.p ? fault.message.p : "a field is not valid";
    const char *why = document_fault(&d, id);
    const struct str redirects = why ? STR_NONE : oauth_redirects_allowed(a, d.redirect_uris, OAUTH_DOCUMENT_MAX);
    if (!why && !redirects.p)
        why = "redirect_uris has none with " OAUTH_REDIRECT_RULE;
    if (!why)
        *ret = (struct oauth_client){.id = arena_str(a, id), .name = d.client_name.s, .redirects = redirects};
    return why;
}

const char *oauth_document_read(struct arena *a, struct str id, struct str text, struct oauth_client *ret)
{
    json_t *json;
    if (text.n > OAUTH_DOCUMENT_MAX)
        return "the document has more than 5120 bytes";
    if (json_read(text, &json))
        return "the document must be one JSON object";
    const char *why = read_object(a, id, json, ret);
    json_decref(json);
    return why;
}
