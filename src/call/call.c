#include "call/call.h"

#include <assert.h>

#include "base/crypto.h"
#include "call/keep.h"

static_assert((int)PROMPT_MESSAGE == (int)GREETING_MESSAGE, "the first prompts are the greetings");

void call_init(struct call *c)
{
    *c = (struct call){.state = CALL_NEW};
}

const char *call_text(const struct call *c, enum call_prompt prompt)
{
    static const char *const texts[PROMPT_COUNT] = {
#define P(symbol, word, text) [PROMPT_##symbol] = text,
#include "tbl/prompts.def"
#undef P
    };
    if (prompt == PROMPT_OPENS)
        return c->opening;
    return (int)prompt < GREETING_COUNT ? c->greetings[prompt] : texts[prompt];
}

const char *call_state_name(enum call_state s)
{
    static const char *const names[] = {
        [CALL_NEW] = "new",           [CALL_ARRIVING] = "arriving",   [CALL_COLLECTING] = "collecting",
        [CALL_CHECKING] = "checking", [CALL_RECORDING] = "recording", [CALL_RINGING] = "ringing",
        [CALL_BRIDGED] = "bridged",   [CALL_ENDING] = "ending",       [CALL_OVER] = "over",
    };
    return names[s];
}

int call_refusal(const struct call *c)
{
    return c->reason == ACCESS_NOT_LISTED ? 603 : 404;
}

/* The only place where the state changes. */
static void call_enter(struct call *c, enum call_state s)
{
    c->state = s;
}

/* ---- actions ---- */

static struct call_action *add_call_action(struct call_actions *out, enum call_action_kind kind)
{
    assert(out->n < CALL_ACTIONS_MAX);
    struct call_action *a = &out->v[out->n++];
    *a = (struct call_action){.kind = kind};
    return a;
}

static void add_answer(struct call *c, struct call_actions *out)
{
    if (c->answered)
        return;
    c->answered = true;
    add_call_action(out, CALL_ANSWER);
}

static void add_prompt(const struct call *c, enum call_prompt prompt, bool interruptible, struct call_actions *out)
{
    const char *text = call_text(c, prompt);
    if (!text[0])
        return;
    struct call_action *a = add_call_action(out, CALL_SAY);
    a->say.prompt = prompt;
    a->say.text = text;
    if ((int)prompt < GREETING_COUNT && id_given(&c->recordings[prompt]))
        a->say.recording = &c->recordings[prompt];
    a->say.interruptible = interruptible;
}

bool call_takes_speech(const struct call *c)
{
    return c->speech && !c->code[0];
}

int64_t call_wait_ms(const struct call *c)
{
    return c->lengths >> strlen(c->code) & 1 ? CALL_NEXT_WAIT_MS : CALL_FIRST_WAIT_MS;
}

size_t call_code_end(const struct call *c)
{
    size_t n = CALL_CODE_MAX;
    while (n > CALL_CODE_DIGITS && !(c->lengths >> n & 1))
        n--;
    return n;
}

static void collect_digits(struct call *c, struct call_actions *out)
{
    struct call_action *a = add_call_action(out, CALL_COLLECT);
    a->collect.wait_ms = call_wait_ms(c);
    a->collect.speech = call_takes_speech(c);
    call_enter(c, CALL_COLLECTING);
}

/* Says the prompt, and collects another code. */
static void collect_again(struct call *c, enum call_prompt prompt, struct call_actions *out)
{
    add_prompt(c, prompt, prompt != PROMPT_DENIED && prompt != PROMPT_OPENS, out);
    collect_digits(c, out);
}

static void clear_code(struct call *c)
{
    crypto_wipe(c->code, sizeof c->code);
}

static void ask_code(struct call *c, const char *code, enum access_way way, struct call_actions *out)
{
    struct call_action *a = add_call_action(out, CALL_ASK_CODE);
    memcpy(a->ask.code, code, strlen(code) + 1);
    a->ask.way = way;
    clear_code(c);
    c->way = way;
    call_enter(c, CALL_CHECKING);
}

static void add_hang_up(struct call *c, struct call_actions *out)
{
    add_call_action(out, CALL_HANG_UP);
    call_enter(c, CALL_ENDING);
}

static void reject_call(struct call *c, int status, struct call_actions *out)
{
    add_call_action(out, CALL_REJECT)->status = status;
    call_enter(c, CALL_OVER);
}

/* Step 8 begins: record the forwarding before the phone rings. */
static void forward_call(struct call *c, struct call_actions *out)
{
    clear_code(c);
    c->outcome = CALL_FORWARDED;
    add_call_action(out, CALL_ASK_FORWARDED);
    call_enter(c, CALL_RECORDING);
}

/* Nobody talks to the visitor: take a message, or say why and hang up. */
static void end_unanswered(struct call *c, enum call_forward_failure failure, struct call_actions *out)
{
    static const enum call_prompt prompts[] = {[CALL_NO_ANSWER] = PROMPT_NOBODY,
                                               [CALL_BUSY] = PROMPT_BUSY,
                                               [CALL_DECLINED] = PROMPT_DECLINED,
                                               [CALL_UNREACHABLE] = PROMPT_UNREACHABLE};
    add_answer(c, out);
    if (c->ring.message) {
        add_prompt(c, PROMPT_MESSAGE, false, out);
        add_call_action(out, CALL_TAKE_MESSAGE)->max_s = CALL_MESSAGE_S;
    } else {
        add_prompt(c, prompts[failure], false, out);
    }
    add_hang_up(c, out);
}

static enum call_prompt denial(const struct call *c)
{
    return c->opening[0] ? PROMPT_OPENS : PROMPT_DENIED;
}

static void ring_resident(struct call *c, struct call_actions *out)
{
    if (c->denied)
        add_prompt(c, denial(c), false, out);
    if (c->answered)
        add_prompt(c, PROMPT_FORWARDING, false, out);
    if (!c->ring.count && !c->ring.browsers) {
        end_unanswered(c, CALL_NO_ANSWER, out);
        return;
    }
    add_call_action(out, CALL_FORWARD)->forward = &c->ring;
    call_enter(c, CALL_RINGING);
}

static void add_tones(const struct call *c, struct call_actions *out)
{
    struct call_action *a = add_call_action(out, CALL_SEND_TONES);
    memcpy(a->tones.keys, c->tones, sizeof a->tones.keys);
    a->tones.form = c->release;
}

/* Opens the door, then ends the call. */
static void open_door(struct call *c, struct call_actions *out)
{
    add_answer(c, out);
    if (c->release.before_greeting)
        add_tones(c, out);
    add_prompt(c, PROMPT_GRANTED, false, out);
    if (!c->release.before_greeting)
        add_tones(c, out);
    add_hang_up(c, out);
}

static void release_door(struct call *c, const struct access_decision *d, struct call_actions *out)
{
    c->outcome = CALL_RELEASED;
    c->grant_id = d->grant_id;
    open_door(c, out);
}

/* ---- decisions ---- */

static void call_arrived(struct call *c, const struct access_decision *d, struct call_actions *out)
{
    keep_decision(c, d);
    switch (d->verdict) {
    case ACCESS_REJECT:
        c->outcome = CALL_REJECTED;
        reject_call(c, call_refusal(c), out);
        return;
    case ACCESS_SELF_CALL:
        c->outcome = CALL_OWNER;
        add_answer(c, out);
        add_prompt(c, PROMPT_LINE_WORKS, false, out);
        add_hang_up(c, out);
        return;
    case ACCESS_RELEASE:
        release_door(c, d, out);
        return;
    case ACCESS_COLLECT:
        c->speech = d->voice && c->hears;
        add_answer(c, out);
        collect_again(c, PROMPT_WELCOME, out);
        return;
    case ACCESS_ANSWER:
        add_answer(c, out);
        add_call_action(out, CALL_ASK_ARRIVE);
        return;
    case ACCESS_WRONG:
    case ACCESS_INCOMPLETE:
    case ACCESS_FORWARD:
        forward_call(c, out);
        return;
    }
}

static void code_denied(struct call *c, const struct access_decision *d, struct call_actions *out)
{
    const bool heard = c->way != ACCESS_UNCLEAR;
    c->wrong += heard;
    if (c->wrong == CALL_ATTEMPTS || d->closing.minutes) {
        c->denied = true;
        forward_call(c, out);
        return;
    }
    collect_again(c, heard ? denial(c) : PROMPT_KEYPAD, out);
}

static void code_incomplete(struct call *c, struct call_actions *out)
{
    if (++c->incomplete == CALL_ATTEMPTS)
        forward_call(c, out);
    else
        collect_again(c, PROMPT_INCOMPLETE, out);
}

static void call_checked(struct call *c, const struct access_decision *d, struct call_actions *out)
{
    const enum access_reason before = c->reason;
    keep_decision(c, d);
    c->speech = c->speech && d->voice;
    switch (d->verdict) {
    case ACCESS_RELEASE:
        release_door(c, d, out);
        return;
    case ACCESS_WRONG:
        code_denied(c, d, out);
        return;
    case ACCESS_INCOMPLETE:
        c->reason = before;
        code_incomplete(c, out);
        return;
    case ACCESS_COLLECT:
        c->reason = before;
        collect_again(c, PROMPT_KEYPAD, out);
        return;
    default:
        forward_call(c, out);
        return;
    }
}

/* Without a decision the resident decides. If the building is not known either, another node may reach the store, and
 * 503 sends the caller there (RFC 3263, 4.3). Nothing is asked again: the store has used up the visitor's time. */
static void call_failed(struct call *c, const struct call_event *e, struct call_actions *out)
{
    if (e->decision && e->decision->verdict != ACCESS_FORWARD) { /* nothing is written for it */
        call_arrived(c, e->decision, out);
        return;
    }
    if (e->decision)
        keep_decision(c, e->decision);
    c->reason = ACCESS_FAILED;
    if (!c->answered && !e->decision) {
        reject_call(c, e->away ? 503 : 500, out);
    } else if (e->gone) {
        add_prompt(c, PROMPT_NOBODY, false, out);
        add_hang_up(c, out);
    } else {
        c->outcome = CALL_FORWARDED;
        ring_resident(c, out);
    }
}

/* ---- the caller's input ---- */

/* `*` restarts the code, `#` ends it. A `#` without digits, as after the last digit, has no effect. */
static void take_digit(struct call *c, char key, struct call_actions *out)
{
    size_t n = strlen(c->code);
    c->keys++;
    if (key == '*') {
        clear_code(c);
        collect_digits(c, out);
    } else if (key == '#') {
        if (n)
            ask_code(c, c->code, ACCESS_KEYS, out);
    } else if (key >= '0' && key <= '9') {
        c->code[n++] = key;
        c->code[n] = '\0';
        if (n >= call_code_end(c))
            ask_code(c, c->code, ACCESS_KEYS, out);
        else
            collect_digits(c, out);
    }
}

/* Speech counts only where the building allows it, and not after a key was pressed. */
static void take_spoken(struct call *c, struct str digits, struct call_actions *out)
{
    if (!call_takes_speech(c) || digits.n == 0 || digits.n > CALL_CODE_DIGITS)
        return;
    char code[CALL_CODE_MAX + 1] = "";
    memcpy(code, digits.p, digits.n);
    if (strspn(code, "0123456789") == digits.n) {
        c->spoken++;
        ask_code(c, code, ACCESS_SPOKEN, out);
    }
    crypto_wipe(code, sizeof code);
}

/* Asks for the keypad. After CALL_UNCLEAR_MAX times speech is ignored, so that noise cannot hold the call. A possible
 * guess is counted first. */
static void take_unclear(struct call *c, bool guess, struct call_actions *out)
{
    if (!call_takes_speech(c))
        return;
    c->speech = ++c->unclear < CALL_UNCLEAR_MAX;
    if (guess)
        ask_code(c, "", ACCESS_UNCLEAR, out);
    else
        collect_again(c, PROMPT_KEYPAD, out);
}

static void call_timed_out(struct call *c, struct call_actions *out)
{
    if (c->code[0])
        ask_code(c, c->code, ACCESS_KEYS, out);
    else
        forward_call(c, out);
}

/* ---- the machine ---- */

static void step_collecting(struct call *c, const struct call_event *e, struct call_actions *out)
{
    switch (e->kind) {
    case CALL_DIGIT:
        take_digit(c, e->digit, out);
        return;
    case CALL_SPOKEN:
        take_spoken(c, e->spoken, out);
        return;
    case CALL_UNCLEAR:
        take_unclear(c, e->guess, out);
        return;
    case CALL_TIMEOUT:
        call_timed_out(c, out);
        return;
    default:
        return;
    }
}

static void step_asked(struct call *c, const struct call_event *e, struct call_actions *out)
{
    if (c->state == CALL_RECORDING) {
        /* Ring the resident even if recording failed. */
        if (e->kind == CALL_DECIDED) {
            keep_near(c, e->decision);
            keep_minutes(c, e->decision);
        }
        if (e->kind == CALL_DECIDED || e->kind == CALL_FAILED)
            ring_resident(c, out);
    } else if (e->kind == CALL_FAILED) {
        call_failed(c, e, out);
    } else if (e->kind == CALL_DECIDED) {
        if (c->state == CALL_ARRIVING)
            call_arrived(c, e->decision, out);
        else
            call_checked(c, e->decision, out);
    }
}

static void step_ringing(struct call *c, const struct call_event *e, struct call_actions *out)
{
    switch (e->kind) {
    case CALL_FORWARD_ANSWERED:
        call_enter(c, CALL_BRIDGED);
        return;
    case CALL_FORWARD_OPEN:
        if (!c->tones[0])
            return;
        c->opened = true;
        open_door(c, out);
        return;
    case CALL_FORWARD_FAILED:
        end_unanswered(c, e->failure, out);
        return;
    default:
        return;
    }
}

/* The conversation goes on after the door was opened: the resident may have to open it again. */
static void step_bridged(struct call *c, const struct call_event *e, struct call_actions *out)
{
    if (e->kind == CALL_FORWARD_OPEN && c->tones[0]) {
        c->opened = true;
        add_tones(c, out);
    } else if (e->kind == CALL_FORWARD_ENDED) {
        add_hang_up(c, out);
    }
}

void call_step(struct call *c, const struct call_event *e, struct call_actions *ret)
{
    ret->n = 0;
    if (e->kind == CALL_HUNG_UP) {
        clear_code(c);
        c->hung_up |= c->state < CALL_BRIDGED;
        call_enter(c, CALL_OVER);
        return;
    }
    switch (c->state) {
    case CALL_NEW:
        if (e->kind == CALL_ARRIVED) {
            c->hears = e->hears;
            c->browsers = e->browsers;
            add_call_action(ret, CALL_ASK_ARRIVE);
            call_enter(c, CALL_ARRIVING);
        }
        return;
    case CALL_COLLECTING:
        step_collecting(c, e, ret);
        return;
    case CALL_ARRIVING:
    case CALL_CHECKING:
    case CALL_RECORDING:
        step_asked(c, e, ret);
        return;
    case CALL_RINGING:
        step_ringing(c, e, ret);
        return;
    case CALL_BRIDGED:
        step_bridged(c, e, ret);
        return;
    case CALL_ENDING:
    case CALL_OVER:
        return;
    }
}
