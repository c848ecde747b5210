/* One SIP call: performs what the call machine says with a SIP session, an RTP session and the store. */
#include "voice/sip_call.h"

#include "base/container_of.h"
#include "base/log.h"
#include "voice/sip_admit.h"
#include "voice/sip_agent.h"
#include "voice/sip_guard.h"

#define REFUSALS_MAX 500              /* that are repeated until they are acknowledged, in REFUSALS_MS */
#define REFUSALS_MS  (64 * SIP_T1)    /* libre keeps each so long */
#define LINGER_MS    500              /* between the last tone and the BYE: some boxes miss its end otherwise */
#define SILENT_MS    30000            /* without a packet or a message of the peer: it is gone */
#define CALL_MAX_MS  (10 * 60 * 1000) /* no call is longer */
#define TAG_MAX      17               /* of ours: 64 bits in hexadecimal, as libre writes them */

static void perform(struct sip_call *c);

/* ---- the end ---- */

static const struct call_action *current(const struct sip_call *c)
{
    return c->at < c->actions.n ? &c->actions.v[c->at] : NULL;
}

static void destructor(void *arg)
{
    struct sip_call *c = arg;
    list_unlink(&c->le);
    hash_unlink(&c->dialog);
    tmr_cancel(&c->free_timer);
    media_free(c->media);
    decide_done(&c->decide);
    mem_deref((void *)c->invite);
}

static void on_free(void *arg)
{
    mem_deref(arg);
}

static void write_line(struct sip_call *c)
{
    struct call_record *r = &c->record;
    r->duration_ms = tick_now_ms() - c->arrived_ms;
    r->established = c->answered_ms != 0;
    if (c->media) {
        const struct dtmf_in *keys = media_keys(c->media);
        r->has_media = true;
        r->events = keys->events;
        r->tones = keys->tones;
        r->infos = keys->infos;
    }
    call_log(&c->machine, r);
}

static void stop_waiting(struct sip_call *c)
{
    if (!c->waiting.list)
        return;
    list_unlink(&c->waiting);
    c->agent->waiting_count--;
    c->source->waiting--;
}

/* Whether one more refusal may be repeated until it is acknowledged, as RFC 3261 wants it. Each costs memory for 32 s,
 * and nobody has to be there: in a flood the others are sent once. */
static bool may_repeat(struct sip_agent *a)
{
    int64_t now_ms = tick_now_ms();
    if (now_ms - a->refusals_ms >= REFUSALS_MS) {
        a->refusals_ms = now_ms;
        a->refusals = 0;
    }
    return a->refusals++ < REFUSALS_MAX;
}

/* The last answer of a call that is not taken. */
static void refuse_call(struct sip_call *c, int status, const char *reason)
{
    if (may_repeat(c->agent)) {
        (void)sip_treply(&c->transaction, c->agent->sip, c->invite, (uint16_t)status, reason);
        return;
    }
    (void)sip_reply(c->agent->sip, c->invite, (uint16_t)status, reason);
    c->transaction = mem_deref(c->transaction);
}

void sip_call_end(struct sip_call *c)
{
    if (c->ended)
        return;
    c->ended = true;
    struct call_actions none;
    const struct call_action *at = current(c);
    c->record.unfinished = c->machine.state == CALL_ENDING && !(at && at->kind == CALL_HANG_UP);
    call_step(&c->machine, &(struct call_event){.kind = CALL_HUNG_UP}, &none);
    if (!c->evicted && (c->answered_ms || sip_admit_may_tell(c->agent)))
        write_line(c);
    tick_remove(&c->tick);
    if (c->media)
        media_stop(c->media);
    if (c->transaction)
        refuse_call(c, 503, "Service Unavailable");
    sip_answer_done(&c->answer);
    c->session = mem_deref(c->session); /* BYE, if it was acknowledged and the peer is still there */
    stop_waiting(c);
    sip_source_leave(c->source);
    c->source = NULL;
    hash_unlink(&c->dialog);
    list_unlink(&c->le);
    list_append(&c->agent->ended, &c->le, c);
    c->agent->call_count--;
    tmr_start(&c->free_timer, 0, on_free, c);
    sip_agent_settled(c->agent);
}

void sip_call_end_all(struct sip_agent *a)
{
    struct le *le = a->calls.head;
    while (le) {
        struct sip_call *c = le->data;
        le = le->next;
        sip_call_end(c);
    }
}

/* ---- the machine ---- */

static void step(struct sip_call *c, const struct call_event *e)
{
    struct call_actions next;
    call_step(&c->machine, e, &next);
    if (!next.n)
        return;
    log_debug("call %u %s", c->serial, call_state_name(c->machine.state));
    c->actions = next;
    c->at = 0;
    c->due_ms = 0;
    perform(c);
}

/* The action in progress is done. */
static void go_on(struct sip_call *c)
{
    c->due_ms = 0;
    c->at++;
    perform(c);
}

/* ---- decisions ---- */

static void on_answer(struct decide *d)
{
    struct sip_call *c = container_of(d, struct sip_call, decide);
    c->agent->asking--;
    if (!c->ended) {
        struct call_event e = decide_event(d);
        step(c, &e);
    }
    sip_agent_settled(c->agent);
    mem_deref(c);
}

static void ask(struct sip_call *c, const struct call_action *action)
{
    mem_ref(c);
    c->agent->asking++;
    decide_submit(&c->decide, &c->machine, action, c->agent->store, &c->agent->box, on_answer);
}

/* ---- what the SIP session reports ---- */

static void on_cancel(void *arg)
{
    struct sip_call *c = arg;
    decide_drop(&c->decide);
    refuse_call(c, 487, "Request Terminated");
    sip_call_end(c);
}

static void on_tick(void *arg, int64_t now_ms);

static void on_established(const struct sip_msg *msg, void *arg)
{
    struct sip_call *c = arg;
    c->answered_ms = c->signalled_ms = tick_now_ms();
    /* The ACK may come another way than the INVITE did, but only the one of them had our answer. */
    media_start(c->media, c->agent->tick, &c->invite->src);
    media_expect(c->media, &msg->src);
    tick_add(c->agent->tick, &c->tick, on_tick, c);
    log_debug("call %u established codec=%s events=%d", c->serial, media_codec(c->media),
              media_events_negotiated(c->media));
    go_on(c);
}

/* A new offer within the call: hold, resume, another address, a session refresh. */
static int on_offer(struct mbuf **ret, const struct sip_msg *msg, void *arg)
{
    struct sip_call *c = arg;
    c->signalled_ms = tick_now_ms();
    bool offer = mbuf_get_left(msg->mb) > 0;
    if (offer && (!sip_body_is_sdp(msg) || media_take_sdp(c->media, true, msg->mb)))
        return EPROTO;
    return media_make_sdp(c->media, !offer, ret) ? ENOMEM : 0;
}

/* The answer to an offer of ours, in the ACK. */
static int on_sdp_answer(const struct sip_msg *msg, void *arg)
{
    struct sip_call *c = arg;
    if (!mbuf_get_left(msg->mb) || !sip_body_is_sdp(msg) || media_take_sdp(c->media, false, msg->mb))
        return EPROTO;
    return 0;
}

static void on_info(struct sip *sip, const struct sip_msg *msg, void *arg)
{
    struct sip_call *c = arg;
    c->signalled_ms = tick_now_ms();
    media_alive(c->media, &msg->src);
    struct str body = {(const char *)mbuf_buf(msg->mb), mbuf_get_left(msg->mb)};
    char type[64];
    int n = re_snprintf(type, sizeof type, "%r/%r", &msg->ctyp.type, &msg->ctyp.subtype);
    bool taken = !body.n || (n > 0 && media_take_info(c->media, str_n(type, (size_t)n), body));
    /* In a transaction, so that a repeated request is the same press. */
    (void)sip_treply(NULL, sip, msg, taken ? 200 : 415, taken ? "OK" : "Unsupported Media Type");
}

static void on_given_up(void *arg)
{
    struct sip_call *c = arg;
    log_debug("call %u was never acknowledged", c->serial);
    sip_call_end(c);
}

static void on_close(int error, const struct sip_msg *msg, void *arg)
{
    (void)msg;
    struct sip_call *c = arg;
    log_debug("call %u closed by the peer errno=%d", c->serial, error);
    sip_call_end(c);
}

/* ---- actions: each is done when media, time, the peer or the store says so ---- */

static void answer(struct sip_call *c)
{
    struct mbuf *sdp = NULL;
    int e = media_make_sdp(c->media, c->offered, &sdp) ? ENOMEM : 0;
    if (!e)
        e = sip_answer_send(&c->answer, c->agent->sip, c->invite, &c->transaction, sdp, on_given_up, c);
    mem_deref(sdp);
    if (e) {
        log_debug("call %u cannot be answered errno=%d", c->serial, e);
        sip_call_end(c);
    }
}

/* The caller was heard from: it is where it says. */
static void confirm(struct sip_call *c)
{
    stop_waiting(c);
    int e = sip_answer_confirm(&c->answer, &c->session, c->agent->sessions, on_offer, on_sdp_answer, on_established,
                               on_info, on_close, c);
    if (e) {
        log_debug("call %u cannot be confirmed errno=%d", c->serial, e);
        sip_call_end(c);
    }
}

static void reject(struct sip_call *c, int status)
{
    c->record.status = status;
    refuse_call(c, status, status == 404 ? "Not Found" : "Server Internal Error");
    sip_call_end(c);
}

static void say(struct sip_call *c, enum call_prompt prompt)
{
    struct sound parts[SOUND_PARTS_MAX];
    size_t n = sound_prompt(prompt, parts);
    media_play(c->media, parts, n);
}

static void begin(struct sip_call *c, const struct call_action *a)
{
    const struct config *config = c->agent->config;
    switch (a->kind) {
    case CALL_ASK_ARRIVE:
    case CALL_ASK_CODE:
    case CALL_ASK_FORWARDED:
        ask(c, a);
        return;
    case CALL_REJECT:
        reject(c, a->status);
        return;
    case CALL_ANSWER:
        answer(c);
        return;
    case CALL_SAY:
        say(c, a->say.prompt);
        return;
    case CALL_COLLECT:
        c->due_ms = tick_now_ms() + a->collect.wait_ms;
        return;
    case CALL_SEND_TONES:
        media_press(c->media, a->tones, config->voice_tone_ms, config->voice_tone_gap_ms, false);
        return;
    case CALL_FORWARD: /* this agent rings nobody */
        step(c, &(struct call_event){.kind = CALL_FORWARD_FAILED});
        return;
    case CALL_HANG_UP:
        sip_call_end(c);
        return;
    }
}

static void perform(struct sip_call *c)
{
    if (!c->ended && current(c))
        begin(c, current(c));
}

/* ---- what media and time report ---- */

static void on_played(void *arg)
{
    struct sip_call *c = arg;
    const struct call_action *a = current(c);
    if (c->ended || !a)
        return;
    if (a->kind == CALL_SAY)
        go_on(c);
    else if (a->kind == CALL_SEND_TONES)
        c->due_ms = tick_now_ms() + LINGER_MS;
}

static bool may_interrupt(const struct sip_call *c)
{
    const struct call_action *a = current(c);
    return a && a->kind == CALL_SAY && a->say.interruptible && c->at + 1 < c->actions.n && a[1].kind == CALL_COLLECT;
}

static void on_key(char key, void *arg)
{
    struct sip_call *c = arg;
    if (c->ended)
        return;
    if (may_interrupt(c)) {
        media_quiet(c->media);
        go_on(c);
    }
    const struct call_action *a = current(c);
    if (a && a->kind == CALL_COLLECT)
        step(c, &(struct call_event){.kind = CALL_DIGIT, .digit = key});
}

static bool gone(const struct sip_call *c, int64_t now_ms)
{
    int64_t heard_ms = media_heard_ms(c->media);
    int64_t last_ms = heard_ms > c->signalled_ms ? heard_ms : c->signalled_ms;
    return now_ms - last_ms > SILENT_MS || now_ms - c->answered_ms > CALL_MAX_MS;
}

/* The silence that a collection waits for counts from the release of the last key. */
static bool is_key_fresh(const struct sip_call *c, const struct call_action *a, int64_t now_ms)
{
    const int64_t held_ms = media_keys(c->media)->held_ms;
    return a && a->kind == CALL_COLLECT && held_ms && now_ms - held_ms < a->collect.wait_ms;
}

static void on_tick(void *arg, int64_t now_ms)
{
    struct sip_call *c = arg;
    if (gone(c, now_ms)) {
        log_debug("call %u given up", c->serial);
        sip_call_end(c);
        return;
    }
    if (!c->due_ms || now_ms < c->due_ms)
        return;
    const struct call_action *a = current(c);
    if (is_key_fresh(c, a, now_ms))
        return;
    c->due_ms = 0;
    if (a && a->kind == CALL_COLLECT)
        step(c, &(struct call_event){.kind = CALL_TIMEOUT});
    else if (a)
        go_on(c);
}

/* ---- the beginning ---- */

static const struct media_events media_events = {.key = on_key, .played = on_played};

static struct sip_call *new_call(struct sip_agent *a, const struct sip_msg *msg, struct sip_source *s)
{
    char to[CALL_NUMBER_MAX], from[CALL_NUMBER_MAX];
    struct sip_call *c = mem_zalloc(sizeof *c, destructor);
    if (!c)
        return NULL;
    struct uri dialled = sip_dialled(msg, s->peer);
    (void)sip_number(&dialled, s->peer, to);
    (void)sip_number(&msg->from.uri, s->peer, from);
    call_init(&c->machine);
    decide_init(&c->decide, a->config, to, from);
    c->arrived_ms = tick_now_ms();
    sip_admit_record(&c->record, msg, &dialled);
    memcpy(c->record.number, to, sizeof to);
    c->agent = a;
    c->source = s;
    c->source->calls++;
    c->source->waiting++;
    c->serial = ++a->serial;
    c->invite = mem_ref((void *)msg);
    list_append(&a->calls, &c->le, c);
    list_append(&a->waiting, &c->waiting, c);
    hash_append(a->dialogs, hash_joaat_pl(&msg->callid), &c->dialog, c);
    a->call_count++;
    a->waiting_count++;
    return c;
}

/* Media first: a call that cannot carry a tone must not use up a grant. */
static int make_media(struct sip_call *c, const struct sip_msg *msg)
{
    struct media_options options = {.laddr = &msg->dst, .events = true};
    if (media_new(&c->media, &options, &media_events, c))
        return 503;
    c->offered = mbuf_get_left(msg->mb) == 0;
    return !c->offered && media_take_sdp(c->media, true, msg->mb) ? 488 : 0;
}

void sip_call_invite(struct sip_agent *a, const struct sip_msg *msg)
{
    struct sip_source *s;
    if (!sip_admit(a, msg, &s))
        return;
    struct sip_call *c = new_call(a, msg, s);
    if (!c) {
        if (!s->calls)
            mem_deref(s);
        sip_refuse(a, msg, 500, "Server Internal Error", "");
        return;
    }
    if (sip_strans_alloc(&c->transaction, a->sip, msg, on_cancel, c)) {
        sip_call_end(c);
        return;
    }
    int status = make_media(c, msg);
    if (status) {
        c->record.status = status;
        refuse_call(c, status, status == 488 ? "Not Acceptable Here" : "Service Unavailable");
        sip_call_end(c);
        return;
    }
    (void)sip_treply(&c->transaction, a->sip, msg, 100, "Trying");
    log_debug("call %u arrived", c->serial);
    step(c, &(struct call_event){.kind = CALL_ARRIVED});
}

/* ---- requests within a call ---- */

/* Of this call's dialog, in which our tag is a secret of the 200: who has it is where the INVITE came from. */
static bool is_dialog(struct le *le, void *arg)
{
    const struct sip_call *c = le->data;
    const struct sip_msg *msg = arg, *invite = c->invite;
    char tag[TAG_MAX];
    (void)re_snprintf(tag, sizeof tag, "%016llx", (unsigned long long)invite->tag);
    return (c->answer.reply || c->session) && !pl_cmp(&msg->callid, &invite->callid) &&
           !pl_cmp(&msg->from.tag, &invite->from.tag) && !pl_strcmp(&msg->to.tag, tag);
}

bool sip_call_knows(struct sip_agent *a, const struct sip_msg *msg)
{
    struct sip_call *c = list_ledata(hash_lookup(a->dialogs, hash_joaat_pl(&msg->callid), is_dialog, (void *)msg));
    if (c && !c->session)
        confirm(c);
    return c;
}
