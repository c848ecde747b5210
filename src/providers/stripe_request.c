#include "providers/stripe_request.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/wait.h"

#define WORD_MAX 64

/* For an idempotency key that another request in progress uses (409). */
#define IN_USE_RETRIES 3
#define IN_USE_WAIT_US 400000

struct stripe_client {
    struct arena arena;
    struct rest rest;
    struct str authorization; /* "Bearer sk_…" */
};

/* ---- the request ---- */

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

/* ---- the answer ---- */

/* A member that is one of Stripe's codes, like "resource_missing". Nothing else of an answer may reach the log. */
static struct str error_word(const json_t *object, const char *name, struct arena *a)
{
    struct str s = rest_text(object, name);
    if (s.n == 0 || s.n > WORD_MAX)
        return STR_NONE;
    for (size_t i = 0; i < s.n; i++)
        if (!islower((unsigned char)s.p[i]) && !isdigit((unsigned char)s.p[i]) && s.p[i] != '_')
            return STR_NONE;
    return arena_str(a, s);
}

static bool is_about_access(long status)
{
    return status == 401 || status == 403 || status == 408 || status == 409 || status == 425 || status == 429;
}

static enum outcome read_stripe_answer(const struct rest_answer *http, struct arena *a, struct stripe_answer *answer)
{
    answer->status = http->status;
    if (http->status >= 200 && http->status <= 299) {
        answer->body = http->body;
        return answer->body ? OUTCOME_DONE : OUTCOME_UNKNOWN;
    }
    const json_t *error = json_object_get(http->body, "error");
    answer->type = error_word(error, "type", a);
    answer->code = error_word(error, "code", a);
    json_decref(http->body);
    bool of_request = str_eq(answer->type, STR("card_error")) || str_eq(answer->type, STR("invalid_request_error"));
    bool refused = of_request && http->status >= 400 && http->status <= 499 && !is_about_access(http->status);
    return refused ? OUTCOME_REFUSED : OUTCOME_UNKNOWN;
}

static enum outcome call_once(struct stripe_client *s, const struct stripe_request *request, struct arena *a,
                              struct stripe_answer *answer)
{
    const struct net_header headers[] = {{"Authorization", s->authorization},
                                         {"Stripe-Version", STR(STRIPE_VERSION)},
                                         {"Idempotency-Key", request->key}};
    const struct rest_request r = {.method = request->method,
                                   .path = request->path,
                                   .headers = headers,
                                   .header_count = request->key.p ? 3 : 2,
                                   .fields = request->fields,
                                   .field_count = request->field_count,
                                   .repeatable = request->key.p != NULL};
    *answer = (struct stripe_answer){0};
    const struct rest_answer http = rest_call(&s->rest, &r, a);
    const enum outcome o = outcome_count(PROVIDER_STRIPE, read_stripe_answer(&http, a, answer));
    if (o != OUTCOME_DONE)
        log_warn("stripe failed call=%s outcome=%s status=%ld type=%.*s code=%.*s reason=%s", request->call,
                 outcome_text(o), answer->status, STR_ARG(answer->type), STR_ARG(answer->code),
                 rest_reason(http.exchange));
    return o;
}

enum outcome stripe_call(struct stripe_client *s, const struct stripe_request *request, struct arena *a,
                         struct stripe_answer *answer)
{
    enum outcome o = call_once(s, request, a, answer);
    for (int i = 0; i < IN_USE_RETRIES && request->key.p && answer->status == 409; i++) {
        sleep_for_us(IN_USE_WAIT_US);
        o = call_once(s, request, a, answer);
    }
    return o;
}

/* ---- life ---- */

static enum err read_stripe_account(struct stripe_client *s, const struct config *c, char **ret_why)
{
    struct str key;
    enum err e = config_secret_of("stripe.secret_key", c->stripe_secret_key, &s->arena, &key, ret_why);
    if (e)
        return e;
    for (size_t i = 0; i < key.n; i++)
        if (!isgraph((unsigned char)key.p[i]))
            return err_why(ret_why, ERR_USAGE, "stripe.secret_key contains invalid characters");
    if (key.n == 0)
        return err_why(ret_why, ERR_USAGE, "stripe.secret_key is empty");
    s->authorization = arena_printf(&s->arena, "Bearer %.*s", STR_ARG(key));
    s->rest.root = str_z(c->stripe_url);
    s->rest.timeout_ms = (long)c->stripe_timeout_s * 1000;
    return ERR_NONE;
}

enum err stripe_client_new(const struct config *c, struct stripe_client **ret, char **ret_why)
{
    struct stripe_client *s = mem_new(struct stripe_client);
    arena_init(&s->arena, NULL, 0);
    enum err e = read_stripe_account(s, c, ret_why);
    if (!e)
        e = net_client_new(&s->rest.client);
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
    net_client_free(s->rest.client);
    crypto_wipe((void *)s->authorization.p, s->authorization.n);
    arena_done(&s->arena);
    free(s);
}
