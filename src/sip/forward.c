#include "sip/forward.h"

#include "base/log.h"
#include "sip/agent.h"
#include "sip/early.h"
#include "sip/leg.h"
#include "sip/story.h"

#define KNOWN_PLACES 2 /* of the forwarded calls of a building */
#define MINUTE_MS    60000
#define EARLY_MS     1000 /* a phone is hung up before it begins a minute that is not left */

struct sip_forward {
    struct sip_call *call; /* NULL: ended */
    const struct sip_forward_events *events;
    struct hunt hunt;
    struct sip_leg legs[CALL_PHONES_MAX];
    struct tick_entry tick;
    struct sip_leg *talker;      /* talks to the visitor, once both have answered */
    bool browser;                /* a browser does */
    struct sip_leg *early;       /* the visitor hears its early media */
    bool ring_back;              /* the visitor hears our ring-back tone */
    bool noted[CALL_PHONES_MAX]; /* something of the leg is in the call's record */
    struct {
        int64_t from_ms, to_ms; /* it was answered, and ended; 0: not */
    } talks[CALL_PHONES_MAX];
};

static void forward_destructor(void *arg)
{
    struct sip_forward *f = arg;
    tick_remove(&f->tick);
    for (size_t i = 0; i < CALL_PHONES_MAX; i++)
        sip_leg_done(&f->legs[i]);
}

/* ---- the minutes of the phones ---- */

static void end_minutes(struct sip_forward *f, size_t leg)
{
    if (f->talks[leg].from_ms && !f->talks[leg].to_ms)
        f->talks[leg].to_ms = tick_now_ms();
}

static void count_minutes(struct sip_forward *f, const struct hunt_event *e)
{
    if (e->leg >= CALL_PHONES_MAX)
        return;
    if (e->kind == HUNT_ANSWERED && !f->talks[e->leg].from_ms)
        f->talks[e->leg].from_ms = tick_now_ms();
    else if (e->kind == HUNT_HUNG_UP || e->kind == HUNT_FAILED)
        end_minutes(f, e->leg);
}

static int64_t minutes_at(const struct sip_forward *f, int64_t now_ms)
{
    int64_t minutes = 0;
    for (size_t i = 0; i < CALL_PHONES_MAX; i++)
        if (f->talks[i].from_ms)
            minutes += ((f->talks[i].to_ms ? f->talks[i].to_ms : now_ms) - f->talks[i].from_ms) / MINUTE_MS + 1;
    return minutes;
}

/* ---- the end ---- */

static void end_forward(struct sip_forward *f)
{
    if (!f || !f->call)
        return;
    f->call = NULL;
    f->talker = f->early = NULL;
    f->browser = false;
    tick_remove(&f->tick);
    for (size_t i = 0; i < CALL_PHONES_MAX; i++) {
        end_minutes(f, i);
        sip_leg_drop(&f->legs[i]);
    }
}

/* ---- the call's record ---- */

static void note(struct sip_forward *f, enum call_step_kind kind, size_t leg, const char *text)
{
    sip_story_note(f->call, kind, text, f->hunt.ring->phones[leg]);
}

static void note_failure(struct sip_forward *f, size_t leg, enum call_forward_failure failure, int status)
{
    static const enum call_step_kind kinds[] = {[CALL_NO_ANSWER] = CALL_STEP_LEG_NO_ANSWER,
                                                [CALL_BUSY] = CALL_STEP_LEG_BUSY,
                                                [CALL_DECLINED] = CALL_STEP_LEG_DECLINED,
                                                [CALL_UNREACHABLE] = CALL_STEP_LEG_FAILED};
    char text[16];
    (void)re_snprintf(text, sizeof text, "%d", status);
    note(f, kinds[failure], leg, status ? text : NULL);
}

static void note_event(struct sip_forward *f, const struct hunt_event *e)
{
    if (f->hunt.legs[e->leg].state != HUNT_CALLING)
        return;
    if (e->kind == HUNT_FAILED)
        note_failure(f, e->leg, hunt_failure(e->status), e->status);
    else if (e->kind == HUNT_ANSWERED)
        note(f, CALL_STEP_LEG_ANSWERED, e->leg, NULL);
    else if ((e->kind == HUNT_RINGING || e->kind == HUNT_EARLY) && !f->noted[e->leg])
        note(f, CALL_STEP_RINGING, e->leg, NULL);
    f->noted[e->leg] = true;
}

static void note_action(struct sip_forward *f, const struct hunt_action *a)
{
    if (a->leg == HUNT_BROWSER) {
        if (a->kind == HUNT_CONNECT)
            sip_story_note(f->call, CALL_STEP_LEG_ANSWERED, "browser", NULL);
        return;
    }
    if (a->kind == HUNT_CONNECT && f->hunt.ring->accept)
        note(f, CALL_STEP_LEG_ACCEPTED, a->leg, NULL);
    else if (a->kind == HUNT_DROP && a->failed)
        note_failure(f, a->leg, a->failure, 0);
    else if (a->kind == HUNT_DROP && !f->talker)
        note(f, CALL_STEP_LEG_CANCELLED, a->leg, NULL);
}

/* ---- sound for the visitor ---- */

static void hush(struct sip_forward *f)
{
    if (f->ring_back)
        media_quiet(f->call->media);
    f->ring_back = false;
    f->early = NULL;
}

static void play_ring_back(struct sip_forward *f)
{
    struct sound parts[SOUND_PARTS_MAX];
    f->ring_back = true;
    media_play(f->call->media, parts, sound_ring_back(parts));
}

/* A call that was answered for a code, or got early media, hears a tone; otherwise its own telephone makes one. */
static void ring_visitor(struct sip_forward *f)
{
    hush(f);
    if (f->call->answered_ms || sip_early_media(f->call))
        play_ring_back(f);
    else
        sip_early_ring(f->call);
}

static void let_listen(struct sip_forward *f, struct sip_leg *l)
{
    if (!f->call->answered_ms && !sip_early_describe(f->call)) {
        ring_visitor(f);
        return;
    }
    hush(f);
    f->early = l;
}

/* ---- actions of the hunt group ---- */

static void forward_step(struct sip_forward *f, const struct hunt_event *e);

static void tell_call(struct sip_forward *f, enum call_event_kind kind, enum call_forward_failure failure)
{
    f->events->step(f->call, &(struct call_event){.kind = kind, .failure = failure});
}

static void tell_opening(struct sip_forward *f, size_t leg)
{
    hush(f);
    f->events->step(f->call, &(struct call_event){.kind = CALL_FORWARD_OPEN, .remote = leg == HUNT_BROWSER});
}

static void begin_talk(struct sip_forward *f, size_t leg)
{
    hush(f);
    f->browser = leg == HUNT_BROWSER;
    f->talker = f->browser ? NULL : &f->legs[leg];
    if (f->talker)
        media_bridge(f->talker->media, f->call->media);
    tell_call(f, CALL_FORWARD_ANSWERED, 0);
}

static void connect_visitor(struct sip_forward *f, size_t leg)
{
    if (f->call->answered_ms)
        begin_talk(f, leg);
    else
        f->events->answer(f->call);
}

static void drop(struct sip_forward *f, size_t leg)
{
    struct sip_leg *l = &f->legs[leg];
    if (f->early == l)
        f->early = NULL;
    if (f->talker == l)
        f->talker = NULL;
    end_minutes(f, leg);
    sip_leg_drop(l);
}

static void on_leg_report(const struct hunt_event *e, void *arg)
{
    struct sip_forward *f = arg;
    if (!f->call)
        return;
    count_minutes(f, e);
    note_event(f, e);
    forward_step(f, e);
}

static void on_leg_sound(struct sip_leg *l, const struct media_packet *p, void *arg)
{
    struct sip_forward *f = arg;
    if (f->call && !p->event && (l == f->talker || l == f->early))
        media_relay(f->call->media, p);
}

static const struct sip_leg_events leg_events = {.report = on_leg_report, .packet = on_leg_sound};

static void forward_perform(struct sip_forward *f, const struct hunt_action *a)
{
    struct sip_leg *l = a->leg < CALL_PHONES_MAX ? &f->legs[a->leg] : NULL;
    struct sip_call *c = f->call;
    note_action(f, a);
    switch (a->kind) {
    case HUNT_DIAL:
        sip_leg_dial(l, c->agent, a->leg, f->hunt.ring->phones[a->leg], c->record.number, c->record.number, &leg_events,
                     f);
        return;
    case HUNT_RING:
        ring_visitor(f);
        return;
    case HUNT_LISTEN:
        let_listen(f, l);
        return;
    case HUNT_PROMPT:
        sip_leg_ask(l, call_text(&c->machine, PROMPT_ACCEPT));
        return;
    case HUNT_QUIET:
        sip_leg_quiet(l);
        return;
    case HUNT_CONNECT:
        connect_visitor(f, a->leg);
        return;
    case HUNT_DROP:
        drop(f, a->leg);
        return;
    case HUNT_OPEN:
        tell_opening(f, a->leg);
        return;
    case HUNT_FAIL:
        hush(f);
        tell_call(f, CALL_FORWARD_FAILED, a->failure);
        return;
    case HUNT_END:
        f->talker = NULL;
        f->browser = false;
        /* A resident may hang up before the visitor's ACK: then they never talked. */
        tell_call(f, c->machine.state == CALL_BRIDGED ? CALL_FORWARD_ENDED : CALL_FORWARD_FAILED, CALL_NO_ANSWER);
        return;
    }
}

/* An action may end the call, and with it this forwarding. */
static void forward_step(struct sip_forward *f, const struct hunt_event *e)
{
    struct hunt_actions next;
    if (!f->call)
        return;
    mem_ref(f);
    hunt_step(&f->hunt, tick_now_ms(), e, &next);
    for (size_t i = 0; i < next.n && f->call; i++)
        forward_perform(f, &next.v[i]);
    mem_deref(f);
}

/* ---- limits ---- */

/* Ends the forwarding as if the resident had hung up, or the phones had failed. */
static void stop_forward(struct sip_call *c, enum call_forward_failure failure, enum call_ended_by by)
{
    const struct sip_forward_events *events = c->forward->events;
    struct call_event end = {.kind = CALL_FORWARD_FAILED, .failure = failure};
    if (c->machine.state == CALL_BRIDGED)
        end.kind = CALL_FORWARD_ENDED;
    end_forward(c->forward);
    story_ended_by(&c->story, by);
    events->step(c, &end);
}

/* Because of a limit: as if the line had been busy. */
static void limit_forward(struct sip_call *c, const char *limit)
{
    log_info("sip call no longer forwarded building=%s limit=%s", c->machine.building_id.text, limit);
    stop_forward(c, CALL_BUSY, CALL_ENDED_LIMIT);
}

void sip_forward_give_up(struct sip_call *c)
{
    if (c->forward && c->forward->call && c->machine.state == CALL_RINGING)
        stop_forward(c, CALL_NO_ANSWER, CALL_ENDED_STOP);
}

static bool out_of_minutes(const struct sip_forward *f, int64_t now_ms)
{
    return f->hunt.ring->minutes && minutes_at(f, now_ms + EARLY_MS) > f->hunt.ring->minutes;
}

/* ---- time ---- */

static void forward_on_tick(void *arg, int64_t now_ms)
{
    struct sip_forward *f = arg;
    mem_ref(f);
    for (size_t i = 0; i < CALL_PHONES_MAX && f->call; i++)
        sip_leg_tick(&f->legs[i], now_ms);
    if (f->call && out_of_minutes(f, now_ms)) {
        sip_story_note(f->call, CALL_STEP_LEG_FAILED, "minutes", NULL);
        limit_forward(f->call, "account_minutes_per_day");
    }
    if (f->call && f->hunt.due_ms && now_ms >= f->hunt.due_ms)
        forward_step(f, &(struct hunt_event){.kind = HUNT_TIME});
    if (f->call)
        sip_early_tick(f->call, now_ms);
    mem_deref(f);
}

/* ---- the places of a building: it must not take all the calls of a trunk ---- */

static bool has_place(const struct sip_call *c, const struct sip_call *of)
{
    return c->forward && c->forward->call && c->forward->hunt.state != HUNT_OVER &&
           strcmp(c->machine.building_id.text, of->machine.building_id.text) == 0;
}

/* Whether the building may ring its residents once more. Strangers leave KNOWN_PLACES to callers who have opened the
 * door before, and the oldest stranger makes room for one of these. */
static bool find_place(const struct sip_call *c)
{
    const int64_t places = c->agent->config->voice_forwards_per_building;
    int64_t count = 0, strangers = 0;
    struct sip_call *oldest = NULL;
    for (const struct le *le = c->agent->dialogs.calls.head; le; le = le->next) {
        struct sip_call *other = le->data;
        if (!has_place(other, c))
            continue;
        count++;
        strangers += !other->machine.known;
        oldest = oldest || other->machine.known ? oldest : other;
    }
    if (!c->machine.known)
        return count < places && strangers < (places > KNOWN_PLACES ? places - KNOWN_PLACES : 1);
    if (count >= places && oldest) {
        limit_forward(oldest, "forwards_per_building");
        count--;
    }
    return count < places;
}

void sip_forward_start(struct sip_call *c, const struct call_ring *ring, const struct sip_forward_events *events)
{
    if (sip_drain_closes(&c->agent->drain)) {
        story_ended_by(&c->story, CALL_ENDED_STOP);
        events->step(c, &(struct call_event){.kind = CALL_FORWARD_FAILED, .failure = CALL_NO_ANSWER});
        return;
    }
    if (!find_place(c)) {
        log_info("sip call not forwarded building=%s limit=%lld", c->machine.building_id.text,
                 (long long)c->agent->config->voice_forwards_per_building);
        events->step(c, &(struct call_event){.kind = CALL_FORWARD_FAILED, .failure = CALL_BUSY});
        return;
    }
    struct sip_forward *f = mem_zalloc(sizeof *f, forward_destructor);
    if (!f) {
        events->step(c, &(struct call_event){.kind = CALL_FORWARD_FAILED, .failure = CALL_UNREACHABLE});
        return;
    }
    f->call = c;
    f->events = events;
    c->forward = f;
    hunt_init(&f->hunt, ring, c->machine.tones);
    tick_add(c->agent->tick, &f->tick, forward_on_tick, f);
    forward_step(f, &(struct hunt_event){.kind = HUNT_BEGIN});
    if (c->talker)
        (void)sip_forward_take(f);
    else if (c->listeners.head)
        sip_forward_attended(f);
}

static void browser_step(struct sip_forward *f, enum hunt_event_kind kind)
{
    if (f)
        forward_step(f, &(struct hunt_event){.kind = kind, .leg = HUNT_BROWSER});
}

void sip_forward_press(struct sip_forward *f)
{
    browser_step(f, HUNT_PRESSED);
}

void sip_forward_attended(struct sip_forward *f)
{
    browser_step(f, HUNT_ATTENDED);
}

void sip_forward_deserted(struct sip_forward *f)
{
    browser_step(f, HUNT_DESERTED);
}

void sip_forward_left(struct sip_forward *f)
{
    browser_step(f, HUNT_HUNG_UP);
}

bool sip_forward_take(struct sip_forward *f)
{
    size_t winner;
    browser_step(f, HUNT_TAKEN);
    return f && f->hunt.state == HUNT_TALKING && hunt_winner(&f->hunt, &winner) && winner == HUNT_BROWSER;
}

bool sip_forward_browser_talks(const struct sip_forward *f)
{
    return f && f->browser;
}

void sip_forward_play(struct sip_forward *f, const struct sound *parts, size_t n)
{
    if (f && f->talker)
        media_play(f->talker->media, parts, n);
}

/* ---- the visitor's side ---- */

void sip_forward_established(struct sip_forward *f)
{
    size_t winner;
    if (!f || !f->call)
        return;
    if (f->hunt.state == HUNT_TALKING && !f->talker && !f->browser && hunt_winner(&f->hunt, &winner))
        begin_talk(f, winner);
    else if (f->hunt.state == HUNT_SEARCHING && f->hunt.rings) /* answered so that a browser can listen */
        ring_visitor(f);
}

void sip_forward_played(struct sip_forward *f)
{
    if (f && f->call && f->ring_back)
        play_ring_back(f);
}

void sip_forward_opened(struct sip_forward *f)
{
    if (f)
        forward_step(f, &(struct hunt_event){.kind = HUNT_OPENED});
}

int64_t sip_forward_heard_ms(const struct sip_forward *f)
{
    return f && f->talker ? media_heard_ms(f->talker->media) : 0;
}

/* ---- the part ---- */

static void forward_on_packet(struct sip_call *c, const struct media_packet *p)
{
    const struct sip_forward *f = c->forward;
    if (f && f->talker && !p->event)
        media_relay(f->talker->media, p);
}

static void forward_on_end(struct sip_call *c)
{
    end_forward(c->forward);
    c->story.end.minutes = c->forward ? minutes_at(c->forward, tick_now_ms()) : 0;
}

const struct sip_part sip_forward_part = {.packet = forward_on_packet, .end = forward_on_end};
