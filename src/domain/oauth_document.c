#include "domain/oauth_document.h"

#include "base/schema.h"

struct document {
    struct val client_id, client_name, redirect_uris, grant_types, response_types, token_endpoint_auth_method,
        client_secret, client_secret_expires_at;
};
static const struct field document_fields[] = {
    FIELD(struct document, client_id, T_STRING, .flags = F_REQUIRED),
    FIELD(struct document, client_name, T_STRING, .flags = F_REQUIRED | F_TRIM),
    FIELD(struct document, redirect_uris, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct document, grant_types, T_STRINGS),
    FIELD(struct document, response_types, T_STRINGS),
    FIELD(struct document, token_endpoint_auth_method, T_STRING),
    FIELD(struct document, client_secret, T_STRING, .flags = F_SECRET),
    FIELD(struct document, client_secret_expires_at, T_INT),
};
static const struct shape document_shape = SHAPE(struct document, "ClientDocument", document_fields, .open = true);

/* An absent list has every word. */
static bool names_word(struct val list, struct str word)
{
    const struct val *words = list.ptr;
    for (uint32_t i = 0; i < list.count; i++)
        if (str_eq(words[i].s, word))
            return true;
    return !v_given(list);
}

/* Those that can be allowed, separated by line feeds. Clients also list addresses for other services. */
static struct str allowed_redirects(struct arena *a, struct val uris)
{
    struct buf all = BUF(OAUTH_DOCUMENT_MAX);
    const struct val *list = uris.ptr;
    for (uint32_t i = 0; i < uris.count; i++)
        if (oauth_redirect_is_allowed(list[i].s)) {
            buf_str(&all, all.n ? STR("\n") : STR(""));
            buf_str(&all, list[i].s);
        }
    const struct str text = all.n ? arena_str(a, buf_view(&all)) : STR_NONE;
    buf_done(&all);
    return text;
}

/* A client that has a key would have to prove it (section 8.2), and a secret cannot be shared (section 4.1). */
static const char *document_fault(const struct document *d, struct str id)
{
    if (!str_eq(d->client_id.s, id))
        return "client_id is not the address of the document";
    if (!oauth_name_is_allowed(d->client_name.s))
        return "client_name must have 1 to 80 characters, and none that is invisible";
    if (!names_word(d->grant_types, STR("authorization_code")) || !names_word(d->response_types, STR("code")))
        return "grant_types must have authorization_code, and response_types code";
    if (v_given(d->token_endpoint_auth_method) && !str_eq(d->token_endpoint_auth_method.s, STR("none")))
        return "token_endpoint_auth_method must be none";
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
    const struct str redirects = why ? STR_NONE : allowed_redirects(a, d.redirect_uris);
    if (!why && !redirects.p)
        why = "redirect_uris has none with https, or http with 127.0.0.1, [::1] or localhost";
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
