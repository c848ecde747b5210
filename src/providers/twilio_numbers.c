/* Virtual numbers from Twilio: searches AvailablePhoneNumbers, buys and releases IncomingPhoneNumbers.
 *
 * Twilio has no idempotency keys, so a number carries its reference as its FriendlyName. The account's numbers are
 * searched for the reference before a purchase, and after a purchase without an answer. If that finds nothing, the
 * purchase may still be in progress, and no other number is bought for the reference for a minute: not by any node, nor
 * after a crash, because table number_purchase has a row before anything is bought. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "providers/numbers.h"
#include "providers/twilio.h"

#define PAGES_MAX      20 /* of one list */
#define CANDIDATES_MAX 5  /* tried in turn, as somebody else may buy one first */
#define VOICE_HOOK     "/hooks/twilio/voice"
#define STATUS_HOOK    "/hooks/twilio/status"
#define CODE_TAKEN     21422 /* "PhoneNumber is not available" */
#define REFERENCE_MAX  63
#define SETTLE_US      (60 * US_PER_S) /* a purchase without an answer may take effect until then */

/* The right to buy a number for a reference, which one caller has: two must not both find nothing and both buy. */
struct purchase {
    struct twilio_numbers *numbers;
    struct str reference;
    int64_t lasts_us;       /* for open_run */
    int64_t lease, renewed; /* name its row, before and after open_run; 0: not open */
    bool unclear;           /* a purchase had no answer */
};

struct twilio_numbers {
    struct number_source source;
    struct twilio *twilio;
    struct store *store;
    struct arena arena;
    struct str voice_url, status_url; /* STR_NONE: the account's default */
    int64_t timeout_us;               /* of one call */
};

/* A number of the account. */
struct held {
    struct str sid, number; /* STR_NONE: not found */
};

/* ---- the account's own numbers ---- */

/* The first entry of a page whose `member` has the wanted value. Returns false if the page is malformed. */
static bool search_number_page(const json_t *page, const struct rest_field *wanted, const char *member, struct arena *a,
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

/* Searches the account, page by page, for the number whose `member` has the value of the filter. DONE also if there is
 * no such number; never REFUSED, as a refused request says nothing about the numbers. */
static enum outcome search_numbers(struct twilio_numbers *n, struct rest_field filter, const char *member,
                                   struct arena *a, struct held *ret)
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
        bool fine = answer.body && search_number_page(answer.body, &filter, member, a, &held) &&
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
    return OUTCOME_UNKNOWN; /* too many pages */
}

static enum outcome search_by_reference(struct twilio_numbers *n, struct str reference, struct arena *a,
                                        struct held *ret)
{
    return search_numbers(n, (struct rest_field){"FriendlyName", reference}, "friendly_name", a, ret);
}

static enum outcome twilio_find(struct number_source *source, struct str reference, struct arena *a, struct str *ret)
{
    struct held held;
    enum outcome o = search_by_reference((struct twilio_numbers *)source, reference, a, &held);
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

/* *ret_taken: refused because somebody else has bought it. */
static enum outcome buy_number(struct twilio_numbers *n, struct str number, struct str reference, struct arena *a,
                               bool *ret_taken)
{
    const struct rest_field fields[] = {{"PhoneNumber", number},
                                        {"FriendlyName", reference},
                                        {"VoiceUrl", n->voice_url},
                                        {"VoiceMethod", STR("POST")},
                                        {"VoiceFallbackUrl", n->voice_url}, /* goes on where the call is */
                                        {"VoiceFallbackMethod", STR("POST")},
                                        {"StatusCallback", n->status_url},
                                        {"StatusCallbackMethod", STR("POST")}};
    const struct twilio_request request = {.method = "POST",
                                           .path = STR("/IncomingPhoneNumbers.json"),
                                           .fields = fields,
                                           .field_count = n->voice_url.p ? 8 : 2};
    struct twilio_answer answer;
    enum outcome o = twilio_call(n->twilio, &request, a, &answer);
    *ret_taken = o == OUTCOME_REFUSED && answer.code == CODE_TAKEN;
    if (o == OUTCOME_DONE && !str_eq(rest_text(answer.body, "phone_number"), number))
        o = OUTCOME_UNKNOWN;
    json_decref(answer.body);
    return o;
}

/* Finds the number of a purchase without an answer. UNKNOWN if it is not there, as it may appear later. */
static enum outcome find_purchased(struct twilio_numbers *n, struct str reference, struct arena *a, struct str *ret)
{
    struct held held;
    enum outcome o = search_by_reference(n, reference, a, &held);
    if (o != OUTCOME_DONE || !held.number.p)
        return OUTCOME_UNKNOWN;
    *ret = held.number;
    return OUTCOME_DONE;
}

static enum err open_run(void *arg, struct db *db)
{
    struct purchase *p = arg;
    const int64_t offset_us = clock_offset_s() * US_PER_S;
    CURSOR c;
    enum err e = db_one(db,
                        SQL(number_purchase_open, .reference = p->reference, .lasts = offset_us + p->lasts_us,
                            .offset = offset_us, .open_until = p->lease),
                        &c);
    if (!e)
        p->renewed = row_number_purchase_open(&c, NULL).open_until;
    return e;
}

/* Opens the purchase for that time, or goes on with it. Fails if another caller has it open. */
static bool purchase_open(struct purchase *p, int64_t lasts_us)
{
    p->lasts_us = lasts_us;
    if (store_run(p->numbers->store, STORE_WRITE, open_run, p))
        return false;
    p->lease = p->renewed;
    return true;
}

static enum err close_run(void *arg, struct db *db)
{
    const struct purchase *p = arg;
    return db_exec(db, SQL(number_purchase_close, .reference = p->reference, .open_until = p->lease), NULL);
}

/* If that fails, nothing is bought for the reference until the time is over. */
static void purchase_close(struct purchase *p)
{
    (void)!store_run(p->numbers->store, STORE_WRITE, close_run, p);
}

static enum outcome buy_candidate(struct purchase *p, const struct candidates *candidates, int64_t until_us,
                                  struct arena *a, struct str *ret)
{
    struct twilio_numbers *n = p->numbers;
    enum outcome o = OUTCOME_REFUSED;
    bool taken = true;
    for (size_t i = 0; i < candidates->count && o == OUTCOME_REFUSED && taken; i++) {
        if (clock_monotonic_us() + n->timeout_us > until_us || !purchase_open(p, n->timeout_us + SETTLE_US))
            return OUTCOME_UNKNOWN;
        o = buy_number(n, candidates->numbers[i], p->reference, a, &taken);
        if (o == OUTCOME_DONE)
            *ret = candidates->numbers[i];
    }
    if (o != OUTCOME_UNKNOWN)
        return o;
    p->unclear = true;
    (void)purchase_open(p, SETTLE_US);
    return find_purchased(n, p->reference, a, ret);
}

static enum outcome find_or_buy(struct purchase *p, struct str country, int64_t until_us, struct arena *a,
                                struct str *ret)
{
    struct held held;
    struct candidates candidates = {0};
    enum outcome o = search_by_reference(p->numbers, p->reference, a, &held);
    if (o != OUTCOME_DONE)
        return o;
    if (held.number.p) {
        *ret = held.number;
        return OUTCOME_DONE;
    }
    o = list_available(p->numbers, country, a, &candidates);
    return o == OUTCOME_DONE ? buy_candidate(p, &candidates, until_us, a, ret) : o;
}

static enum outcome twilio_acquire(struct number_source *source, struct str reference, struct str country,
                                   int64_t until_us, struct arena *a, struct str *ret)
{
    struct purchase p = {.numbers = (struct twilio_numbers *)source, .reference = reference};
    if (!reference.n || reference.n > REFERENCE_MAX || (!str_eq(country, STR("US")) && !str_eq(country, STR("CA"))))
        return OUTCOME_REFUSED;
    if (!purchase_open(&p, SETTLE_US))
        return OUTCOME_UNKNOWN;
    enum outcome o = find_or_buy(&p, country, until_us, a, ret);
    if (o != OUTCOME_UNKNOWN || !p.unclear)
        purchase_close(&p);
    return o;
}

/* ---- releasing ---- */

static enum outcome delete_number_resource(struct twilio_numbers *n, struct str sid, struct arena *a)
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
    enum outcome o = search_numbers(n, (struct rest_field){"PhoneNumber", number}, "phone_number", &a, &held);
    if (o == OUTCOME_DONE && held.sid.p)
        o = delete_number_resource(n, held.sid, &a);
    arena_done(&a);
    return o;
}

/* ---- life ---- */

static void twilio_numbers_free(struct number_source *source)
{
    struct twilio_numbers *n = (struct twilio_numbers *)source;
    twilio_free(n->twilio);
    arena_done(&n->arena);
    free(n);
}

static const struct number_source_ops twilio_numbers_ops = {
    .acquire = twilio_acquire, .find = twilio_find, .release = twilio_release, .free = twilio_numbers_free};

enum err twilio_numbers_new(const struct config *c, struct store *store, struct number_source **ret, char **ret_why)
{
    struct twilio_numbers *n = mem_new(struct twilio_numbers);
    n->source.ops = &twilio_numbers_ops;
    n->store = store;
    n->timeout_us = (int64_t)c->twilio_timeout_s * US_PER_S;
    arena_init(&n->arena, NULL, 0);
    if (*c->top_public_url) {
        n->voice_url = arena_printf(&n->arena, "%s" VOICE_HOOK, c->top_public_url);
        n->status_url = arena_printf(&n->arena, "%s" STATUS_HOOK, c->top_public_url);
    }
    enum err e = twilio_new(c, &n->twilio, ret_why);
    if (e) {
        twilio_numbers_free(&n->source);
        return e;
    }
    *ret = &n->source;
    return ERR_NONE;
}
