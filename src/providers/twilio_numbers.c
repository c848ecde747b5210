/* Virtual numbers from Twilio: AvailablePhoneNumbers are searched, IncomingPhoneNumbers are bought and given back.
 *
 * Twilio knows no idempotency keys, so a number carries its reference as its FriendlyName: before anything is bought,
 * and again when a purchase may or may not have happened, the account's numbers are searched for it. One that was
 * neither answered nor found may still be on its way: for a while nothing else is bought in its place. */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "providers/numbers.h"
#include "providers/twilio.h"

#define PAGES_MAX      20 /* of one list */
#define CANDIDATES_MAX 5  /* numbers that are tried: another may buy one first */
#define HOOK           "/hooks/twilio/voice"
#define CODE_TAKEN     21422 /* "PhoneNumber is not available" */
#define PURCHASES_MAX  64    /* at once */
#define REFERENCE_MAX  63
#define SETTLE_US      (60 * US_PER_S) /* so long a purchase without an answer may still happen */

/* Of one reference: two must not both find nothing and both buy. */
struct purchase {
    char reference[REFERENCE_MAX + 1]; /* "": a free place */
    bool running;
    int64_t open_until_us; /* the service's clock: one had no answer, and may happen until then */
};

struct twilio_numbers {
    struct number_source source;
    struct twilio *twilio;
    struct arena arena;
    struct str voice_url; /* STR_NONE: the account's default */
    int64_t timeout_us;   /* of one request */
    pthread_mutex_t lock;
    struct purchase purchases[PURCHASES_MAX];
};

/* A number of the account. */
struct held {
    struct str sid, number; /* STR_NONE: none was found */
};

/* ---- the account's own numbers ---- */

/* The first entry of a page whose `member` is `value`. False if the page is not what it should be. */
static bool search_page(const json_t *page, const struct rest_field *wanted, const char *member, struct arena *a,
                        struct held *ret)
{
    const json_t *list = json_object_get(page, "incoming_phone_numbers"), *entry;
    size_t i;
    if (!json_is_array(list))
        return false;
    json_array_foreach (list, i, entry) {
        struct str sid = rest_text(entry, "sid"), number = rest_text(entry, "phone_number");
        if (!str_eq(rest_text(entry, member), wanted->value))
            continue;
        if (!twilio_is_sid(sid, "PN") || !twilio_is_number(number))
            return false;
        *ret = (struct held){arena_str(a, sid), arena_str(a, number)};
        return true;
    }
    return true;
}

/* Looks for the number whose `member` is what the filter says, page by page: DONE, also where there is none. Never
 * REFUSED: that the account is refused says nothing about its numbers. */
static enum outcome search(struct twilio_numbers *n, struct rest_field filter, const char *member, struct arena *a,
                           struct held *ret)
{
    const struct rest_field fields[] = {filter, {"PageSize", STR("100")}};
    struct twilio_request request = {
        .method = "GET", .path = STR("/IncomingPhoneNumbers.json"), .fields = fields, .field_count = 2};
    struct held held = {0};
    for (int pages = 0; pages < PAGES_MAX; pages++) {
        struct twilio_answer answer;
        struct str next;
        enum outcome o = twilio_call(n->twilio, &request, a, &answer);
        if (o != OUTCOME_DONE)
            return OUTCOME_UNKNOWN;
        bool fine = answer.body && search_page(answer.body, &filter, member, a, &held) &&
                    twilio_next_page(n->twilio, answer.body, a, &next);
        json_decref(answer.body);
        if (!fine)
            return OUTCOME_UNKNOWN;
        if (held.sid.p || !next.p) {
            *ret = held;
            return OUTCOME_DONE;
        }
        request = (struct twilio_request){.method = "GET", .path = next};
    }
    return OUTCOME_UNKNOWN; /* a list without an end */
}

static enum outcome search_reference(struct twilio_numbers *n, struct str reference, struct arena *a, struct held *ret)
{
    return search(n, (struct rest_field){"FriendlyName", reference}, "friendly_name", a, ret);
}

static enum outcome twilio_find(struct number_source *source, struct str reference, struct arena *a, struct str *ret)
{
    struct held held;
    enum outcome o = search_reference((struct twilio_numbers *)source, reference, a, &held);
    if (o == OUTCOME_DONE)
        *ret = held.number;
    return o;
}

/* ---- buying ---- */

struct candidates {
    struct str numbers[CANDIDATES_MAX];
    size_t count;
};

static bool read_candidates(const json_t *page, struct arena *a, struct candidates *ret)
{
    const json_t *list = json_object_get(page, "available_phone_numbers"), *entry;
    size_t i;
    if (!json_is_array(list))
        return false;
    ret->count = 0;
    json_array_foreach (list, i, entry) {
        struct str number = rest_text(entry, "phone_number");
        if (!twilio_is_number(number))
            return false;
        if (ret->count < CANDIDATES_MAX)
            ret->numbers[ret->count++] = arena_str(a, number);
    }
    return true;
}

static enum outcome list_available(struct twilio_numbers *n, struct str country, struct arena *a,
                                   struct candidates *ret)
{
    const struct rest_field fields[] = {{"VoiceEnabled", STR("true")}, {"PageSize", STR("5")}};
    const struct twilio_request request = {
        .method = "GET",
        .path = arena_printf(a, "/AvailablePhoneNumbers/%.*s/Local.json", STR_ARG(country)),
        .fields = fields,
        .field_count = 2};
    struct twilio_answer answer;
    enum outcome o = twilio_call(n->twilio, &request, a, &answer);
    if (o == OUTCOME_DONE && !(answer.body && read_candidates(answer.body, a, ret)))
        o = OUTCOME_UNKNOWN;
    json_decref(answer.body);
    return o;
}

/* *ret_taken: refused because somebody else has it now. */
static enum outcome buy(struct twilio_numbers *n, struct str number, struct str reference, struct arena *a,
                        bool *ret_taken)
{
    const struct rest_field fields[] = {
        {"PhoneNumber", number}, {"FriendlyName", reference}, {"VoiceUrl", n->voice_url}, {"VoiceMethod", STR("POST")}};
    const struct twilio_request request = {.method = "POST",
                                           .path = STR("/IncomingPhoneNumbers.json"),
                                           .fields = fields,
                                           .field_count = n->voice_url.p ? 4 : 2};
    struct twilio_answer answer;
    enum outcome o = twilio_call(n->twilio, &request, a, &answer);
    *ret_taken = o == OUTCOME_REFUSED && answer.code == CODE_TAKEN;
    if (o == OUTCOME_DONE && !str_eq(rest_text(answer.body, "phone_number"), number))
        o = OUTCOME_UNKNOWN;
    json_decref(answer.body);
    return o;
}

/* What came of a purchase that may have happened: the number if it did. That it is not there yet proves nothing. */
static enum outcome look_again(struct twilio_numbers *n, struct str reference, struct arena *a, struct str *ret)
{
    struct held held;
    enum outcome o = search_reference(n, reference, a, &held);
    if (o != OUTCOME_DONE || !held.number.p)
        return OUTCOME_UNKNOWN;
    *ret = held.number;
    return OUTCOME_DONE;
}

static enum outcome buy_one_of(struct twilio_numbers *n, const struct candidates *candidates, struct purchase *p,
                               int64_t until_us, struct arena *a, struct str *ret)
{
    struct str reference = str_z(p->reference);
    enum outcome o = OUTCOME_REFUSED;
    bool taken = true;
    for (size_t i = 0; i < candidates->count && o == OUTCOME_REFUSED && taken; i++) {
        if (clock_monotonic_us() + n->timeout_us > until_us)
            return OUTCOME_UNKNOWN;
        o = buy(n, candidates->numbers[i], reference, a, &taken);
        if (o == OUTCOME_DONE)
            *ret = candidates->numbers[i];
    }
    if (o != OUTCOME_UNKNOWN)
        return o;
    p->open_until_us = clock_now_us() + SETTLE_US;
    return look_again(n, reference, a, ret);
}

static bool is_over(const struct purchase *p)
{
    return !p->running && p->open_until_us <= clock_now_us();
}

/* The reference's place, or a free one; NULL: it is being bought for already, or all are taken. Nobody waits for a slow
 * provider here. */
static struct purchase *begin_purchase(struct twilio_numbers *n, struct str reference)
{
    struct purchase *mine = NULL, *place = NULL;
    pthread_mutex_lock(&n->lock);
    for (struct purchase *p = n->purchases; p < n->purchases + PURCHASES_MAX; p++) {
        if (is_over(p))
            *(place = p) = (struct purchase){0};
        else if (str_eq(str_z(p->reference), reference))
            mine = p;
    }
    if (mine)
        place = mine->running ? NULL : mine;
    if (place) {
        memcpy(place->reference, reference.p, reference.n);
        place->running = true;
    }
    pthread_mutex_unlock(&n->lock);
    return place;
}

static void end_purchase(struct twilio_numbers *n, struct purchase *p, enum outcome o)
{
    pthread_mutex_lock(&n->lock);
    p->running = false;
    if (o != OUTCOME_UNKNOWN)
        p->open_until_us = 0;
    pthread_mutex_unlock(&n->lock);
}

static enum outcome acquire(struct twilio_numbers *n, struct purchase *p, struct str country, int64_t until_us,
                            struct arena *a, struct str *ret)
{
    struct held held;
    struct candidates candidates = {0};
    enum outcome o = search_reference(n, str_z(p->reference), a, &held);
    if (o != OUTCOME_DONE)
        return o;
    if (held.number.p) {
        *ret = held.number;
        return OUTCOME_DONE;
    }
    if (p->open_until_us > clock_now_us())
        return OUTCOME_UNKNOWN;
    o = list_available(n, country, a, &candidates);
    return o == OUTCOME_DONE ? buy_one_of(n, &candidates, p, until_us, a, ret) : o;
}

static enum outcome twilio_acquire(struct number_source *source, struct str reference, struct str country,
                                   int64_t until_us, struct arena *a, struct str *ret)
{
    struct twilio_numbers *n = (struct twilio_numbers *)source;
    if (!reference.n || reference.n > REFERENCE_MAX || (!str_eq(country, STR("US")) && !str_eq(country, STR("CA"))))
        return OUTCOME_REFUSED;
    struct purchase *p = begin_purchase(n, reference);
    if (!p)
        return OUTCOME_UNKNOWN;
    enum outcome o = acquire(n, p, country, until_us, a, ret);
    end_purchase(n, p, o);
    return o;
}

/* ---- giving back ---- */

static enum outcome give_back(struct twilio_numbers *n, struct str sid, struct arena *a)
{
    const struct twilio_request request = {.method = "DELETE",
                                           .path = arena_printf(a, "/IncomingPhoneNumbers/%.*s.json", STR_ARG(sid))};
    struct twilio_answer answer;
    enum outcome o = twilio_call(n->twilio, &request, a, &answer);
    json_decref(answer.body);
    return answer.status == 404 ? OUTCOME_DONE : o;
}

static enum outcome twilio_release(struct number_source *source, struct str number)
{
    struct twilio_numbers *n = (struct twilio_numbers *)source;
    struct held held;
    struct arena a;
    arena_init(&a, NULL, 0);
    enum outcome o = search(n, (struct rest_field){"PhoneNumber", number}, "phone_number", &a, &held);
    if (o == OUTCOME_DONE && held.sid.p)
        o = give_back(n, held.sid, &a);
    arena_done(&a);
    return o;
}

/* ---- life ---- */

static void numbers_free(struct number_source *source)
{
    struct twilio_numbers *n = (struct twilio_numbers *)source;
    twilio_free(n->twilio);
    pthread_mutex_destroy(&n->lock);
    arena_done(&n->arena);
    free(n);
}

static const struct number_source_ops ops = {
    .acquire = twilio_acquire, .find = twilio_find, .release = twilio_release, .free = numbers_free};

enum err twilio_numbers_new(const struct config *c, struct number_source **ret, char **ret_why)
{
    struct twilio_numbers *n = mem_new(struct twilio_numbers);
    n->source.ops = &ops;
    n->timeout_us = (int64_t)c->twilio_timeout_s * US_PER_S;
    arena_init(&n->arena, NULL, 0);
    pthread_mutex_init(&n->lock, NULL);
    if (*c->top_public_url)
        n->voice_url = arena_printf(&n->arena, "%s" HOOK, c->top_public_url);
    enum err e = twilio_new(c, &n->twilio, ret_why);
    if (e) {
        numbers_free(&n->source);
        return e;
    }
    *ret = &n->source;
    return ERR_NONE;
}
