/* The authorization server's answers that need no store: requests for tokens, metadata, registration. */
#include "site/oauth.h"

#include "api/parts.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/unit.h"
#include "domain/key.h"
#include "resources/oauth_request.h"
#include "site/oauth_token.h"
#include "site/routes.h"

#define NOW      1795167000000000LL
#define CALLBACK "https://assistant.example/cb"
#define FORM     "application/x-www-form-urlencoded"

static const struct parts parts = {.public_url = "https://door.example"};
static const struct config config = {.oauth_client_documents = true};

struct asked {
    struct http_header type;
    struct http_request http;
    struct request q;
};

static void ask(struct asked *x, const char *media, const char *body)
{
    *x = (struct asked){.type = {STR("Content-Type"), str_z(media)}};
    x->http = (struct http_request){.headers = &x->type, .header_count = 1, .body = str_z(body)};
    arena_init(&x->http.arena, NULL, 0);
    x->q.http = &x->http;
    x->q.parts = &parts;
    x->q.tx = (struct tx){.arena = &x->http.arena, .config = &config, .now_us = NOW};
}

static void asked_done(struct asked *x)
{
    arena_done(&x->http.arena);
}

static int set_key(void **state)
{
    static const unsigned char master[SHA256_LEN] = "a key for tests";
    (void)state;
    crypto_set_master(master, NULL);
    return 0;
}

/* ---- tokens ---- */

#define CLIENT "client_id=https%3A%2F%2Fassistant.example%2Fc"

static const struct {
    const char *media, *body;
    const char *error; /* NULL: it is read */
} requests[] = {
    {FORM, CLIENT "&grant_type=authorization_code&code=a&code_verifier=b&redirect_uri=c", NULL},
    {FORM "; charset=utf-8", CLIENT "&grant_type=refresh_token&refresh_token=a", NULL},
    {FORM, CLIENT "&grant_type=refresh_token&refresh_token=a&resource=https%3A%2F%2Fdoor.example%2Fmcp", NULL},
    {"application/json", CLIENT "&grant_type=refresh_token&refresh_token=a", "invalid_request"},
    {FORM, "grant_type=refresh_token&refresh_token=a", "invalid_request"},
    {FORM, CLIENT "&" CLIENT "&grant_type=refresh_token&refresh_token=a", "invalid_request"},
    {FORM, CLIENT "&grant_type=refresh_token", "invalid_request"},
    {FORM, CLIENT "&grant_type=authorization_code&code=a", "invalid_request"},
    {FORM, CLIENT "&grant_type=authorization_code&code_verifier=b", "invalid_request"},
    {FORM, "client_id=made-up&grant_type=authorization_code&code=a&code_verifier=b", "invalid_client"},
    {FORM, CLIENT "&grant_type=password", "unsupported_grant_type"},
    {FORM, CLIENT, "invalid_request"},
    {FORM, CLIENT "&grant_type=refresh_token&refresh_token=a&resource=https%3A%2F%2Fother.example%2Fmcp",
     "invalid_target"},
    {FORM, CLIENT "&grant_type=%zz", "invalid_request"},
};

static void a_request_for_tokens_is_read_or_refused_as_the_rfc_names_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(requests); i++) {
        struct asked x;
        struct oauth_token_request r;
        const char *why = NULL;
        ask(&x, requests[i].media, requests[i].body);
        const char *error = oauth_token_read(&x.q, &r, &why);
        if (!error || !requests[i].error)
            assert_ptr_equal(error, requests[i].error);
        else
            assert_string_equal(error, requests[i].error);
        asked_done(&x);
    }
}

static void the_values_of_a_request_are_decoded(void **state)
{
    (void)state;
    struct asked x;
    struct oauth_token_request r;
    const char *why;
    ask(&x, FORM, CLIENT "&grant_type=authorization_code&code=a%20b&code_verifier=c+d&redirect_uri=https%3A%2F%2Fe");
    assert_null(oauth_token_read(&x.q, &r, &why));
    assert_false(r.refresh);
    assert_text(r.client.id, "https://assistant.example/c");
    assert_text(r.exchange.code, "a b");
    assert_text(r.exchange.verifier, "c d");
    assert_text(r.exchange.redirect_uri, "https://e");
    asked_done(&x);
    ask(&x, FORM, CLIENT "&grant_type=refresh_token&refresh_token=t&scope=access%3Aread%20unknown%20logs%3Aread");
    assert_null(oauth_token_read(&x.q, &r, &why));
    assert_true(r.refresh);
    assert_text(r.token, "t");
    assert_int_equal(r.scopes, SCOPE(ACCESS_READ) | SCOPE(LOGS_READ));
    asked_done(&x);
}

/* ---- handlers ---- */

/* The reply of the row's handler as JSON, which the caller releases. */
static json_t *answer_of(const char *operation, const char *body, int status)
{
    const struct route *row = NULL;
    struct reply p = {0};
    struct asked x;
    struct buf text = BUF(1u << 16);
    json_t *answer;
    for (size_t i = 0; i < oauth_routes.count; i++)
        if (strcmp(oauth_routes.rows[i].operation_id, operation) == 0)
            row = &oauth_routes.rows[i];
    assert_non_null(row);
    ask(&x, "application/json", body);
    x.q.route = row;
    assert_int_equal(row->handler(&x.q, &p), ERR_NONE);
    assert_int_equal(p.status, status);
    schema_write(p.shape, p.body, &text);
    assert_int_equal(json_read(buf_view(&text), &answer), ERR_NONE);
    buf_done(&text);
    asked_done(&x);
    return answer;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static void metadata_names_addresses_of_this_service(void **state)
{
    (void)state;
    json_t *server = answer_of("getAuthorizationServer", "", 200), *resource = answer_of("getMcpResource", "", 200);
    assert_string_equal(text_of(server, "issuer"), "https://door.example");
    assert_string_equal(text_of(server, "token_endpoint"), "https://door.example" OAUTH_TOKEN);
    assert_string_equal(text_of(server, "registration_endpoint"), "https://door.example" OAUTH_REGISTER);
    assert_true(json_is_true(json_object_get(server, "client_id_metadata_document_supported")));
    assert_string_equal(text_of(resource, "resource"), "https://door.example" MCP_PATH);
    const json_t *servers = json_object_get(resource, "authorization_servers");
    assert_int_equal(json_array_size(servers), 1);
    assert_string_equal(json_string_value(json_array_get(servers, 0)), text_of(server, "issuer"));
    json_decref(server);
    json_decref(resource);
}

static const struct {
    const char *body;
    const char *error; /* NULL: registered */
    const char *name;
} registrations[] = {
    {"{\"client_name\":\" Robot \",\"redirect_uris\":[\"" CALLBACK "\"],\"other\":1}", NULL, "Robot"},
    {"{\"redirect_uris\":[\"" CALLBACK "\"]}", NULL, "assistant.example"},
    {"{\"client_name\":null,\"redirect_uris\":[\"javascript:1\",\"" CALLBACK "\"]}", NULL, "assistant.example"},
    {"{\"redirect_uris\":[\"http://elsewhere.example/\"]}", "invalid_redirect_uri", NULL},
    {"{\"redirect_uris\":[]}", "invalid_redirect_uri", NULL},
    {"{\"client_name\":\"Robot\"}", "invalid_client_metadata", NULL},
    {"{\"redirect_uris\":[\"" CALLBACK "\"],\"grant_types\":[\"implicit\"]}", "invalid_client_metadata", NULL},
    {"{\"redirect_uris\":[\"" CALLBACK "\"],\"response_types\":[\"token\"]}", "invalid_client_metadata", NULL},
    {"{\"client_name\":\"a\\u200bb\",\"redirect_uris\":[\"" CALLBACK "\"]}", "invalid_client_metadata", NULL},
    {"[]", "invalid_client_metadata", NULL},
    {"{", "invalid_client_metadata", NULL},
    {"", "invalid_client_metadata", NULL},
};

static void an_assistant_registers_or_is_told_why_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(registrations); i++) {
        json_t *answer = answer_of("registerClient", registrations[i].body, registrations[i].error ? 400 : 201);
        if (registrations[i].error) {
            assert_string_equal(text_of(answer, "error"), registrations[i].error);
            assert_true(*text_of(answer, "error_description"));
        } else {
            const json_t *redirects = json_object_get(answer, "redirect_uris");
            assert_string_equal(text_of(answer, "client_name"), registrations[i].name);
            assert_int_equal(json_array_size(redirects), 1);
            assert_string_equal(json_string_value(json_array_get(redirects, 0)), CALLBACK);
        }
        json_decref(answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_for_tokens_is_read_or_refused_as_the_rfc_names_it),
        cmocka_unit_test(the_values_of_a_request_are_decoded),
        cmocka_unit_test(metadata_names_addresses_of_this_service),
        cmocka_unit_test(an_assistant_registers_or_is_told_why_not),
    };
    return cmocka_run_group_tests(tests, set_key, NULL);
}
