#include "sip/code.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/wait.h"
#include "sip/agent.h"
#include "sip/leg.h"
#include "speech/speech.h"

#define CODE_DIGITS   6
#define TIMES         2     /* the code is told */
#define REACH_MS      20000 /* until the telephone rings */
#define RING_MS       40000 /* until it is answered */
#define WORDS_MS      15000 /* until the words are ready */
#define SPEAK_MS      60000 /* until all is said */
#define WAIT_MS       (REACH_MS + 5000)
#define HOUR_MS       3600000
#define HELLO_MS      1000 /* the telephone moves to the ear */
#define DIGIT_GAP_MS  350
#define GROUP_GAP_MS  500 /* after three digits */
#define NUMBER_ROOM   CALL_NUMBER_MAX
#define PARTS_MAX     (2 * (1 + TIMES * (1 + CODE_DIGITS)) + 2)
#define WORD_HELLO    10
#define WORD_AGAIN    11
#define WORD_GOOD_BYE 12

/* The words, each a text of its own, so that no code is in the cache. */
static const char *const words[] = {
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    [WORD_HELLO] = "Hello. The code to verify this phone is",
    [WORD_AGAIN] = "Once more. The code is",
    [WORD_GOOD_BYE] = "Good bye.",
};
#define WORDS (sizeof words / sizeof *words)

enum code_state { CODE_ASKED, CODE_CALLING, CODE_PREPARING, CODE_SPEAKING, CODE_OVER };

/* Free unless a thread waits for it or the agent's thread has it. */
struct sip_code_call {
    bool waited, used; /* with `result`, under the lock */
    bool known;
    enum code_call result; /* once known */
    char id[ID_LEN + 1], number[NUMBER_ROOM], as[NUMBER_ROOM], code[CODE_DIGITS + 1];

    struct mail mail;

    /* of the agent's thread */
    struct sip_agent *agent;
    enum code_state state;
    const char *end; /* for the log */
    int status;
    int64_t due_ms; /* of the state */
    struct sip_leg leg;
    struct clip *clips[WORDS];
};

/* ---- the call, on the agent's thread ---- */

/* Tells the thread that waits, once. */
static void tell(struct sip_code_call *c, enum code_call result)
{
    struct sip_codes *codes = &c->agent->codes;
    pthread_mutex_lock(&codes->lock);
    if (!c->known)
        c->result = result;
    c->known = true;
    pthread_cond_broadcast(&codes->changed);
    pthread_mutex_unlock(&codes->lock);
}

static void enter(struct sip_code_call *c, enum code_state state, int64_t ms)
{
    c->state = state;
    c->due_ms = tick_now_ms() + ms;
}

/* Hangs up, or cancels the call. The next tick frees it: this may be an event of its leg. */
static void end_code_call(struct sip_code_call *c, enum metric_label_CODE_END end)
{
    if (c->state == CODE_OVER)
        return;
    sip_leg_drop(&c->leg);
    crypto_wipe(c->code, sizeof c->code);
    c->state = CODE_OVER;
    c->end = metric_values_CODE_END[end];
    metric_add(&metrics.code_calls[end], 1);
    tell(c, CODE_CALL_FAILED);
}

/* The number does not exist, or cannot be called. */
static bool is_wrong_number(int status)
{
    return status == 404 || status == 410 || status == 484 || status == 604;
}

static void on_code_event(const struct hunt_event *e, void *arg)
{
    struct sip_code_call *c = arg;
    switch (e->kind) {
    case HUNT_RINGING:
    case HUNT_EARLY:
        if (c->state == CODE_CALLING)
            enter(c, CODE_CALLING, RING_MS);
        tell(c, CODE_CALL_PLACED);
        break;
    case HUNT_ANSWERED:
        enter(c, CODE_PREPARING, WORDS_MS);
        tell(c, CODE_CALL_PLACED);
        break;
    case HUNT_FAILED:
        c->status = e->status;
        if (is_wrong_number(e->status))
            tell(c, CODE_CALL_WRONG_NUMBER);
        end_code_call(c, METRIC_CODE_FAILED);
        break;
    case HUNT_PROMPTED:
        end_code_call(c, METRIC_CODE_TOLD);
        break;
    case HUNT_HUNG_UP:
        end_code_call(c, METRIC_CODE_HUNG_UP);
        break;
    default: /* keys mean nothing here */
        break;
    }
}

static void on_code_packet(struct sip_leg *l, const struct media_packet *p, void *arg)
{
    (void)l, (void)p, (void)arg;
}

static const struct sip_leg_events code_events = {.report = on_code_event, .packet = on_code_packet};

static struct speech_source source_of_word(size_t word)
{
    return (struct speech_source){.name = str_z(words[word])};
}

/* Gets the words of the code. False: not all are ready. */
static bool take_words(struct sip_code_call *c)
{
    bool ready = true;
    for (size_t i = 0; i < WORDS; i++) {
        const struct speech_source source = source_of_word(i);
        const bool needed = i >= WORD_HELLO || strchr(c->code, (char)('0' + i));
        if (needed && !c->clips[i] && speech_take(c->agent->speech, &source, &c->clips[i]) != SPEECH_READY)
            ready = false;
    }
    return ready;
}

struct parts {
    struct sound v[PARTS_MAX];
    size_t n;
};

static void add_part(struct parts *p, struct sound s)
{
    if (p->n < PARTS_MAX)
        p->v[p->n++] = s;
}

static void add_word(struct parts *p, const struct sip_code_call *c, size_t word, int64_t gap_ms)
{
    if (c->clips[word])
        add_part(p, clip_sound(c->clips[word]));
    add_part(p, sound_silence(gap_ms));
}

static void speak_code(struct sip_code_call *c)
{
    struct parts p = {.n = 0};
    add_part(&p, sound_silence(HELLO_MS));
    for (int time = 0; time < TIMES; time++) {
        add_word(&p, c, time ? WORD_AGAIN : WORD_HELLO, DIGIT_GAP_MS);
        for (size_t i = 0; i < CODE_DIGITS; i++)
            add_word(&p, c, (size_t)(c->code[i] - '0'),
                     i + 1 == CODE_DIGITS / 2 || i + 1 == CODE_DIGITS ? GROUP_GAP_MS : DIGIT_GAP_MS);
    }
    add_word(&p, c, WORD_GOOD_BYE, DIGIT_GAP_MS);
    crypto_wipe(c->code, sizeof c->code);
    enter(c, CODE_SPEAKING, SPEAK_MS);
    sip_leg_play(&c->leg, p.v, p.n);
}

static void free_code_call(struct sip_code_call *c)
{
    struct sip_codes *codes = &c->agent->codes;
    if (c->end)
        log_info("code call id=%s result=\"%s\" status=%d", c->id, c->end, c->status);
    sip_leg_done(&c->leg);
    for (size_t i = 0; i < WORDS; i++)
        c->clips[i] = clip_unref(c->clips[i]);
    crypto_wipe(c->code, sizeof c->code);
    pthread_mutex_lock(&codes->lock);
    c->used = false;
    pthread_mutex_unlock(&codes->lock);
}

/* Whether the agent's thread has the call. */
static bool is_under_way(struct sip_codes *codes, const struct sip_code_call *c)
{
    pthread_mutex_lock(&codes->lock);
    const bool used = c->used && c->state != CODE_ASKED;
    pthread_mutex_unlock(&codes->lock);
    return used;
}

static void tick_call(struct sip_code_call *c, int64_t now_ms)
{
    static const enum metric_label_CODE_END late[] = {[CODE_CALLING] = METRIC_CODE_NOT_ANSWERED,
                                                      [CODE_PREPARING] = METRIC_CODE_NO_SPEECH,
                                                      [CODE_SPEAKING] = METRIC_CODE_TOO_LONG};
    if (c->state != CODE_OVER)
        sip_leg_tick(&c->leg, now_ms);
    if (c->state == CODE_PREPARING && take_words(c))
        speak_code(c);
    if (c->state != CODE_OVER && now_ms >= c->due_ms)
        end_code_call(c, late[c->state]);
    if (c->state == CODE_OVER)
        free_code_call(c);
}

static void codes_on_tick(void *arg, int64_t now_ms)
{
    struct sip_agent *a = arg;
    bool more = false;
    for (size_t i = 0; i < SIP_CODE_CALLS_MAX; i++) {
        struct sip_code_call *c = &a->codes.calls[i];
        if (!is_under_way(&a->codes, c))
            continue;
        tick_call(c, now_ms);
        more = true;
    }
    if (!more)
        tick_remove(&a->codes.tick);
    a->codes.ticking = more;
}

static void on_asked(struct mail *m)
{
    struct sip_code_call *c = container_of(m, struct sip_code_call, mail);
    struct sip_agent *a = c->agent;
    enter(c, CODE_CALLING, REACH_MS);
    if (!a->codes.ticking)
        tick_add(a->tick, &a->codes.tick, codes_on_tick, a);
    a->codes.ticking = true;
    if (a->drain.stopping || !a->speech)
        end_code_call(c, METRIC_CODE_NO_TELEPHONE);
    else
        sip_leg_dial(&c->leg, a, 0, c->number, c->as, NULL, &code_events, c);
}

/* ---- the thread that asks ---- */

/* Under the lock. */
static struct sip_code_call *find_room(struct sip_codes *codes, int64_t per_hour)
{
    const int64_t now_ms = tick_now_ms();
    if (now_ms - codes->hour_ms >= HOUR_MS) {
        codes->hour_ms = now_ms;
        codes->hour_calls = 0;
    }
    for (size_t i = 0; !codes->closed && codes->hour_calls < per_hour && i < SIP_CODE_CALLS_MAX; i++)
        if (!codes->calls[i].waited && !codes->calls[i].used)
            return &codes->calls[i];
    return NULL;
}

static bool fits(const char *text, size_t room)
{
    return strlen(text) < room;
}

enum code_call sip_call_code(struct sip_agent *a, const char *id, const char *number, const char *as, const char *code)
{
    struct sip_codes *codes = &a->codes;
    if (!fits(id, ID_LEN + 1) || !fits(number, NUMBER_ROOM) || !fits(as, NUMBER_ROOM) ||
        strspn(code, "0123456789") != CODE_DIGITS || strlen(code) != CODE_DIGITS)
        return CODE_CALL_FAILED;
    pthread_mutex_lock(&codes->lock);
    struct sip_code_call *c = find_room(codes, a->config->sms_calls_per_hour);
    if (!c) {
        pthread_mutex_unlock(&codes->lock);
        metric_add(&metrics.code_calls[METRIC_CODE_REFUSED], 1);
        log_warn("code call id=%s result=refused reason=\"too many calls\"", id);
        return CODE_CALL_FAILED;
    }
    codes->hour_calls++;
    *c = (struct sip_code_call){.waited = true, .used = true, .mail.run = on_asked, .agent = a, .state = CODE_ASKED};
    (void)snprintf(c->id, sizeof c->id, "%s", id);
    (void)snprintf(c->number, sizeof c->number, "%s", number);
    (void)snprintf(c->as, sizeof c->as, "%s", as);
    (void)snprintf(c->code, sizeof c->code, "%s", code);
    mailbox_post(&a->box, &c->mail);
    const int64_t until_us = clock_monotonic_us() + WAIT_MS * 1000LL;
    while (!c->known && cond_wait_until(&codes->changed, &codes->lock, until_us))
        ;
    const enum code_call result = c->known ? c->result : CODE_CALL_FAILED;
    c->waited = false;
    pthread_mutex_unlock(&codes->lock);
    return result;
}

/* ---- life ---- */

void sip_codes_init(struct sip_agent *a)
{
    pthread_mutex_init(&a->codes.lock, NULL);
    cond_init(&a->codes.changed);
    a->codes.hour_ms = tick_now_ms();
    a->codes.calls = mem_array(struct sip_code_call, SIP_CODE_CALLS_MAX);
}

void sip_codes_start(struct sip_agent *a)
{
    if (!a->speech || strcmp(a->config->sms_provider, "call") != 0)
        return;
    for (size_t i = 0; i < WORDS; i++) {
        const struct speech_source source = source_of_word(i);
        speech_ask_ahead(a->speech, &source);
    }
}

void sip_codes_end(struct sip_agent *a, const struct sip_stack *s)
{
    for (size_t i = 0; i < SIP_CODE_CALLS_MAX; i++) {
        struct sip_code_call *c = &a->codes.calls[i];
        if (is_under_way(&a->codes, c) && (!s || c->leg.stack == s)) {
            end_code_call(c, METRIC_CODE_STOPPED);
            free_code_call(c);
        }
    }
    if (s)
        return;
    pthread_mutex_lock(&a->codes.lock);
    a->codes.closed = true;
    pthread_mutex_unlock(&a->codes.lock);
}

void sip_codes_done(struct sip_agent *a)
{
    pthread_cond_destroy(&a->codes.changed);
    pthread_mutex_destroy(&a->codes.lock);
    free(a->codes.calls);
}
