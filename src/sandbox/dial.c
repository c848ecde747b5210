#include "sandbox/dial.h"

#include <stdio.h>

#include "base/clock.h"
#include "call/message.h"

const char *const dial_resident_names[] = {
    [DIAL_ANSWERED] = "answered", [DIAL_OPENED] = "opened",     [DIAL_NO_ANSWER] = "no_answer",
    [DIAL_BUSY] = "busy",         [DIAL_DECLINED] = "declined", [DIAL_UNREACHABLE] = "unreachable",
    [DIAL_RESIDENT_COUNT] = NULL,
};

/* The visitor's next input when asked for a code. */
static struct call_event visitor(struct dial *d, const struct call_action *collect)
{
    if (d->digits.n) {
        struct call_event pressed = {.kind = CALL_DIGIT, .digit = d->digits.p[0]};
        d->digits = str_from(d->digits, 1);
        return pressed;
    }
    if (d->speech.n && collect->collect.speech) {
        struct call_event spoken = {.kind = CALL_SPOKEN, .spoken = d->speech};
        d->speech = STR_NONE;
        return spoken;
    }
    d->silence_ms += collect->collect.wait_ms;
    return (struct call_event){.kind = CALL_TIMEOUT};
}

static struct call_event resident(const struct dial *d)
{
    static const enum call_forward_failure failures[] = {[DIAL_NO_ANSWER] = CALL_NO_ANSWER,
                                                         [DIAL_BUSY] = CALL_BUSY,
                                                         [DIAL_DECLINED] = CALL_DECLINED,
                                                         [DIAL_UNREACHABLE] = CALL_UNREACHABLE};
    if (d->resident == DIAL_OPENED && d->call.ring.accept)
        return (struct call_event){.kind = CALL_FORWARD_OPEN};
    if (d->resident <= DIAL_OPENED)
        return (struct call_event){.kind = CALL_FORWARD_ANSWERED};
    return (struct call_event){.kind = CALL_FORWARD_FAILED, .failure = failures[d->resident]};
}

int64_t dial_now_ms(const struct dial *d)
{
    return (clock_monotonic_us() - d->began_us) / 1000 + d->silence_ms;
}

/* The phones ring one after the other, or all at once; the last one has the result. */
static void note_legs(struct dial *d)
{
    static const enum call_step_kind results[] = {
        [DIAL_ANSWERED] = CALL_STEP_LEG_ANSWERED,   [DIAL_OPENED] = CALL_STEP_LEG_ANSWERED,
        [DIAL_NO_ANSWER] = CALL_STEP_LEG_NO_ANSWER, [DIAL_BUSY] = CALL_STEP_LEG_BUSY,
        [DIAL_DECLINED] = CALL_STEP_LEG_DECLINED,   [DIAL_UNREACHABLE] = CALL_STEP_LEG_FAILED,
    };
    const struct call_ring *ring = &d->call.ring;
    const int64_t at_ms = dial_now_ms(d);
    for (size_t i = 0; i < ring->count; i++)
        story_note(&d->story, at_ms, CALL_STEP_RINGING, NULL, ring->phones[i]);
    story_note(&d->story, at_ms, results[d->resident], NULL, ring->phones[ring->count - 1]);
    d->story.end.minutes = d->resident <= DIAL_OPENED;
}

/* The visitor speaks, then waits for the end of the message. */
static void leave_message(struct dial *d, int64_t max_s)
{
    char text[24];
    d->message_s = d->speaks_s < max_s ? d->speaks_s : max_s;
    const int64_t takes_ms = d->message_s * 1000 + (d->message_s ? MESSAGE_PAUSE_MS : MESSAGE_FIRST_MS);
    d->silence_ms += takes_ms < max_s * 1000 ? takes_ms : max_s * 1000;
    snprintf(text, sizeof text, "%llds", (long long)d->message_s);
    if (d->message_s)
        story_note(&d->story, dial_now_ms(d), CALL_STEP_MESSAGE, text, NULL);
}

/* Performs one action. Returns true with the event that it causes, or false if the next action follows at once. */
static bool dial_action(struct dial *d, const struct call_action *a, struct call_event *ret)
{
    story_action(&d->story, dial_now_ms(d), a);
    switch (a->kind) {
    case CALL_ASK_ARRIVE:
    case CALL_ASK_CODE:
    case CALL_ASK_FORWARDED:
        *ret = d->ask(d->arg, &d->call, a);
        return true;
    case CALL_COLLECT:
        *ret = visitor(d, a);
        return true;
    case CALL_FORWARD:
        d->forwarded = true;
        note_legs(d);
        *ret = resident(d);
        return true;
    case CALL_SAY:
        if (d->said_count < DIAL_SAID_MAX) {
            d->recordings[d->said_count] = a->say.recording;
            d->said[d->said_count++] = a->say.text;
        }
        return false;
    case CALL_SEND_TONES:
        memcpy(d->tones, a->tones.keys, sizeof d->tones);
        return false;
    case CALL_TAKE_MESSAGE:
        leave_message(d, a->max_s);
        return false;
    case CALL_REJECT:
    case CALL_ANSWER:
    case CALL_HANG_UP:
        return false;
    }
    return false;
}

static void dial_step(struct dial *d, const struct call_event *e, struct call_actions *ret)
{
    call_step(&d->call, e, ret);
    story_event(&d->story, dial_now_ms(d), &d->call, e);
}

void dial_run(struct dial *d)
{
    struct call_actions actions, listening = {.n = 0};
    struct call_event event = {.kind = CALL_ARRIVED, .hears = d->hears};
    d->began_us = clock_monotonic_us();
    call_init(&d->call);
    for (bool more = true; more;) {
        dial_step(d, &event, &actions);
        /* The machine stays in the collecting state after a key or word that it ignores, so the visitor continues. */
        if (actions.n == 0 && d->call.state == CALL_COLLECTING)
            actions = listening;
        more = d->call.state == CALL_BRIDGED && d->resident == DIAL_OPENED && !d->call.opened;
        if (more)
            event = (struct call_event){.kind = CALL_FORWARD_OPEN};
        for (size_t i = 0; i < actions.n && !more; i++) {
            if (actions.v[i].kind == CALL_COLLECT)
                listening = (struct call_actions){{actions.v[i]}, 1};
            more = dial_action(d, &actions.v[i], &event);
        }
    }
    dial_step(d, &(struct call_event){.kind = CALL_HUNG_UP}, &actions);
}
