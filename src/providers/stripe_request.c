#include "providers/stripe_request.h"

#include <assert.h>
#include <ctype.h>
#include <glib.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/wait.h"
#include "net/client.h"

#define ANSWER_MAX (1u << 20)
#define FORM_MAX   16384
#define WORD_MAX   64

/* Of a key under which another request is on its way (409). */
#define IN_USE_RETRIES 3
#define IN_USE_WAIT_US 400000

struct stripe_client {
    struct arena arena;
    struct net_client *http;
    struct str url;           /* "https://api.stripe.com" */
    struct str authorization; /* "Bearer sk_…" */
    long timeout_ms;
};

/* ---- what is said ---- */

void stripe_field(struct stripe_request *r, const char *name, struct str value)
{
    assert(r->field_count < STRIPE_FIELDS_MAX);
    r->fields[r->field_count].name = name;
    r->fields[r->field_count++].value = value;
}

void stripe_field_int(struct stripe_request *r, const char *name, int64_t value, struct arena *a)
{
    stripe_field(r, name, arena_printf(a, "%lld", (long long)value));
}

/* application/x-www-form-urlencoded; the names are ours and need no escapes. */
static struct str form_text(const struct stripe_request *r, struct arena *a)
{
    struct buf b = BUF(FORM_MAX);
    for (size_t i = 0; i < r->field_count; i++) {
        struct str value = r->fields[i].value;
        char *escaped = g_uri_escape_bytes((const guint8 *)value.p, value.n, NULL);
        buf_printf(&b, "%s%s=%s", i ? "&" : "", r->fields[i].name, escaped);
        g_free(escaped);
    }
    struct str text = b.full ? STR_NONE : arena_str(a, buf_view(&b));
    buf_done(&b);
    return text;
}

static enum net_exchange exchange(struct stripe_client *s, const struct stripe_request *r, struct arena *a,
                                  struct net_answer *ret)
{
    struct net_header headers[4] = {{"Authorization", s->authorization}, {"Stripe-Version", STR(STRIPE_VERSION)}};
    size_t count = 2;
    struct str form = STR_NONE;
    if (strcmp(r->method, "POST") == 0) {
        form = form_text(r, a);
        if (!form.p)
            return NET_NOT_SENT;
        headers[count++] = (struct net_header){"Content-Type", STR("application/x-www-form-urlencoded")};
    }
    if (r->key.p)
        headers[count++] = (struct net_header){"Idempotency-Key", r->key};
    const struct net_call call = {.method = r->method,
                                  .url = arena_printf(a, "%.*s%.*s", STR_ARG(s->url), STR_ARG(r->path)),
                                  .headers = headers,
                                  .header_count = count,
                                  .body = form,
                                  .timeout_ms = s->timeout_ms,
                                  .answer_max = ANSWER_MAX};
    return net_client_call(s->http, &call, a, ret);
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

/* One of Stripe's words, "resource_missing": nothing else can come through here into a log. */
static struct str word(const json_t *object, const char *name, struct arena *a)
{
    const json_t *v = json_object_get(object, name);
    struct str s = str_n(json_string_value(v), json_string_length(v));
    if (s.n == 0 || s.n > WORD_MAX)
        return STR_NONE;
    for (size_t i = 0; i < s.n; i++)
        if (!islower((unsigned char)s.p[i]) && !isdigit((unsigned char)s.p[i]) && s.p[i] != '_')
            return STR_NONE;
    return arena_str(a, s);
}

static bool is_about_us(long status)
{
    return status == 401 || status == 403 || status == 408 || status == 409 || status == 425 || status == 429;
}

static enum outcome understand(const struct net_answer *http, struct arena *a, struct stripe_answer *answer)
{
    answer->status = http->status;
    json_t *body = object_of(http);
    if (http->status >= 200 && http->status <= 299) {
        answer->body = body;
        return body ? OUTCOME_DONE : OUTCOME_UNKNOWN;
    }
    const json_t *error = json_object_get(body, "error");
    answer->type = word(error, "type", a);
    answer->code = word(error, "code", a);
    json_decref(body);
    bool of_request = str_eq(answer->type, STR("card_error")) || str_eq(answer->type, STR("invalid_request_error"));
    bool refused = of_request && http->status >= 400 && http->status <= 499 && !is_about_us(http->status);
    return refused ? OUTCOME_REFUSED : OUTCOME_UNKNOWN;
}

static const char *reason(enum net_exchange x)
{
    return x == NET_ANSWERED ? "answer" : x == NET_NOT_SENT ? "not_sent" : "no_answer";
}

static enum outcome ask(struct stripe_client *s, const struct stripe_request *request, struct arena *a,
                        struct stripe_answer *answer)
{
    struct net_answer http;
    *answer = (struct stripe_answer){0};
    enum net_exchange x = exchange(s, request, a, &http);
    enum outcome o = x == NET_ANSWERED ? understand(&http, a, answer) : OUTCOME_UNKNOWN;
    if (o != OUTCOME_DONE)
        log_warn("stripe failed call=%s outcome=%s status=%ld type=%.*s code=%.*s reason=%s", request->call,
                 o == OUTCOME_REFUSED ? "refused" : "unknown", answer->status, STR_ARG(answer->type),
                 STR_ARG(answer->code), reason(x));
    return o;
}

enum outcome stripe_call(struct stripe_client *s, const struct stripe_request *request, struct arena *a,
                         struct stripe_answer *answer)
{
    enum outcome o = ask(s, request, a, answer);
    for (int i = 0; i < IN_USE_RETRIES && request->key.p && answer->status == 409; i++) {
        sleep_for_us(IN_USE_WAIT_US);
        o = ask(s, request, a, answer);
    }
    return o;
}

/* ---- life ---- */

static enum err configure(struct stripe_client *s, const struct config *c, char **ret_why)
{
    struct str key;
    enum err e = config_secret_of("stripe.secret_key", c->stripe_secret_key, &s->arena, &key, ret_why);
    if (e)
        return e;
    for (size_t i = 0; i < key.n; i++)
        if (!isgraph((unsigned char)key.p[i]))
            return err_why(ret_why, ERR_USAGE, "stripe.secret_key has characters that no key has");
    if (key.n == 0)
        return err_why(ret_why, ERR_USAGE, "stripe.secret_key is empty");
    s->authorization = arena_printf(&s->arena, "Bearer %.*s", STR_ARG(key));
    s->url = str_z(c->stripe_url);
    s->timeout_ms = (long)c->stripe_timeout_s * 1000;
    return ERR_NONE;
}

enum err stripe_client_new(const struct config *c, struct stripe_client **ret, char **ret_why)
{
    struct stripe_client *s = mem_new(struct stripe_client);
    arena_init(&s->arena, NULL, 0);
    enum err e = configure(s, c, ret_why);
    if (!e)
        e = net_client_new(&s->http);
    if (e) {
        stripe_client_free(s);
        return e;
    }
    *ret = s;
    return ERR_NONE;
}

void stripe_client_free(struct stripe_client *s)
{
    if (!s)
        return;
    net_client_free(s->http);
    crypto_wipe((void *)s->authorization.p, s->authorization.n);
    arena_done(&s->arena);
    free(s);
}
