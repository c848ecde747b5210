#include "call/hunt.h"

#include <assert.h>

void hunt_init(struct hunt *h, const struct call_ring *ring, const char tones[static 4])
{
    *h = (struct hunt){.state = HUNT_NEW, .ring = ring};
    memcpy(h->tones, tones, sizeof h->tones);
}

bool hunt_winner(const struct hunt *h, size_t *ret)
{
    for (size_t i = 0; i < HUNT_LEGS; i++) {
        if (h->legs[i].state == HUNT_CONNECTED) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static void hunt_enter(struct hunt *h, enum hunt_state s)
{
    h->state = s;
}

/* ---- actions ---- */

static struct hunt_action *hunt_add(struct hunt_actions *out, enum hunt_action_kind kind, size_t leg)
{
    assert(out->n < HUNT_ACTIONS_MAX);
    struct hunt_action *a = &out->v[out->n++];
    *a = (struct hunt_action){.kind = kind, .leg = leg};
    return a;
}

static bool in_progress(const struct hunt *h, size_t leg)
{
    return h->legs[leg].state > HUNT_IDLE && h->legs[leg].state < HUNT_GONE;
}

static void drop_leg(struct hunt *h, size_t leg, struct hunt_actions *out)
{
    h->legs[leg].state = HUNT_GONE;
    hunt_add(out, HUNT_DROP, leg);
}

static void drop_others(struct hunt *h, size_t winner, struct hunt_actions *out)
{
    for (size_t i = 0; i < HUNT_LEGS; i++) {
        if (i < h->ring->count && i != winner && in_progress(h, i))
            drop_leg(h, i, out);
        else if (i != winner)
            h->legs[i].state = HUNT_GONE;
    }
}

static void dial(struct hunt *h, int64_t now_ms, size_t leg, struct hunt_actions *out)
{
    h->legs[leg].state = HUNT_CALLING;
    h->legs[leg].due_ms = now_ms + h->ring->seconds * 1000;
    hunt_add(out, HUNT_DIAL, leg);
}

/* The call does not fail before a phone's time is over. */
static void await_browsers(struct hunt *h)
{
    h->legs[HUNT_BROWSER].state = HUNT_CALLING;
    h->legs[HUNT_BROWSER].due_ms = h->begun_ms + h->ring->seconds * 1000;
}

/* The visitor hears that it rings, in place of a phone that rings no more. */
static void ring_visitor_again(struct hunt *h, struct hunt_actions *out)
{
    if (!h->rings)
        hunt_add(out, HUNT_RING, HUNT_BROWSER);
    h->rings = true;
}

static void hunt_begin(struct hunt *h, int64_t now_ms, struct hunt_actions *out)
{
    const size_t n = h->ring->strategy == RING_ALL || !h->ring->count ? h->ring->count : 1;
    h->begun_ms = now_ms;
    hunt_enter(h, HUNT_SEARCHING);
    for (size_t i = 0; i < n; i++)
        dial(h, now_ms, i, out);
    if (!n) {
        await_browsers(h);
        ring_visitor_again(h, out);
    }
}

/* ---- the end of a leg ---- */

/* The failure to tell the visitor is the one that says most: somebody declined, else a phone was busy, else it rang. */
static void note_failure(struct hunt *h, enum call_forward_failure failure)
{
    static const int weights[] = {[CALL_UNREACHABLE] = 0, [CALL_NO_ANSWER] = 1, [CALL_BUSY] = 2, [CALL_DECLINED] = 3};
    if (!h->failed || weights[failure] > weights[h->failure])
        h->failure = failure;
    h->failed = true;
}

enum call_forward_failure hunt_failure(int status)
{
    switch (status) {
    case 486:
    case 600:
        return CALL_BUSY;
    case 403:
    case 433:
    case 603:
    case 607:
    case 608:
        return CALL_DECLINED;
    case 408:
    case 480:
    case 487:
        return CALL_NO_ANSWER;
    default:
        return CALL_UNREACHABLE;
    }
}

/* A leg is over: the next phone, unless another one rings. */
static void seek(struct hunt *h, int64_t now_ms, struct hunt_actions *out)
{
    for (size_t i = 0; i < h->ring->count; i++) {
        if (in_progress(h, i))
            return;
        if (h->legs[i].state == HUNT_IDLE) {
            dial(h, now_ms, i, out);
            return;
        }
    }
    if (in_progress(h, HUNT_BROWSER)) {
        ring_visitor_again(h, out);
        return;
    }
    hunt_enter(h, HUNT_OVER);
    hunt_add(out, HUNT_FAIL, 0)->failure = h->failed ? h->failure : CALL_NO_ANSWER;
}

static void go_on(struct hunt *h, int64_t now_ms, enum call_forward_failure failure, struct hunt_actions *out)
{
    note_failure(h, failure);
    seek(h, now_ms, out);
}

static void lose_leg(struct hunt *h, int64_t now_ms, size_t leg, enum call_forward_failure failure,
                     struct hunt_actions *out)
{
    h->legs[leg].state = HUNT_GONE;
    struct hunt_action *a = hunt_add(out, HUNT_DROP, leg);
    a->failed = true;
    a->failure = failure;
    go_on(h, now_ms, failure, out);
}

/* The call waits for browsers no more. */
static void lose_browsers(struct hunt *h, int64_t now_ms, struct hunt_actions *out)
{
    if (h->state != HUNT_SEARCHING || h->legs[HUNT_BROWSER].state != HUNT_CALLING)
        return;
    h->legs[HUNT_BROWSER].state = HUNT_GONE;
    seek(h, now_ms, out);
}

static void hunt_time(struct hunt *h, int64_t now_ms, struct hunt_actions *out)
{
    for (size_t i = 0; i < h->ring->count && h->state == HUNT_SEARCHING; i++)
        if (in_progress(h, i) && now_ms >= h->legs[i].due_ms)
            lose_leg(h, now_ms, i, CALL_NO_ANSWER, out);
    if (in_progress(h, HUNT_BROWSER) && now_ms >= h->legs[HUNT_BROWSER].due_ms)
        lose_browsers(h, now_ms, out);
}

/* ---- an answered phone ---- */

static void connect_leg(struct hunt *h, size_t leg, struct hunt_actions *out)
{
    drop_others(h, leg, out);
    h->legs[leg].state = HUNT_CONNECTED;
    hunt_enter(h, HUNT_TALKING);
    hunt_add(out, HUNT_CONNECT, leg);
}

static void leg_answered(struct hunt *h, int64_t now_ms, size_t leg, struct hunt_actions *out)
{
    if (!h->ring->accept) {
        connect_leg(h, leg, out);
        return;
    }
    h->legs[leg].state = HUNT_ASKED;
    h->legs[leg].due_ms = now_ms + HUNT_ACCEPT_MS;
    hunt_add(out, HUNT_PROMPT, leg);
}

/* Adds a key to the last ones of the leg. */
static void type_key(struct hunt *h, int64_t now_ms, size_t leg, char key)
{
    char *typed = h->legs[leg].typed;
    size_t n = strlen(typed);
    if (now_ms - h->legs[leg].typed_ms > HUNT_KEY_MS)
        n = 0;
    if (n == sizeof h->legs[leg].typed - 1)
        memmove(typed, typed + 1, --n);
    typed[n] = key;
    typed[n + 1] = '\0';
    h->legs[leg].typed_ms = now_ms;
}

/* Whether the last keys end with the release tone. */
static bool typed_tone(const struct hunt *h, size_t leg)
{
    const size_t n = strlen(h->legs[leg].typed), tone = strlen(h->tones);
    return tone && n >= tone && memcmp(h->legs[leg].typed + n - tone, h->tones, tone) == 0;
}

static void leg_opens(struct hunt *h, size_t leg, struct hunt_actions *out)
{
    if (!h->tones[0] || h->opening)
        return;
    h->legs[leg].typed[0] = '\0';
    h->opening = true;
    if (h->state == HUNT_SEARCHING) {
        drop_others(h, leg, out);
        hunt_add(out, HUNT_QUIET, leg);
        h->legs[leg].state = HUNT_CONNECTED;
        hunt_enter(h, HUNT_OPENING);
    }
    hunt_add(out, HUNT_OPEN, leg);
}

/* A release tone of one key that is `1` or `*` has that meaning once the call was accepted: before, `1` accepts and
 * `*` declines. In a longer one, the last key counts as part of the tone. */
static void asked_key(struct hunt *h, int64_t now_ms, size_t leg, char key, struct hunt_actions *out)
{
    const bool tone = typed_tone(h, leg) && (h->tones[1] || !strchr("1*", key));
    if (tone || key == '9') {
        leg_opens(h, leg, out);
    } else if (key == '1') {
        hunt_add(out, HUNT_QUIET, leg);
        connect_leg(h, leg, out);
    } else if (key == '*' && !strchr(h->tones, '*')) {
        lose_leg(h, now_ms, leg, CALL_DECLINED, out);
    }
}

static void talking_key(struct hunt *h, size_t leg, char key, struct hunt_actions *out)
{
    if (typed_tone(h, leg) || key == '9') {
        leg_opens(h, leg, out);
    } else if (key == '*' && !strchr(h->tones, '*')) {
        drop_leg(h, leg, out);
        hunt_enter(h, HUNT_OVER);
        hunt_add(out, HUNT_END, leg);
    }
}

static void leg_key(struct hunt *h, int64_t now_ms, size_t leg, char key, struct hunt_actions *out)
{
    if (!key || !strchr("0123456789*#", key))
        return;
    type_key(h, now_ms, leg, key);
    if (h->legs[leg].state == HUNT_ASKED)
        asked_key(h, now_ms, leg, key, out);
    else if (h->state == HUNT_TALKING && h->legs[leg].state == HUNT_CONNECTED)
        talking_key(h, leg, key, out);
}

static void leg_hung_up(struct hunt *h, int64_t now_ms, size_t leg, struct hunt_actions *out)
{
    const bool asked = h->legs[leg].state == HUNT_ASKED;
    h->legs[leg].state = HUNT_GONE;
    if (asked) {
        go_on(h, now_ms, CALL_DECLINED, out);
    } else if (h->state == HUNT_TALKING) {
        hunt_enter(h, HUNT_OVER);
        hunt_add(out, HUNT_END, leg);
    }
}

/* ---- the machine ---- */

/* Early media of one of several phones that ring says nothing about the others: the visitor hears ring-back. */
static void leg_rings(struct hunt *h, size_t leg, bool early, struct hunt_actions *out)
{
    const bool alone = h->ring->strategy == RING_ORDER || h->ring->count == 1;
    if (h->legs[leg].heard)
        return;
    if (early && alone) {
        h->legs[leg].heard = true;
        hunt_add(out, HUNT_LISTEN, leg);
    } else if (!h->rings) {
        hunt_add(out, HUNT_RING, leg);
    }
    h->rings = !h->legs[leg].heard;
}

static void step_leg(struct hunt *h, int64_t now_ms, const struct hunt_event *e, struct hunt_actions *out)
{
    const bool calling = h->legs[e->leg].state == HUNT_CALLING;
    switch (e->kind) {
    case HUNT_RINGING:
    case HUNT_EARLY:
        if (calling)
            leg_rings(h, e->leg, e->kind == HUNT_EARLY, out);
        return;
    case HUNT_ANSWERED:
        if (calling)
            leg_answered(h, now_ms, e->leg, out);
        return;
    case HUNT_FAILED:
        if (!calling)
            return;
        h->legs[e->leg].state = HUNT_GONE;
        go_on(h, now_ms, hunt_failure(e->status), out);
        return;
    case HUNT_KEY:
        leg_key(h, now_ms, e->leg, e->key, out);
        return;
    case HUNT_PROMPTED:
        if (h->legs[e->leg].state == HUNT_ASKED)
            hunt_add(out, HUNT_PROMPT, e->leg);
        return;
    case HUNT_HUNG_UP:
        leg_hung_up(h, now_ms, e->leg, out);
        return;
    default:
        return;
    }
}

/* ---- browsers ---- */

static void browser_opens(struct hunt *h, struct hunt_actions *out)
{
    if (!h->tones[0] || h->opening)
        return;
    h->opening = true;
    if (h->state == HUNT_SEARCHING) {
        drop_others(h, HUNT_BROWSER, out);
        h->legs[HUNT_BROWSER].state = HUNT_CONNECTED;
        hunt_enter(h, HUNT_OPENING);
    }
    hunt_add(out, HUNT_OPEN, HUNT_BROWSER);
}

static void step_browser(struct hunt *h, int64_t now_ms, enum hunt_event_kind kind, struct hunt_actions *out)
{
    const bool searching = h->state == HUNT_SEARCHING;
    switch (kind) {
    case HUNT_ATTENDED:
        if (searching && now_ms < h->begun_ms + h->ring->seconds * 1000)
            await_browsers(h);
        return;
    case HUNT_DESERTED:
        if (h->ring->count)
            lose_browsers(h, now_ms, out);
        return;
    case HUNT_TAKEN:
        if (searching)
            connect_leg(h, HUNT_BROWSER, out);
        return;
    case HUNT_PRESSED:
        if (searching || h->state == HUNT_TALKING)
            browser_opens(h, out);
        return;
    case HUNT_HUNG_UP:
        if (h->legs[HUNT_BROWSER].state == HUNT_CONNECTED)
            leg_hung_up(h, now_ms, HUNT_BROWSER, out);
        return;
    default:
        return;
    }
}

static int64_t next_due(const struct hunt *h)
{
    int64_t due_ms = 0;
    for (size_t i = 0; h->state == HUNT_SEARCHING && i < HUNT_LEGS; i++)
        if (in_progress(h, i) && (!due_ms || h->legs[i].due_ms < due_ms))
            due_ms = h->legs[i].due_ms;
    return due_ms;
}

void hunt_step(struct hunt *h, int64_t now_ms, const struct hunt_event *e, struct hunt_actions *ret)
{
    ret->n = 0;
    if (h->state == HUNT_OVER)
        return;
    switch (e->kind) {
    case HUNT_BEGIN:
        if (h->state == HUNT_NEW)
            hunt_begin(h, now_ms, ret);
        break;
    case HUNT_TIME:
        hunt_time(h, now_ms, ret);
        break;
    case HUNT_OPENED:
        h->opening = false;
        break;
    case HUNT_ATTENDED:
    case HUNT_DESERTED:
    case HUNT_TAKEN:
    case HUNT_PRESSED:
        step_browser(h, now_ms, e->kind, ret);
        break;
    default:
        if (e->leg == HUNT_BROWSER)
            step_browser(h, now_ms, e->kind, ret);
        else if (e->leg < h->ring->count && in_progress(h, e->leg))
            step_leg(h, now_ms, e, ret);
        break;
    }
    h->due_ms = next_due(h);
}
