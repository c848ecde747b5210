#include "twiml/talk.h"

#include "base/clock.h"
#include "base/crypto.h"
#include "call/decide.h"
#include "call/words.h"

#define KEY_TALK '1'
#define KEY_OPEN '9'

/* ---- the machine ---- */

static bool is_ask(const struct call_action *a)
{
    return a->kind == CALL_ASK_ARRIVE || a->kind == CALL_ASK_CODE || a->kind == CALL_ASK_FORWARDED;
}

/* The building may have been removed during the call. Everything else that fails is the store: the turn is undone. */
static enum err answer_question(struct twiml_turn *t, const struct call_action *a, struct call_event *ret)
{
    const struct call_arrival *arrival = &t->s->story.arrival;
    struct call_question q = call_question(&t->s->call, a);
    q.to = arrival->dialled;
    q.from = arrival->caller;
    q.audio = AUDIO_TAKEN;
    q.arrival = arrival;
    q.whole = true;
    if (!t->asked++)
        t->asked_us = clock_monotonic_us();
    enum err e = call_decide(t->tx, &q, &t->decision);
    crypto_wipe(q.code, sizeof q.code);
    if (e && e != ERR_BUILDING_NOT_FOUND)
        return e;
    if (a->kind == CALL_ASK_ARRIVE)
        t->arrived = t->decision;
    if (t->decision.closing.minutes)
        t->closed = t->decision;
    *ret = (struct call_event){.kind = e ? CALL_FAILED : CALL_DECIDED, .decision = &t->decision, .gone = e != ERR_NONE};
    return ERR_NONE;
}

static void step(struct twiml_turn *t, const struct call_event *event, struct call_actions *ret)
{
    call_step(&t->s->call, event, ret);
    story_event(&t->s->story, t->at_ms, &t->s->call, event);
}

enum err twiml_report(struct twiml_turn *t, struct call_event event)
{
    for (;;) {
        struct call_actions actions;
        step(t, &event, &actions);
        if (!actions.n)
            return ERR_NONE;
        t->actions = actions;
        if (!is_ask(&actions.v[0]))
            return ERR_NONE;
        enum err e = answer_question(t, &actions.v[0], &event);
        if (e)
            return e;
    }
}

struct twiml_turn twiml_turn(struct tx *tx, struct twiml_session *s)
{
    s->at_ms = twiml_session_ms(s, tx->now_us);
    return (struct twiml_turn){.tx = tx, .s = s, .at_ms = s->at_ms};
}

/* ---- the visitor ---- */

enum err twiml_arrived(struct twiml_turn *t)
{
    return twiml_report(t, (struct call_event){.kind = CALL_ARRIVED, .hears = true});
}

void twiml_hung_up(struct twiml_turn *t)
{
    step(t, &(struct call_event){.kind = CALL_HUNG_UP}, &t->actions);
}

/* Fewer keys than were asked for: the visitor paused, or pressed `#`. */
static enum err take_keys(struct twiml_turn *t, struct str digits)
{
    const struct call *c = &t->s->call;
    const size_t asked = call_code_end(c) - strlen(c->code);
    for (size_t i = 0; i < digits.n && i < asked; i++) {
        enum err e = twiml_report(t, (struct call_event){.kind = CALL_DIGIT, .digit = digits.p[i]});
        if (e)
            return e;
    }
    if (t->asked || digits.n >= asked)
        return ERR_NONE;
    return twiml_report(t, (struct call_event){.kind = CALL_TIMEOUT});
}

static enum err take_speech(struct twiml_turn *t, struct str speech)
{
    char code[CALL_CODE_MAX + 1];
    if (!words_to_digits(speech, code, sizeof code))
        return twiml_report(t, (struct call_event){.kind = CALL_UNCLEAR});
    enum err e = twiml_report(t, (struct call_event){.kind = CALL_SPOKEN, .spoken = str_z(code)});
    memset(code, 0, sizeof code);
    return e;
}

/* The machine waits on after keys that it ignores, as a `#` without digits. */
static void keep_collecting(struct twiml_turn *t)
{
    const struct call *c = &t->s->call;
    if (t->actions.n || c->state != CALL_COLLECTING)
        return;
    t->actions = (struct call_actions){.n = 1};
    t->actions.v[0].kind = CALL_COLLECT;
    t->actions.v[0].collect.wait_ms = call_wait_ms(c);
    t->actions.v[0].collect.speech = call_takes_speech(c);
}

enum err twiml_gathered(struct twiml_turn *t, const struct form *f)
{
    const struct str digits = form_value(f, "Digits"), speech = form_value(f, "SpeechResult");
    enum err e = ERR_NONE;
    if (!digits.n && speech.n)
        e = take_speech(t, speech);
    else if (digits.n || !str_eq(form_value(f, "FinishedOnKey"), STR("#")) || t->s->call.code[0])
        e = take_keys(t, digits);
    keep_collecting(t);
    return e;
}

/* ---- the residents ---- */

static enum call_forward_failure dial_failure(struct str status)
{
    if (str_eq(status, STR("busy")))
        return CALL_BUSY;
    if (str_eq(status, STR("failed")))
        return CALL_UNREACHABLE;
    if (str_eq(status, STR("completed")) || str_eq(status, STR("answered")))
        return CALL_DECLINED; /* somebody answered, and did not accept */
    return CALL_NO_ANSWER;
}

/* Does this phone ring now? */
static bool rings(const struct twiml_session *s, size_t phone)
{
    return s->call.ring.strategy == RING_ALL || phone == s->phone;
}

static void note_phones(struct twiml_turn *t, enum call_step_kind kind)
{
    const struct call_ring *ring = &t->s->call.ring;
    for (size_t i = 0; i < ring->count; i++)
        if (rings(t->s, i))
            story_note(&t->s->story, t->at_ms, kind, NULL, ring->phones[i]);
}

static void note_failure(struct twiml_turn *t, enum call_forward_failure failure)
{
    static const enum call_step_kind kinds[] = {[CALL_NO_ANSWER] = CALL_STEP_LEG_NO_ANSWER,
                                                [CALL_BUSY] = CALL_STEP_LEG_BUSY,
                                                [CALL_DECLINED] = CALL_STEP_LEG_DECLINED,
                                                [CALL_UNREACHABLE] = CALL_STEP_LEG_FAILED};
    note_phones(t, kinds[failure]);
}

static bool ring_next(struct twiml_turn *t)
{
    const struct call_ring *ring = &t->s->call.ring;
    if (ring->strategy != RING_ORDER || t->s->phone + 1 >= ring->count)
        return false;
    t->s->phone++;
    t->actions = (struct call_actions){.n = 1};
    t->actions.v[0].kind = CALL_FORWARD;
    t->actions.v[0].forward = ring;
    return true;
}

enum err twiml_dialled(struct twiml_turn *t, struct str status)
{
    const enum call_forward_failure failure = dial_failure(status);
    note_failure(t, failure);
    t->s->story.end.minutes += failure == CALL_DECLINED; /* Twilio connects to the first that answers */
    if (ring_next(t))
        return ERR_NONE;
    return twiml_report(t, (struct call_event){.kind = CALL_FORWARD_FAILED, .failure = failure});
}

bool twiml_opens(const struct call *c, char key)
{
    const bool is_tone = c->tones[0] == key && !c->tones[1] && key != KEY_TALK;
    return c->tones[0] && (key == KEY_OPEN || is_tone);
}

enum err twiml_resident_chose(struct twiml_turn *t, struct str leg, size_t phone, struct str digits, bool *ret_connect)
{
    struct twiml_session *s = t->s;
    const char key = digits.n == 1 ? digits.p[0] : '\0';
    const bool talk = key == KEY_TALK || (!s->call.ring.accept && !twiml_opens(&s->call, key));
    *ret_connect = s->call.state == CALL_BRIDGED && str_eq(str_z(s->leg), leg); /* asked again */
    if (s->call.state != CALL_RINGING || leg.n >= sizeof s->leg)
        return ERR_NONE;
    if (talk || twiml_opens(&s->call, key))
        story_note(&s->story, t->at_ms, key ? CALL_STEP_LEG_ACCEPTED : CALL_STEP_LEG_ANSWERED, NULL,
                   s->call.ring.phones[phone]);
    if (twiml_opens(&s->call, key))
        s->story.end.minutes++;
    if (twiml_opens(&s->call, key))
        return twiml_report(t, (struct call_event){.kind = CALL_FORWARD_OPEN});
    if (!talk)
        return ERR_NONE;
    memcpy(s->leg, leg.p, leg.n);
    s->leg[leg.n] = '\0';
    s->talk_ms = t->at_ms > 0 ? t->at_ms : 1;
    *ret_connect = true;
    return twiml_report(t, (struct call_event){.kind = CALL_FORWARD_ANSWERED});
}

/* ---- the message ---- */

bool twiml_takes_message(const struct twiml_turn *t)
{
    for (size_t i = 0; i < t->actions.n; i++)
        if (t->actions.v[i].kind == CALL_TAKE_MESSAGE)
            return true;
    return false;
}

void twiml_spoke(struct twiml_turn *t)
{
    t->actions = (struct call_actions){.n = 1};
    t->actions.v[0].kind = CALL_HANG_UP;
}

/* ---- the record ---- */

/* The actions after CALL_TAKE_MESSAGE belong to a later answer. */
void twiml_perform(struct twiml_turn *t)
{
    for (size_t i = 0; i < t->actions.n && t->actions.v[i].kind != CALL_TAKE_MESSAGE; i++) {
        story_action(&t->s->story, t->at_ms, &t->actions.v[i]);
        if (t->actions.v[i].kind == CALL_FORWARD)
            note_phones(t, CALL_STEP_RINGING);
    }
}
