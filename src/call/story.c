#include "call/story.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/forms.h"
#include "base/schedule.h"
#include "base/schema_text.h"
#include "domain/feed.h"
#include "domain/phone.h"
#include "domain/visit.h"

#define QUIET "quiet" /* a phone, or browsers, in quiet hours */

/* The room of keys, and of all steps but the last two. */
#define KEYS_ROOM (CALL_RECORD_STEPS_MAX - 1200)
#define ROOM      (CALL_RECORD_STEPS_MAX - 2 * CALL_STEP_LINE_MAX)

static void story_add(struct story *s, int64_t at_ms, enum call_step_kind kind, struct str text, struct str ref)
{
    const size_t room = kind == CALL_STEP_KEY                                  ? KEYS_ROOM
                        : kind == CALL_STEP_OMITTED || kind == CALL_STEP_ENDED ? sizeof s->steps
                                                                               : ROOM;
    const struct call_step step = {.at_ms = at_ms > 0 ? at_ms : 0, .kind = kind, .text = text, .ref = ref};
    char line[CALL_STEP_LINE_MAX];
    const size_t n = call_step_write(&step, line);
    if (s->n + n >= room) {
        s->omitted++;
        return;
    }
    memcpy(s->steps + s->n, line, n);
    s->n += n;
}

static void story_word(struct story *s, int64_t at_ms, enum call_step_kind kind, const char *text)
{
    story_add(s, at_ms, kind, str_z(text), STR_NONE);
}

/* A call box also dials extensions, which a front end gives a `+`. */
static bool is_extension(const char *number)
{
    return *number == '+' && !text_matches(PHONE_PATTERN, str_z(number));
}

void story_begin(struct story *s, enum call_front front, const char *source, const char *to, const char *from)
{
    const int64_t now_us = clock_now_us();
    *s = (struct story){.arrival = {.id = id_new(now_us), .started_us = now_us, .front = front}};
    snprintf(s->arrival.source, sizeof s->arrival.source, "%s", source);
    snprintf(s->arrival.dialled, sizeof s->arrival.dialled, "%s", to + is_extension(to));
    snprintf(s->arrival.caller, sizeof s->arrival.caller, "%s", from);
}

/* ---- events ---- */

static const char *reason_name(const struct call *c)
{
    return access_reason_names[c->reason];
}

static void story_near(struct story *s, int64_t at_ms, const struct access_decision *d)
{
    for (const struct access_near *near = d->near; near < d->near + d->near_count; near++) {
        char opens[SCHEDULE_TIME_TEXT_MAX];
        story_add(s, at_ms, CALL_STEP_NOT_USABLE, str_z(access_why_names[near->why]), id_str(&near->grant_id));
        if (!near->opens_us)
            continue;
        schedule_time_format(near->timezone, near->opens_us, opens);
        story_add(s, at_ms, CALL_STEP_OPENS_NEXT, str_z(opens), id_str(&near->grant_id));
    }
}

static void story_place(struct story *s, const struct access_decision *d)
{
    if (id_given(&d->account_id))
        s->end.account_id = d->account_id;
    if (id_given(&d->building_id))
        s->end.building_id = d->building_id;
}

/* The call is forwarded, though not to all phones. */
static void story_forwarded(struct story *s, int64_t at_ms, const struct call *c)
{
    story_word(s, at_ms, CALL_STEP_FORWARDED, reason_name(c));
    if (c->barred)
        story_word(s, at_ms, CALL_STEP_LEG_FAILED, access_barred_names[c->barred]);
    for (size_t i = 0; i < c->ring.quiet; i++)
        story_note(s, at_ms, CALL_STEP_LEG_FAILED, QUIET, c->ring.phones[c->ring.count + i]);
    if (c->ring.quiet_browsers)
        story_word(s, at_ms, CALL_STEP_LEG_FAILED, QUIET);
}

static void story_decided(struct story *s, int64_t at_ms, const struct call *c, const struct access_decision *d)
{
    story_place(s, d);
    if (d->verdict == ACCESS_COLLECT)
        story_word(s, at_ms, CALL_STEP_ASKED_CODE, c->speech ? "speech" : NULL);
    else if (d->verdict == ACCESS_WRONG && d->reason != ACCESS_OUTSIDE_WINDOW)
        story_word(s, at_ms, CALL_STEP_CODE_WRONG, reason_name(c));
    else if (d->verdict == ACCESS_INCOMPLETE)
        story_word(s, at_ms, CALL_STEP_CODE_INCOMPLETE, NULL);
    story_near(s, at_ms, d);
    if (c->outcome == CALL_RELEASED)
        story_add(s, at_ms, CALL_STEP_RELEASED, str_z(reason_name(c)), id_str(&c->grant_id));
    else if (c->state == CALL_RECORDING)
        story_forwarded(s, at_ms, c);
    if (d->spent)
        story_word(s, at_ms, CALL_STEP_LEG_FAILED, "minutes");
}

/* A time-out forwards the call, unless it ends a code. */
static void story_timed_out(struct story *s, int64_t at_ms, const struct call *c)
{
    if (c->state != CALL_RECORDING)
        return;
    story_word(s, at_ms, CALL_STEP_SILENCE, NULL);
    story_forwarded(s, at_ms, c);
}

static void story_failed(struct story *s, int64_t at_ms, const struct call *c, const struct access_decision *d)
{
    s->unlogged = c->outcome == CALL_FORWARDED;
    s->unrung = s->unlogged && !id_given(&s->end.building_id);
    s->forwarded_ms = at_ms;
    if (d)
        story_place(s, d);
    story_word(s, at_ms, CALL_STEP_FAILED, NULL);
}

/* The first opening counts. */
static void story_opened(struct story *s, int64_t at_ms, const struct call *c, bool remote)
{
    if (!remote && !s->end.resident_opened)
        s->end.opener_id = (struct id){.text = ""};
    story_add(s, at_ms, CALL_STEP_RESIDENT_OPENED,
              str_z(!c->opened ? "no_tone"
                    : remote   ? "request"
                               : NULL),
              remote ? id_str(&s->end.opener_id) : STR_NONE);
}

void story_event(struct story *s, int64_t at_ms, const struct call *c, const struct call_event *e)
{
    static const enum call_record_outcome outcomes[] = {[CALL_NO_OUTCOME] = CALL_RECORD_NONE,
                                                        [CALL_RELEASED] = CALL_RECORD_RELEASED,
                                                        [CALL_FORWARDED] = CALL_RECORD_FORWARDED,
                                                        [CALL_REJECTED] = CALL_RECORD_NONE,
                                                        [CALL_OWNER] = CALL_RECORD_NONE};
    static const char *const failures[] = {[CALL_NO_ANSWER] = "no_answer",
                                           [CALL_BUSY] = "busy",
                                           [CALL_DECLINED] = "declined",
                                           [CALL_UNREACHABLE] = "unreachable"};
    switch (e->kind) {
    case CALL_ARRIVED:
        story_word(s, at_ms, CALL_STEP_ARRIVED, NULL);
        break;
    case CALL_DECIDED:
        story_decided(s, at_ms, c, e->decision);
        break;
    case CALL_FAILED:
        story_failed(s, at_ms, c, e->decision);
        break;
    case CALL_DIGIT:
        story_word(s, at_ms, CALL_STEP_KEY, e->way);
        break;
    case CALL_SPOKEN:
        story_word(s, at_ms, CALL_STEP_SPOKEN, NULL);
        break;
    case CALL_TIMEOUT:
        story_timed_out(s, at_ms, c);
        break;
    case CALL_UNCLEAR:
        story_word(s, at_ms, CALL_STEP_UNCLEAR, NULL);
        break;
    case CALL_FORWARD_ANSWERED:
        story_word(s, at_ms, CALL_STEP_CONNECTED, NULL);
        break;
    case CALL_FORWARD_OPEN:
        story_opened(s, at_ms, c, e->remote);
        break;
    case CALL_FORWARD_FAILED:
        story_word(s, at_ms, CALL_STEP_UNANSWERED, failures[e->failure]);
        break;
    case CALL_FORWARD_ENDED:
        story_ended_by(s, CALL_ENDED_RESIDENT);
        break;
    case CALL_HUNG_UP:
        break;
    }
    s->end.outcome = outcomes[c->outcome];
    s->end.reason = c->reason;
    s->end.grant_id = c->grant_id;
    s->end.resident_opened = c->opened;
    s->recorded = id_given(&s->end.building_id) && c->outcome != CALL_OWNER &&
                  (c->outcome != CALL_REJECTED || c->reason == ACCESS_NOT_LISTED);
}

void story_late(struct story *s, int64_t at_ms, const struct access_decision *d)
{
    story_place(s, d);
    s->recorded = id_given(&s->end.building_id) && d->verdict != ACCESS_SELF_CALL &&
                  (d->verdict != ACCESS_REJECT || d->reason == ACCESS_NOT_LISTED);
    if (d->verdict != ACCESS_RELEASE)
        return;
    s->end.outcome = CALL_RECORD_RELEASED;
    s->end.reason = d->reason;
    s->end.grant_id = d->grant_id;
    story_add(s, at_ms, CALL_STEP_RELEASED, str_z(access_reason_names[d->reason]), id_str(&d->grant_id));
}

void story_action(struct story *s, int64_t at_ms, const struct call_action *a)
{
    static const char *const prompts[PROMPT_COUNT] = {
#define P(symbol, word, text) [PROMPT_##symbol] = word,
#include "tbl/prompts.def"
#undef P
    };
    char status[12];
    switch (a->kind) {
    case CALL_REJECT:
        snprintf(status, sizeof status, "%d", a->status);
        story_word(s, at_ms, CALL_STEP_REFUSED, status);
        story_ended_by(s, CALL_ENDED_FAILED);
        return;
    case CALL_ANSWER:
        story_word(s, at_ms, CALL_STEP_ANSWERED, NULL);
        return;
    case CALL_SAY:
        story_word(s, at_ms, CALL_STEP_SAID, prompts[a->say.prompt]);
        return;
    case CALL_SEND_TONES:
        story_word(s, at_ms, CALL_STEP_TONE_SENT, s->tone_way);
        return;
    case CALL_HANG_UP:
        story_ended_by(s, CALL_ENDED_SERVICE);
        return;
    case CALL_ASK_ARRIVE:
    case CALL_ASK_CODE:
    case CALL_ASK_FORWARDED:
    case CALL_COLLECT:
    case CALL_FORWARD:
    case CALL_TAKE_MESSAGE:
        return;
    }
}

void story_note(struct story *s, int64_t at_ms, enum call_step_kind kind, const char *text, const char *number)
{
    char masked[8] = "";
    const size_t n = number ? strlen(number) : 0;
    if (n)
        snprintf(masked, sizeof masked, "...%s", number + (n > 4 ? n - 4 : 0));
    story_add(s, at_ms, kind, str_z(text), n ? str_z(masked) : STR_NONE);
}

void story_listening(struct story *s, int64_t at_ms, const char *text, const struct id *key)
{
    struct str rest = str_n(s->steps, s->n);
    struct call_step told;
    while (call_step_read(&rest, &told))
        if (told.kind == CALL_STEP_LISTENING && str_eq(told.text, str_z(text)) && str_eq(told.ref, id_str(key)))
            return;
    story_add(s, at_ms, CALL_STEP_LISTENING, str_z(text), id_str(key));
}

void story_opener(struct story *s, const struct id *key, bool person)
{
    if (s->end.resident_opened)
        return;
    s->end.opener_id = *key;
    s->end.opener_person = person;
}

void story_ended_by(struct story *s, enum call_ended_by by)
{
    if (!s->ended)
        s->end.ended_by = by;
    s->ended = true;
}

/* ---- writing ---- */

/* Whether the call was forwarded in vain, and each phone failed before it rang. Over SIP, a phone reports that it
 * rings; the other front ends note the beginning of its call. A response without that report has its status as text. */
static bool is_unreached(const struct story *s)
{
    struct str rest = str_n(s->steps, s->n);
    struct call_step step;
    bool failed = false, unanswered = false;
    while (call_step_read(&rest, &step))
        switch (step.kind) {
        case CALL_STEP_RINGING:
            if (s->arrival.front == CALL_FRONT_SIP)
                return false;
            break;
        case CALL_STEP_LEG_NO_ANSWER:
            if (!step.text.n)
                return false;
            failed = true;
            break;
        case CALL_STEP_LEG_FAILED:
            failed |= !str_eq(step.text, STR(QUIET));
            break;
        case CALL_STEP_LEG_ANSWERED:
        case CALL_STEP_LEG_BUSY:
        case CALL_STEP_LEG_DECLINED:
            return false;
        case CALL_STEP_UNANSWERED:
            unanswered = true;
            break;
        default:
            break;
        }
    return failed && unanswered && !s->omitted;
}

static void story_end(struct story *s, int64_t at_ms)
{
    char count[12];
    story_ended_by(s, CALL_ENDED_CALLER);
    if (s->omitted) {
        snprintf(count, sizeof count, "%u", s->omitted);
        story_word(s, at_ms, CALL_STEP_OMITTED, count);
    }
    story_word(s, at_ms, CALL_STEP_ENDED, call_ended_by_names[s->end.ended_by]);
    if (s->end.outcome == CALL_RECORD_FORWARDED && is_unreached(s))
        s->end.outcome = CALL_RECORD_UNREACHABLE;
    s->end.ended_us = s->arrival.started_us + at_ms * 1000;
    s->end.steps = str_n(s->steps, s->n);
}

static struct str story_unfed(const struct story *s)
{
    return str_n(s->steps + s->fed, s->n - s->fed);
}

bool story_has_news(const struct story *s)
{
    return s->recorded && (s->unlogged || feed_tells(story_unfed(s)));
}

static enum err feed_late(struct tx *tx, const struct story *s, const struct access_decision *d)
{
    struct tx then = *tx;
    enum err e = ERR_NONE;
    then.now_us = s->arrival.started_us;
    if (s->unrung)
        e = feed_decided(&then, &s->arrival, FEED_ARRIVAL, d, s->end.reason);
    then.now_us += s->forwarded_ms * 1000;
    return e ? e : feed_decided(&then, &s->arrival, FEED_FORWARDING, d, s->end.reason);
}

/* Records the forwarding that could not be recorded in time. A decision begins the call's record: if there is one, it
 * was stored, though its answer was lost. */
static enum err story_forwarding(struct tx *tx, const struct story *s)
{
    struct recorded_call found;
    struct access_decision d;
    const struct id *building = &s->end.building_id;
    if (!s->unlogged)
        return ERR_NONE;
    enum err e = call_record_get(tx, building, &s->arrival.id, &found);
    if (e != ERR_NOT_FOUND)
        return e;
    tx->call = &s->arrival.id;
    e = access_forwarded_late(tx, building, s->arrival.started_us + s->forwarded_ms * 1000, &d);
    if (e)
        return e == ERR_BUILDING_NOT_FOUND ? ERR_NONE : e;
    e = feed_late(tx, s, &d);
    return e ? e
             : call_record_write(tx, &s->arrival,
                                 &(struct call_end){.account_id = d.account_id,
                                                    .building_id = d.building_id,
                                                    .outcome = CALL_RECORD_FORWARDED,
                                                    .reason = s->end.reason});
}

/* The visit of a call that goes on after a resident opened. */
static enum err story_visit(struct tx *tx, const struct story *s)
{
    struct call_end end = s->end;
    end.steps = str_n(s->steps, s->n);
    return visit_write(tx, &s->arrival, &end);
}

enum err story_feed(struct tx *tx, struct story *s)
{
    if (!s->recorded)
        return ERR_NONE;
    enum err e = story_forwarding(tx, s);
    s->unlogged = false;
    if (!e)
        e = feed_steps(tx, &s->arrival, &s->end.building_id, story_unfed(s));
    s->fed = s->n;
    return e || !s->end.resident_opened || s->end.ended_us ? e : story_visit(tx, s);
}

enum err story_write(struct tx *tx, struct story *s, int64_t at_ms)
{
    if (!s->recorded)
        return ERR_NONE;
    struct story ended = *s; /* so that it may run again */
    story_end(&ended, at_ms);
    enum err e = story_feed(tx, &ended);
    if (!e)
        e = call_record_write(tx, &ended.arrival, &ended.end);
    return e ? e : feed_ended(tx, &ended.arrival, &ended.end);
}
