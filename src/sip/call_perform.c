#include "sip/call_perform.h"

#include <errno.h>

#include "base/container_of.h"
#include "base/log.h"
#include "call/known.h"
#include "call/sound.h"
#include "sip/admit.h"
#include "sip/agent.h"
#include "sip/early.h"
#include "sip/forward.h"
#include "sip/guard.h"
#include "sip/listener.h"
#include "sip/offer.h"
#include "sip/stack.h"
#include "sip/story.h"
#include "sip/trace.h"

#define LINGER_MS   500   /* between the last tone and the BYE: some call boxes need it to hear the end of the tone */
#define HOLD_MS     1800  /* before a visitor who waits for a decision hears ring-back, */
#define LATE_MS     6500  /* and the call goes on without it: longer than a server is waited for */
#define SILENT_MS   30000 /* without a packet or a message, the peer is gone */
#define CALL_MAX_MS (10 * 60 * 1000) /* the longest call */

static void sip_call_perform(struct sip_call *c);

/* ---- the machine ---- */

void sip_call_step(struct sip_call *c, const struct call_event *e)
{
    struct call_actions next;
    call_step(&c->machine, e, &next);
    sip_story_event(c, e);
    if (e->kind == CALL_FORWARD_ANSWERED)
        sip_listeners_bridged(c);
    if (!next.n)
        return;
    log_debug("call %u %s", c->serial, call_state_name(c->machine.state));
    greeting_prepare(c->agent, &c->machine, &next);
    sip_hearing_end(&c->hearing);
    c->actions = next;
    c->at = 0;
    c->due_ms = 0;
    sip_call_perform(c);
}

/* The action in progress is done: perform the next. */
static void sip_call_advance(struct sip_call *c)
{
    const bool opened = sip_call_current(c) && sip_call_current(c)->kind == CALL_SEND_TONES;
    if (opened)
        sip_forward_opened(c->forward);
    c->due_ms = 0;
    c->at++;
    if (opened)
        sip_listeners_opened(c);
    sip_call_perform(c);
}

/* ---- decisions ---- */

static void end_hold(struct sip_call *c)
{
    tmr_cancel(&c->hold_timer);
    if (c->held)
        media_quiet(c->media);
    c->held = false;
}

/* SQLite waits for its disk without an end. */
static void on_late(void *arg)
{
    struct sip_call *c = arg;
    struct access_decision known = {0};
    struct arena arena;
    if (c->ended)
        return;
    arena_init(&arena, NULL, 0);
    const bool found = c->machine.state == CALL_ARRIVING && known_find(c->agent->known, c->decide.to, &arena, &known);
    log_error("voice decision late building=%s", found ? known.building_id.text : c->machine.building_id.text);
    decide_drop(&c->decide);
    c->late = true;
    c->asking = false;
    end_hold(c);
    sip_call_step(c, &(struct call_event){.kind = CALL_FAILED, .decision = found ? &known : NULL, .away = true});
    arena_done(&arena);
}

/* The visitor must not hear silence while the store takes its time. A call box that was not answered makes the tone,
 * and then tries no other node: so it is told to only if the call will not be refused. */
static void on_hold(void *arg)
{
    struct sip_call *c = arg;
    struct sound parts[SOUND_PARTS_MAX];
    struct access_decision unused = {0};
    struct arena arena;
    if (c->ended)
        return;
    arena_init(&arena, NULL, 0);
    c->held = c->answered_ms != 0;
    if (c->held)
        media_play(c->media, parts, sound_ring_back(parts));
    else if (known_find(c->agent->known, c->decide.to, &arena, &unused))
        sip_early_ring(c);
    arena_done(&arena);
    tmr_start(&c->hold_timer, LATE_MS - HOLD_MS, on_late, c);
}

static void on_answer(struct decide *d)
{
    struct sip_call *c = container_of(d, struct sip_call, decide);
    c->agent->drain.asking--;
    if (!c->late) {
        const struct call_event e = decide_event(d);
        end_hold(c);
        c->asking = false;
        if (c->ended)
            sip_story_late(c, &e);
        else
            sip_call_step(c, &e);
    }
    sip_agent_settled(c->agent);
    mem_deref(c);
}

static void sip_call_ask(struct sip_call *c, const struct call_action *action)
{
    mem_ref(c);
    c->agent->drain.asking++;
    c->asking = true;
    c->decide.audio = c->offered && !c->answered_ms ? AUDIO_UNKNOWN /* its SDP comes in the ACK */
                      : media_takes_audio(c->media) ? AUDIO_TAKEN
                                                    : AUDIO_REFUSED;
    tmr_start(&c->hold_timer, HOLD_MS, on_hold, c);
    decide_submit(&c->decide, &c->machine, action, c->agent->store, &c->agent->box, on_answer);
}

/* ---- events of the SIP session ---- */

static void sip_call_on_tick(void *arg, int64_t now_ms);

static void sip_call_on_established(const struct sip_msg *msg, void *arg)
{
    struct sip_call *c = arg;
    c->answered_ms = c->signalled_ms = tick_now_ms();
    /* The ACK may come from another address, but only the source of the INVITE has proved that it got our answer. */
    if (!c->early.sdp)
        media_start(c->media, c->agent->tick, &c->invite->src);
    media_expect(c->media, &msg->src);
    tick_add(c->agent->tick, &c->tick, sip_call_on_tick, c);
    log_debug("call %u established codec=%s events=%d srtp=%d", c->serial, media_codec(c->media),
              media_events_negotiated(c->media), media_encrypted(c->media));
    if (sip_call_current(c) && sip_call_current(c)->kind == CALL_ANSWER)
        sip_call_advance(c);
    else
        sip_forward_established(c->forward);
}

void sip_call_info(struct sip *sip, const struct sip_msg *msg, void *arg)
{
    struct sip_call *c = arg;
    c->signalled_ms = tick_now_ms();
    media_alive(c->media, &msg->src);
    struct str body = {(const char *)mbuf_buf(msg->mb), mbuf_get_left(msg->mb)};
    char type[64];
    int n = re_snprintf(type, sizeof type, "%r/%r", &msg->ctyp.type, &msg->ctyp.subtype);
    bool taken = !body.n || (n > 0 && media_take_info(c->media, str_n(type, (size_t)n), body));
    /* In a transaction, so that a repeated request counts once. */
    (void)sip_treply(NULL, sip, msg, taken ? 200 : 415, taken ? "OK" : "Unsupported Media Type");
}

static void on_given_up(void *arg)
{
    struct sip_call *c = arg;
    log_debug("call %u was never acknowledged", c->serial);
    story_ended_by(&c->story, CALL_ENDED_LOST);
    sip_call_end(c);
}

static void sip_call_on_close(int error, const struct sip_msg *msg, void *arg)
{
    (void)msg;
    struct sip_call *c = arg;
    log_debug("call %u closed by the peer errno=%d", c->serial, error);
    if (error == ECONNRESET)
        sip_refresh_on_bye(&c->refresh, c->session);
    sip_call_end(c);
}

/* ---- actions: media, time, the peer or the store reports when one is done ---- */

/* The SDP of early media stays the answer (RFC 3261, 13.2.1). */
static void sip_call_answer(struct sip_call *c)
{
    char contact[EXTERNAL_CONTACT_MAX];
    if (!c->transaction) { /* answered for the resident: wait for the ACK */
        if (c->answered_ms)
            sip_call_advance(c);
        return;
    }
    struct mbuf *sdp = mem_ref(c->early.sdp);
    external_contact(c->agent->config, c->invite, contact);
    char lines[SIP_TIMER_LINES];
    sip_offer_begin(c);
    sip_timer_answer_lines(&c->refresh.timer, lines);
    int e = !sdp && media_make_sdp(c->media, c->offered, &sdp) ? ENOMEM : 0;
    if (!e)
        e = sip_answer_send(&c->answer, c->stack->sip, c->invite, &c->transaction, contact, lines, sdp, on_given_up, c);
    if (!e)
        media_listen(c->media, &c->invite->src); /* the ACK may be lost, and keys come before its repetition */
    mem_deref(sdp);
    if (e) {
        log_debug("call %u cannot be answered errno=%d", c->serial, e);
        sip_call_end(c);
    }
}

void sip_call_confirm(struct sip_call *c)
{
    sip_admit_prove(c);
    sip_trace_watch(c->stack, false); /* libre sends the 200 again here, which is dropped */
    int e = sip_answer_confirm(&c->answer, &c->session, c->stack->sessions, sip_offer_take, sip_offer_answered,
                               sip_call_on_established, sip_call_info, sip_call_on_close, c);
    sip_trace_watch(c->stack, true);
    if (!e && c->target != c->invite) /* an UPDATE came before */
        (void)sip_dialog_update(sipsess_dialog(c->session), c->target);
    if (e) {
        log_debug("call %u cannot be confirmed errno=%d", c->serial, e);
        sip_call_end(c);
    }
}

static void sip_call_reject(struct sip_call *c, int status)
{
    const char *reason = status == 404 ? "Not Found" : status == 503 ? "Service Unavailable" : "Server Internal Error";
    c->record.status = status;
    sip_call_refuse(c, status, reason);
    sip_call_end(c);
}

static void sip_call_on_played(void *arg);
static void sip_call_on_spoken(enum spoken_result result, const char *code, void *arg);

void sip_call_pick_up(struct sip_call *c)
{
    if (c->transaction)
        sip_call_answer(c);
}

enum err sip_call_open(struct sip_call *c)
{
    const struct call *m = &c->machine;
    if (m->outcome != CALL_FORWARDED)
        return m->outcome == CALL_NO_OUTCOME ? ERR_CALL_NOT_FORWARDED : ERR_CALL_ENDED;
    if (!m->tones[0])
        return ERR_SETUP_REQUIRED;
    switch (m->state) {
    case CALL_RINGING:
    case CALL_BRIDGED:
        if (c->forward)
            sip_forward_press(c->forward);
        else /* a greeting comes before the ringing */
            sip_call_step(c, &(struct call_event){.kind = CALL_FORWARD_OPEN, .remote = true});
        return ERR_NONE;
    case CALL_ENDING:
        return m->opened ? ERR_NONE : ERR_CALL_ENDED;
    case CALL_OVER:
        return ERR_CALL_ENDED;
    default:
        return ERR_CALL_NOT_FORWARDED;
    }
}

static const struct sip_forward_events sip_call_forward_events = {.answer = sip_call_answer, .step = sip_call_step};

static void sip_call_begin(struct sip_call *c, const struct call_action *a)
{
    sip_story_action(c, a);
    switch (a->kind) {
    case CALL_ASK_ARRIVE:
    case CALL_ASK_CODE:
    case CALL_ASK_FORWARDED:
        sip_call_ask(c, a);
        return;
    case CALL_REJECT:
        sip_call_reject(c, a->status);
        return;
    case CALL_ANSWER:
        sip_call_answer(c);
        return;
    case CALL_SAY:
        greeting_say(&c->saying, c->agent, c->media,
                     &(struct greeting_words){a->say.prompt, a->say.text, a->say.recording});
        return;
    case CALL_COLLECT:
        c->due_ms = tick_now_ms() + a->collect.wait_ms;
        if (a->collect.speech)
            sip_hearing_begin(&c->hearing, c->agent, &c->machine.building_id, sip_call_on_spoken, c);
        return;
    case CALL_SEND_TONES:
        media_quiet(c->media); /* the end of an announcement is not the end of the tones */
        sip_tones_press(&c->tones, c->media, c->stack->sip, c->session, &c->record, a->tones.keys, &a->tones.form,
                        sip_call_on_played, c);
        return;
    case CALL_FORWARD:
        sip_forward_start(c, a->forward, &sip_call_forward_events);
        return;
    case CALL_TAKE_MESSAGE:
        sip_message_begin(c, a->max_s);
        return;
    case CALL_HANG_UP:
        sip_call_end(c);
        return;
    }
}

static void sip_call_perform(struct sip_call *c)
{
    if (!c->ended && sip_call_current(c))
        sip_call_begin(c, sip_call_current(c));
}

/* ---- events of media and time ---- */

static void sip_call_on_played(void *arg)
{
    struct sip_call *c = arg;
    const struct call_action *a = sip_call_current(c);
    if (c->ended || !a)
        return;
    if (a->kind == CALL_SAY)
        sip_call_advance(c);
    else if (a->kind == CALL_SEND_TONES)
        c->due_ms = tick_now_ms() + LINGER_MS;
    else if (a->kind == CALL_FORWARD)
        sip_forward_played(c->forward);
    else if (a->kind == CALL_TAKE_MESSAGE)
        sip_message_listen(c);
}

static void sip_call_on_packet(const struct media_packet *p, void *arg)
{
    sip_parts_packet(arg, p);
}

static bool may_interrupt(const struct sip_call *c)
{
    const struct call_action *a = sip_call_current(c);
    return a && a->kind == CALL_SAY && a->say.interruptible && c->at + 1 < c->actions.n && a[1].kind == CALL_COLLECT;
}

static void sip_call_on_key(char key, void *arg)
{
    struct sip_call *c = arg;
    if (c->ended)
        return;
    if (may_interrupt(c)) {
        media_quiet(c->media);
        sip_call_advance(c);
    }
    const struct call_action *a = sip_call_current(c);
    if (a && a->kind == CALL_TAKE_MESSAGE) {
        sip_message_end(c);
        sip_call_advance(c);
    } else if (a && a->kind == CALL_COLLECT) {
        sip_call_step(c,
                      &(struct call_event){.kind = CALL_DIGIT, .digit = key, .way = dtmf_in_way(media_keys(c->media))});
    }
}

static void sip_call_on_audio(const int16_t *samples, size_t n, void *arg)
{
    sip_parts_audio(arg, samples, n);
}

static void sip_call_on_spoken(enum spoken_result result, const char *code, void *arg)
{
    struct sip_call *c = arg;
    const struct call_action *a = sip_call_current(c);
    if (c->ended || !a || a->kind != CALL_COLLECT)
        return;
    const bool understood = result == SPOKEN_ACCEPTED || result == SPOKEN_OTHER;
    sip_call_step(c, &(struct call_event){.kind = understood ? CALL_SPOKEN : CALL_UNCLEAR,
                                          .spoken = str_z(code),
                                          .guess = result == SPOKEN_GUESS});
}

static bool gone(const struct sip_call *c, int64_t now_ms)
{
    int64_t heard_ms = media_heard_ms(c->media);
    int64_t talker_ms = sip_forward_heard_ms(c->forward); /* a visitor who only listens is not gone */
    int64_t last_ms = heard_ms > c->signalled_ms ? heard_ms : c->signalled_ms;
    last_ms = talker_ms > last_ms ? talker_ms : last_ms;
    const int64_t browser_ms = sip_listeners_alive_ms(c);
    last_ms = browser_ms > last_ms ? browser_ms : last_ms;
    return now_ms - last_ms > SILENT_MS || now_ms - c->answered_ms > CALL_MAX_MS;
}

/* Whether a collection that is due must go on: its wait counts from the release of the last key, a thread that was held
 * up must first read the packets that came meanwhile, and somebody may be speaking. */
static bool input_may_follow(const struct sip_call *c, const struct call_action *a, int64_t now_ms)
{
    const int64_t held_ms = media_keys(c->media)->held_ms;
    return (held_ms && now_ms - held_ms < a->collect.wait_ms) || media_unread(c->media) ||
           sip_hearing_busy(&c->hearing);
}

static void sip_call_on_tick(void *arg, int64_t now_ms)
{
    struct sip_call *c = arg;
    if (gone(c, now_ms)) {
        story_ended_by(&c->story, now_ms - c->answered_ms > CALL_MAX_MS ? CALL_ENDED_LIMIT : CALL_ENDED_LOST);
        log_debug("call %u given up", c->serial);
        sip_call_end(c);
        return;
    }
    sip_parts_tick(c, now_ms);
    if (c->ended)
        return;
    const struct call_action *a = sip_call_current(c);
    if (a && a->kind == CALL_SAY)
        greeting_tick(&c->saying, now_ms);
    if (!c->due_ms || now_ms < c->due_ms)
        return;
    if (a && a->kind == CALL_COLLECT && input_may_follow(c, a, now_ms))
        return;
    c->due_ms = 0;
    if (a && a->kind == CALL_COLLECT)
        sip_call_step(c, &(struct call_event){.kind = CALL_TIMEOUT});
    else if (a)
        sip_call_advance(c);
}

const struct media_events sip_call_media_events = {
    .key = sip_call_on_key, .played = sip_call_on_played, .packet = sip_call_on_packet, .audio = sip_call_on_audio};
