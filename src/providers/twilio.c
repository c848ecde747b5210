#include "providers/twilio.h"

#include <ctype.h>
#include <glib.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/client.h"

#define ANSWER_MAX  (1u << 20)
#define REQUEST_MAX 8192
#define NUMBER_MIN  8 /* + and seven digits */
#define NUMBER_MAX  16
#define VERSION     "/2010-04-01"

struct twilio {
    struct arena arena;
    struct net_client *client;
    struct str root;    /* "https://api.twilio.com" */
    struct str account; /* "/2010-04-01/Accounts/AC…" */
    struct str sid, token;
    long timeout_ms;
};

/* ---- what is said ---- */

static void put_fields(struct buf *b, const struct twilio_request *r)
{
    for (size_t i = 0; i < r->field_count; i++) {
        const struct twilio_field *f = &r->fields[i];
        char *value = g_uri_escape_bytes((const guint8 *)f->value.p, f->value.n, NULL);
        buf_printf(b, "%s%s=%s", i ? "&" : "", f->name, value);
        g_free(value);
    }
}

static struct str fields_text(const struct twilio_request *r, struct arena *a)
{
    struct buf b = BUF(REQUEST_MAX);
    put_fields(&b, r);
    struct str text = b.full ? STR_NONE : arena_str(a, buf_view(&b));
    crypto_wipe(b.p, b.n);
    buf_done(&b);
    return text;
}

static enum net_exchange exchange(struct twilio *t, const struct twilio_request *r, struct arena *a,
                                  struct net_answer *ret)
{
    static const struct net_header headers[] = {
        {"Accept", {"application/json", sizeof "application/json" - 1}},
        {"Content-Type", {"application/x-www-form-urlencoded", sizeof "application/x-www-form-urlencoded" - 1}},
    };
    bool get = strcmp(r->method, "GET") == 0;
    struct str fields = fields_text(r, a);
    if (!fields.p)
        return NET_NOT_SENT;
    struct str url = arena_printf(a, "%.*s%.*s%.*s%s%.*s", STR_ARG(t->root), STR_ARG(t->account), STR_ARG(r->path),
                                  get && fields.n ? "?" : "", get ? (int)fields.n : 0, fields.p);
    const struct net_call call = {.method = r->method,
                                  .url = url,
                                  .headers = headers,
                                  .header_count = get || !fields.n ? 1 : 2,
                                  .user = t->sid,
                                  .password = t->token,
                                  .body = get || !fields.n ? STR_NONE : fields,
                                  .timeout_ms = t->timeout_ms,
                                  .answer_max = ANSWER_MAX};
    return net_client_call(t->client, &call, a, ret);
}

/* ---- what is answered ---- */

static json_t *object_of(const struct net_answer *http)
{
    json_t *body;
    if (!str_eqi(http->type, STR("application/json")) || json_read(http->body, &body))
        return NULL;
    if (json_is_object(body))
        return body;
    json_decref(body);
    return NULL;
}

static int error_code(const struct net_answer *http)
{
    json_t *body = object_of(http);
    json_int_t code = json_integer_value(json_object_get(body, "code"));
    json_decref(body);
    return code > 0 && code <= INT_MAX ? (int)code : 0;
}

static enum outcome understand(const struct net_answer *http, struct twilio_answer *answer)
{
    answer->status = http->status;
    if (http->status >= 200 && http->status <= 299) {
        if (http->status == 204)
            return OUTCOME_DONE;
        answer->body = object_of(http);
        return answer->body ? OUTCOME_DONE : OUTCOME_UNKNOWN;
    }
    if (http->status < 400 || http->status > 499 || http->status == 408 || http->status == 429)
        return OUTCOME_UNKNOWN;
    answer->code = error_code(http);
    return OUTCOME_REFUSED;
}

enum outcome twilio_call(struct twilio *t, const struct twilio_request *request, struct arena *a,
                         struct twilio_answer *answer)
{
    struct net_answer http;
    *answer = (struct twilio_answer){0};
    enum net_exchange x = exchange(t, request, a, &http);
    enum outcome o = x == NET_ANSWERED ? understand(&http, answer) : OUTCOME_UNKNOWN;
    if (o != OUTCOME_DONE)
        log_warn("twilio failed method=%s outcome=%s status=%ld code=%d reason=%s", request->method,
                 o == OUTCOME_REFUSED ? "refused" : "unknown", answer->status, answer->code,
                 x == NET_ANSWERED   ? "answer"
                 : x == NET_NOT_SENT ? "not sent"
                                     : "no answer");
    return o;
}

bool twilio_next_page(const struct twilio *t, const json_t *page, struct arena *a, struct str *ret)
{
    const json_t *next = json_object_get(page, "next_page_uri");
    if (!next || json_is_null(next)) {
        *ret = STR_NONE;
        return true;
    }
    struct str uri = twilio_text(page, "next_page_uri");
    if (!str_starts(uri, t->account) || uri.n > REQUEST_MAX || uri.n == t->account.n || uri.p[t->account.n] != '/')
        return false;
    for (size_t i = 0; i < uri.n; i++)
        if (!isgraph((unsigned char)uri.p[i]) || uri.p[i] == '#')
            return false;
    *ret = arena_str(a, str_from(uri, t->account.n));
    return true;
}

struct str twilio_text(const json_t *object, const char *name)
{
    const json_t *v = json_object_get(object, name);
    return json_is_string(v) ? str_n(json_string_value(v), json_string_length(v)) : STR_NONE;
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

static enum err configure(struct twilio *t, const struct config *c, char **ret_why)
{
    t->root = str_z(c->twilio_url);
    t->sid = str_z(c->twilio_account_sid);
    t->timeout_ms = (long)c->twilio_timeout_s * 1000;
    if (!twilio_is_sid(t->sid, "AC"))
        return err_why(ret_why, ERR_USAGE, "twilio.account_sid must be AC and 32 hexadecimal digits");
    t->account = arena_printf(&t->arena, VERSION "/Accounts/%.*s", STR_ARG(t->sid));
    enum err e = config_secret_of("twilio.auth_token", c->twilio_auth_token, &t->arena, &t->token, ret_why);
    if (e)
        return e;
    return t->token.n ? ERR_NONE : err_why(ret_why, ERR_USAGE, "twilio.auth_token is empty");
}

enum err twilio_new(const struct config *c, struct twilio **ret, char **ret_why)
{
    struct twilio *t = mem_new(struct twilio);
    arena_init(&t->arena, NULL, 0);
    enum err e = configure(t, c, ret_why);
    if (!e)
        e = net_client_new(&t->client);
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
    net_client_free(t->client);
    crypto_wipe((void *)t->token.p, t->token.n);
    arena_done(&t->arena);
    free(t);
}
