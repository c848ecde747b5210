#include "sip/listener.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "media/player.h"
#include "sip/agent.h"
#include "sip/forward.h"
#include "sip/story.h"
#include "webrtc/webrtc.h"

struct listener {
    struct le le; /* in call->listeners */
    struct sip_call *call;
    struct id id;
    struct listener_key by;
    bool person;
    struct webrtc_session *session;
    struct { /* a tone, in place of the visitor */
        struct player player;
        struct tick_entry tick;
        uint32_t ssrc, timestamp;
        uint16_t seq;
    } tone;
};

static void free_listener(struct listener *l)
{
    list_unlink(&l->le);
    tick_remove(&l->tone.tick);
    webrtc_close(l->session);
    free(l);
}

static struct listener *find_listener(const struct sip_call *c, const struct id *id)
{
    for (struct le *le = c->listeners.head; le; le = le->next) {
        struct listener *l = le->data;
        if (id_equal(&l->id, id))
            return l;
    }
    return NULL;
}

/* The listener goes, and its conversation ends. May end the call. */
static void drop_listener(struct listener *l)
{
    struct sip_call *c = l->call;
    const bool talked = c->talker == l;
    if (talked)
        c->talker = NULL;
    free_listener(l);
    if (talked)
        sip_forward_left(c->forward);
    else if (!c->listeners.head)
        sip_forward_deserted(c->forward);
}

/* ---- the tone of a conversation that somebody joins ---- */

static void tone_tick(void *arg, int64_t now_ms)
{
    struct listener *l = arg;
    uint8_t frame[PLAYER_FRAME];
    (void)now_ms;
    if (player_ended(&l->tone.player)) {
        tick_remove(&l->tone.tick);
        return;
    }
    player_fill(&l->tone.player, PT_PCMU, frame);
    webrtc_send(l->session, &(struct media_packet){.pt = PT_PCMU,
                                                   .seq = l->tone.seq++,
                                                   .ssrc = l->tone.ssrc,
                                                   .timestamp = l->tone.timestamp,
                                                   .payload = frame,
                                                   .n = sizeof frame});
    l->tone.timestamp += PLAYER_FRAME;
}

static void tell_talker(struct listener *l, const struct sound *parts, size_t n)
{
    player_clear(&l->tone.player);
    for (size_t i = 0; i < n; i++)
        player_add(&l->tone.player, parts[i]);
    if (l->tone.tick.le.list)
        return;
    l->tone.ssrc = rand_u32();
    tick_add(l->call->agent->tick, &l->tone.tick, tone_tick, l);
}

static bool sends_tones(const struct sip_call *c)
{
    const struct call_action *a = sip_call_current(c);
    return a && a->kind == CALL_SEND_TONES;
}

static void tell_both(struct sip_call *c, const struct sound *parts, size_t n)
{
    media_play(c->media, parts, n);
    if (c->talker)
        tell_talker(c->talker, parts, n);
    else
        sip_forward_play(c->forward, parts, n);
}

/* The release tone is not interrupted: both sides hear it afterwards. */
static void announce(struct sip_call *c)
{
    struct sound parts[SOUND_PARTS_MAX];
    c->owes_tone = sends_tones(c);
    if (!c->owes_tone)
        tell_both(c, parts, sound_joined(parts));
}

void sip_listeners_closing(struct sip_call *c)
{
    struct sound parts[SOUND_PARTS_MAX];
    c->owes_prompt = sends_tones(c);
    if (c->owes_prompt)
        return;
    const char *text = call_text(&c->machine, PROMPT_CLOSING);
    sip_story_note(c, CALL_STEP_SAID, "closing", NULL);
    tell_both(c, parts, greeting_parts(&c->saying, c->agent, PROMPT_CLOSING, text, parts));
}

void sip_listeners_opened(struct sip_call *c)
{
    if (c->machine.state != CALL_BRIDGED)
        return;
    if (c->owes_prompt)
        sip_listeners_closing(c);
    else if (c->owes_tone)
        announce(c);
}

/* ---- events of the session ---- */

static void on_browser_ready(void *arg)
{
    const struct listener *l = arg;
    log_debug("call %u listener=%s ready", l->call->serial, l->id.text);
}

static void on_browser_packet(const struct media_packet *p, void *arg)
{
    const struct listener *l = arg;
    if (l->call->talker == l && sip_forward_browser_talks(l->call->forward))
        media_relay(l->call->media, p);
}

static void on_browser_gone(enum webrtc_end end, void *arg)
{
    struct listener *l = arg;
    log_info("call listener=%s gone reason=%s", l->id.text, webrtc_end_text(end));
    drop_listener(l);
}

static const struct webrtc_events browser_events = {
    .ready = on_browser_ready, .packet = on_browser_packet, .gone = on_browser_gone};

/* ---- commands ---- */

/* The number by which the endpoint limits the sessions of an account: part of its ID. */
static uint64_t owner_of(const struct id *account)
{
    char end[17] = "";
    memcpy(end, account->text + ID_LEN - 16, 16);
    return strtoull(end, NULL, 16);
}

static enum err refuse(enum webrtc_refusal refusal, struct call_command_result *ret)
{
    if (refusal == WEBRTC_OWNER_HAS_MANY || refusal == WEBRTC_FULL)
        return ERR_TOO_MANY_LISTENERS;
    ret->why = webrtc_refusal_text(refusal);
    return ERR_INVALID_SDP;
}

static enum err open_session(struct listener *l, const struct call_command *command, struct call_command_result *ret)
{
    const struct webrtc_request request = {.offer = command->offer,
                                           .owner = owner_of(&command->account_id),
                                           .pt = strcmp(media_codec(l->call->media), "PCMA") ? PT_PCMU : PT_PCMA};
    char answer[WEBRTC_ANSWER_MAX];
    const enum webrtc_refusal refusal =
        webrtc_open(l->call->agent->webrtc, &request, &browser_events, l, answer, &l->session);
    if (refusal != WEBRTC_TAKEN)
        return refuse(refusal, ret);
    ret->answer = mem_strdup(answer);
    return ERR_NONE;
}

static enum err may_listen(const struct sip_call *c, bool person)
{
    const struct call *m = &c->machine;
    if (m->outcome != CALL_FORWARDED && m->outcome != CALL_NO_OUTCOME)
        return ERR_CALL_ENDED;
    if (m->outcome == CALL_NO_OUTCOME || m->state == CALL_RECORDING)
        return ERR_CALL_NOT_FORWARDED;
    if (m->state == CALL_BRIDGED)
        return person ? ERR_NONE : ERR_CALL_ANSWERED;
    return m->state == CALL_RINGING ? ERR_NONE : ERR_CALL_ENDED;
}

static void note_listener(const struct listener *l)
{
    struct sip_call *c = l->call;
    const bool joins = c->machine.state == CALL_BRIDGED;
    log_info("call listener=%s key=%s call=%s", l->id.text, l->by.key_id.text, c->story.arrival.id.text);
    sip_story_listening(c, joins ? "conversation" : "ringing", &l->by.key_id);
    if (joins)
        announce(c);
}

enum err sip_listener_add(struct sip_call *c, const struct call_command *command, struct call_command_result *ret)
{
    if (!c->agent->webrtc)
        return ERR_CALL_ELSEWHERE;
    const enum err e = may_listen(c, command->person);
    if (e)
        return e;
    if (list_count(&c->listeners) >= SIP_LISTENERS_MAX)
        return ERR_TOO_MANY_LISTENERS;
    struct listener *l = mem_new(struct listener);
    *l = (struct listener){.call = c,
                           .id = id_new(clock_now_us()),
                           .by = {command->account_id, command->key_id},
                           .person = command->person};
    const enum err refused = open_session(l, command, ret);
    if (refused) {
        free(l);
        return refused;
    }
    list_append(&c->listeners, &l->le, l);
    ret->listener_id = l->id;
    ret->answered = c->machine.state == CALL_BRIDGED;
    note_listener(l);
    sip_forward_attended(c->forward);
    return ERR_NONE;
}

static enum err unknown_listener(struct call_command_result *ret)
{
    ret->why = "no browser with that listener_id listens to the call";
    return ERR_NOT_FOUND;
}

enum err sip_listener_take(struct sip_call *c, const struct id *id, struct call_command_result *ret)
{
    struct listener *l = find_listener(c, id);
    if (!l)
        return unknown_listener(ret);
    if (c->talker == l)
        return ERR_NONE;
    if (c->machine.state == CALL_ENDING || c->machine.state == CALL_OVER)
        return ERR_CALL_ENDED;
    if (c->talker || c->machine.state == CALL_BRIDGED)
        return ERR_CALL_ANSWERED;
    c->talker = l;
    if (!c->forward || sip_forward_take(c->forward)) /* a greeting comes before the ringing */
        return ERR_NONE;
    c->talker = NULL;
    return ERR_CALL_ANSWERED;
}

enum err sip_listener_leave(struct sip_call *c, const struct id *id, struct call_command_result *ret)
{
    struct listener *l = find_listener(c, id);
    if (!l)
        return unknown_listener(ret);
    drop_listener(l);
    return ERR_NONE;
}

/* ---- the call ---- */

static void listeners_on_packet(struct sip_call *c, const struct media_packet *p)
{
    for (struct le *le = c->listeners.head; le; le = le->next) {
        const struct listener *l = le->data;
        if (!l->tone.tick.le.list)
            webrtc_send(l->session, p);
    }
}

void sip_listeners_bridged(struct sip_call *c)
{
    struct le *le = c->listeners.head;
    while (le) {
        struct listener *l = le->data;
        le = le->next;
        if (l == c->talker)
            continue;
        if (l->person) {
            note_listener(l);
            continue;
        }
        log_info("call listener=%s gone reason=answered", l->id.text);
        free_listener(l);
    }
}

size_t sip_listeners_keys(const struct sip_call *c, struct listener_key ret[static SIP_LISTENERS_MAX])
{
    size_t n = 0;
    for (struct le *le = c->listeners.head; le && n < SIP_LISTENERS_MAX; le = le->next) {
        const struct listener *l = le->data;
        ret[n++] = l->by;
    }
    return n;
}

/* If it ends the call, all listeners are free. */
void sip_listeners_drop_key(struct sip_call *c, const struct id *key)
{
    struct le *le = c->listeners.head;
    while (le) {
        struct listener *l = le->data;
        le = le->next;
        if (!id_equal(&l->by.key_id, key))
            continue;
        log_info("call listener=%s gone reason=key_ended", l->id.text);
        drop_listener(l);
        if (c->ended)
            return;
    }
}

int64_t sip_listeners_alive_ms(const struct sip_call *c)
{
    return c->talker ? webrtc_alive_ms(c->talker->session) : 0;
}

static void listeners_on_end(struct sip_call *c)
{
    struct le *le = c->listeners.head;
    c->talker = NULL;
    while (le) {
        struct listener *l = le->data;
        le = le->next;
        free_listener(l);
    }
}

const struct sip_part sip_listener_part = {.packet = listeners_on_packet, .end = listeners_on_end};
