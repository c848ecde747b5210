/* Requests of OAuth: a byte, and the query of an authorization request, or the form of a token request. An @ stands for
 * the ID of a client that is known, whose MAC no fuzzer would find. A request that can be granted is whole, and its
 * answer leads to the client. */
#include <stdlib.h>

#include "api/parts.h"
#include "domain/key.h"
#include "resources/oauth_request.h"
#include "site/oauth_token.h"

#define NOW      1795167000000000LL
#define CALLBACK STR("https://assistant.example/cb")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static struct str with_client(struct arena *a, struct str text, struct str id)
{
    struct buf all = BUF(1u << 20);
    for (size_t i = 0; i < text.n; i++)
        buf_str(&all, text.p[i] == '@' ? id : str_n(text.p + i, 1));
    const struct str whole = arena_str(a, buf_view(&all));
    buf_done(&all);
    return whole;
}

static void check_answer(struct request *q, const struct oauth_request *r)
{
    const struct str to = oauth_request_answer(q, r, "code", STR("x"));
    require(to.n > r->redirect_uri.n && str_starts(to, r->redirect_uri));
    for (size_t i = 0; i < to.n; i++)
        require(to.p[i] > ' ' && to.p[i] < 0x7f);
}

static void check_query(struct request *q, struct str query, const struct oauth_client *known)
{
    struct oauth_request r;
    oauth_request_read(q, query, known, &r);
    if (r.redirect_uri.p) {
        require(r.client.id.n && oauth_client_has_redirect(&r.client, r.redirect_uri));
        check_answer(q, &r);
    }
    if (!r.error)
        require(r.redirect_uri.p && r.challenge.n == OAUTH_CHALLENGE && r.scopes &&
                !(r.scopes & ~key_scopes_current.issuable));
    if (oauth_request_needs_document(&r))
        require(r.error && !r.redirect_uri.p && oauth_client_is_address(r.address));
}

static void check_form(struct request *q)
{
    struct oauth_token_request r;
    const char *why;
    if (oauth_token_read(q, &r, &why))
        return;
    require(r.client_id.n && !(r.scopes & ~key_scopes_current.issuable));
    require(r.refresh ? r.token.n > 0 : r.exchange.code.n && r.exchange.verifier.n && r.client.id.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char master[SHA256_LEN] = "a key for tests";
    static const struct parts parts = {.public_url = "https://door.example"};
    static const struct config config = {.oauth_client_documents = true};
    const struct http_header type = {STR("Content-Type"), STR("application/x-www-form-urlencoded")};
    struct http_request http = {.headers = &type, .header_count = 1};
    struct request q = {.http = &http, .parts = &parts};
    if (!size)
        return 0;
    crypto_set_master(master, NULL);
    arena_init(&http.arena, NULL, 0);
    q.tx.arena = &http.arena;
    q.tx.config = &config;
    q.tx.now_us = NOW;
    const struct oauth_client known = {STR("https://assistant.example/c"), STR("Robot"), CALLBACK};
    const struct str id = data[0] & 2 ? known.id : oauth_client_register(q.tx.arena, NOW, STR("Robot"), CALLBACK);
    const struct str text = with_client(q.tx.arena, str_n((const char *)data + 1, size - 1), id);
    http.body = text;
    if (data[0] & 1)
        check_form(&q);
    else
        check_query(&q, text, data[0] & 4 ? &known : NULL);
    arena_done(&http.arena);
    return 0;
}
