#include "providers/twilio.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"

#define PAGE_URI_MAX 8192
#define NUMBER_MIN   8 /* + and seven digits */
#define NUMBER_MAX   16
#define VERSION      "/2010-04-01"

struct twilio {
    struct arena arena;
    struct rest rest;   /* its root is the account's URL */
    struct str account; /* "/2010-04-01/Accounts/AC…" */
};

/* ---- calls ---- */

static int error_code(const json_t *body)
{
    json_int_t code = json_integer_value(json_object_get(body, "code"));
    return code > 0 && code <= INT_MAX ? (int)code : 0;
}

static bool is_refusal(long status)
{
    return status >= 400 && status <= 499 && status != 408 && status != 429;
}

static enum outcome read_twilio_answer(const struct rest_answer *http, struct twilio_answer *answer)
{
    long status = answer->status = http->status;
    if (status >= 200 && status <= 299 && status != 204) {
        answer->body = http->body;
        return answer->body ? OUTCOME_DONE : OUTCOME_UNKNOWN;
    }
    bool refused = is_refusal(status);
    if (refused)
        answer->code = error_code(http->body);
    json_decref(http->body);
    return status == 204 ? OUTCOME_DONE : refused ? OUTCOME_REFUSED : OUTCOME_UNKNOWN;
}

enum outcome twilio_call(struct twilio *t, const struct twilio_request *request, struct arena *a,
                         struct twilio_answer *answer)
{
    static const struct net_header accept = {"Accept", {"application/json", sizeof "application/json" - 1}};
    const struct rest_request r = {.method = request->method,
                                   .path = request->path,
                                   .headers = &accept,
                                   .header_count = 1,
                                   .fields = request->fields,
                                   .field_count = request->field_count};
    *answer = (struct twilio_answer){0};
    const struct rest_answer http = rest_call(&t->rest, &r, a);
    const enum outcome o = outcome_count(PROVIDER_TWILIO, read_twilio_answer(&http, answer));
    if (o != OUTCOME_DONE)
        log_warn("twilio failed method=%s outcome=%s status=%ld code=%d reason=%s", request->method, outcome_text(o),
                 answer->status, answer->code, rest_reason(http.exchange));
    return o;
}

enum outcome twilio_download(struct twilio *t, struct str path, struct arena *a, struct str *ret)
{
    struct net_answer http = {.status = 0};
    const enum net_exchange exchange =
        rest_exchange(&t->rest, &(struct rest_request){.method = "GET", .path = path}, a, &http);
    if (exchange == NET_ANSWERED && http.status == 200) {
        *ret = http.body;
        return OUTCOME_DONE;
    }
    const enum outcome o = is_refusal(http.status) ? OUTCOME_REFUSED : OUTCOME_UNKNOWN;
    log_warn("twilio failed method=GET outcome=%s status=%ld code=0 reason=%s", outcome_text(o), http.status,
             rest_reason(exchange));
    return o;
}

bool twilio_next_page(const struct twilio *t, const json_t *page, struct arena *a, struct str *ret)
{
    const json_t *next = json_object_get(page, "next_page_uri");
    if (!next || json_is_null(next)) {
        *ret = STR_NONE;
        return true;
    }
    struct str uri = rest_text(page, "next_page_uri");
    if (!str_starts(uri, t->account) || uri.n > PAGE_URI_MAX || uri.n == t->account.n || uri.p[t->account.n] != '/')
        return false;
    for (size_t i = 0; i < uri.n; i++)
        if (!isgraph((unsigned char)uri.p[i]) || uri.p[i] == '#')
            return false;
    *ret = arena_str(a, str_from(uri, t->account.n));
    return true;
}

bool twilio_is_sid(struct str s, const char *kind)
{
    if (s.n != TWILIO_SID_LEN || s.p[0] != kind[0] || s.p[1] != kind[1])
        return false;
    for (size_t i = 2; i < s.n; i++)
        if (!isxdigit((unsigned char)s.p[i]))
            return false;
    return true;
}

bool twilio_is_number(struct str s)
{
    if (s.n < NUMBER_MIN || s.n > NUMBER_MAX || s.p[0] != '+' || s.p[1] == '0')
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (!isdigit((unsigned char)s.p[i]))
            return false;
    return true;
}

/* ---- life ---- */

static enum err read_twilio_account(struct twilio *t, const struct config *c, char **ret_why)
{
    struct rest *r = &t->rest;
    r->user = str_z(c->twilio_account_sid);
    r->timeout_ms = (long)c->twilio_timeout_s * 1000;
    if (!twilio_is_sid(r->user, "AC"))
        return err_why(ret_why, ERR_USAGE, "twilio.account_sid must be AC and 32 hexadecimal digits");
    t->account = arena_printf(&t->arena, VERSION "/Accounts/%.*s", STR_ARG(r->user));
    r->root = arena_printf(&t->arena, "%s%.*s", c->twilio_url, STR_ARG(t->account));
    enum err e = config_secret_of("twilio.auth_token", c->twilio_auth_token, &t->arena, &r->password, ret_why);
    if (e)
        return e;
    return r->password.n ? ERR_NONE : err_why(ret_why, ERR_USAGE, "twilio.auth_token is empty");
}

enum err twilio_new(const struct config *c, struct twilio **ret, char **ret_why)
{
    struct twilio *t = mem_new(struct twilio);
    arena_init(&t->arena, NULL, 0);
    enum err e = read_twilio_account(t, c, ret_why);
    if (!e)
        e = net_client_new(&t->rest.client);
    if (e) {
        twilio_free(t);
        return e;
    }
    *ret = t;
    return ERR_NONE;
}

void twilio_free(struct twilio *t)
{
    if (!t)
        return;
    net_client_free(t->rest.client);
    crypto_wipe((void *)t->rest.password.p, t->rest.password.n);
    arena_done(&t->arena);
    free(t);
}
