#include "twiml/twiml.h"

#include "api/gate.h"
#include "api/parts.h"
#include "base/forms.h"
#include "base/log.h"
#include "call/decide.h"
#include "call/known.h"
#include "providers/providers.h"
#include "providers/twilio.h"
#include "twiml/document.h"
#include "twiml/ending.h"
#include "twiml/greeting.h"
#include "twiml/message.h"
#include "twiml/room.h"

#define BODY_MAX   16384
#define ROUNDS_MAX 400 /* times that the resident is sent to the room */
#define STEPS_MAX  400 /* answers in one call: more than codes, phones and keys in a conversation need */

/* ---- requests ---- */

struct hook_query {
    struct val step, call, phone, answer, round;
};

static const struct field query_fields[] = {
    FIELD(struct hook_query, step, T_INT, .min = 0, .max = STEPS_MAX, .error = ERR_BAD_REQUEST,
          .doc = "answers that the call has had"),
    FIELD(struct hook_query, call, T_STRING, FORM("^CA[0-9a-f]{32}$", "the ID of a call"), .error = ERR_BAD_REQUEST,
          .doc = "the visitor's call"),
    FIELD(struct hook_query, phone, T_INT, .min = 0, .max = CALL_PHONES_MAX - 1, .error = ERR_BAD_REQUEST,
          .doc = "the resident's phone"),
    FIELD(struct hook_query, answer, T_INT, .min = RESIDENT_CHOSE, .max = RESIDENT_PRESSED, .error = ERR_BAD_REQUEST,
          .doc = "the resident was asked (1), moved (2), has talked (3), was asked again (4)"),
    FIELD(struct hook_query, round, T_INT, .min = 0, .max = ROUNDS_MAX, .error = ERR_BAD_REQUEST,
          .doc = "times that the resident has talked"),
};
static const struct shape query_shape = SHAPE(struct hook_query, "TwilioHookQuery", query_fields);

/* A verified request, and results for the log. */
struct posted {
    struct form form;
    struct str sid;
    const struct twiml_session *ended; /* by this request; NULL: no call */
    uint64_t changes;                  /* of the doors in memory, before the request */
    const char *dialled, *from;        /* numbers of the call; NULL: no turn was settled */
    struct access_decision arrived;    /* the decisions about its arrival, */
    struct access_decision closed;     /* and that closed the keypad */
    unsigned asked;                    /* as of the turn */
    int64_t asked_us;
};

/* Says the same to every other sender, whatever is wrong. */
static enum err verify_request(struct request *q)
{
    struct posted *r = arena_new(q->tx.arena, struct posted);
    size_t count;
    const struct twilio_posted given = {.origin = str_z(q->parts->public_url),
                                        .target = q->http->target,
                                        .signature = http_header(q->http, STR("X-Twilio-Signature"), &count),
                                        .body = q->http->body};
    if (count != 1 || !gate_has_media(q, FORM_MEDIA) ||
        !twilio_hook_read(q->parts->providers->hook, &given, q->tx.arena, &r->form))
        return ERR_INVALID_SIGNATURE;
    r->sid = form_value(&r->form, "CallSid");
    r->changes = known_changes(q->parts->known);
    q->body = r;
    return twilio_is_sid(r->sid, "CA") ? ERR_NONE : tx_fail(&q->tx, ERR_BAD_REQUEST, "CallSid is not that of a call");
}

/* Has the call ended? A request can come after that, for the result of <Dial>. */
static bool is_over(const struct posted *r)
{
    static const char *const over[] = {"completed", "busy", "failed", "no-answer", "canceled"};
    const struct str status = form_value(&r->form, "CallStatus");
    if (str_eq(form_value(&r->form, "Digits"), STR("hangup"))) /* of <Record> */
        return true;
    for (size_t i = 0; i < sizeof over / sizeof *over; i++)
        if (str_eq(status, str_z(over[i])))
            return true;
    return false;
}

/* A handler may run again after a lost race. */
static void forget_results(struct posted *r)
{
    r->ended = NULL;
    r->arrived = r->closed = (struct access_decision){0};
    r->dialled = r->from = NULL;
    r->asked = 0;
}

/* ---- answers ---- */

static enum err reply_xml(struct reply *p, struct str document)
{
    p->status = 200;
    p->raw = document;
    return ERR_NONE;
}

/* Ends the buffer. */
static enum err reply_buf(struct request *q, struct reply *p, struct buf *b)
{
    struct str document = arena_str(q->tx.arena, buf_view(b));
    buf_done(b);
    return reply_xml(p, document);
}

static enum err reply_short(struct request *q, struct reply *p, void (*put)(struct buf *))
{
    struct buf b = BUF(256);
    put(&b);
    return reply_buf(q, p, &b);
}

/* Makes t->actions the answer to the visitor's next request, and stores the call. */
static enum err settle(struct request *q, struct twiml_turn *t)
{
    struct posted *r = q->body;
    struct twiml_session *s = t->s;
    struct buf b = BUF(TWIML_ANSWER_MAX);
    s->step++;
    twiml_perform(t);
    if (t->actions.n || t->joins)
        twiml_visitor(q->tx.config, s, &t->actions, t->joins, &b);
    else
        twiml_hang_up(&b);
    s->answer = arena_str(q->tx.arena, buf_view(&b));
    const bool full = b.full;
    buf_done(&b);
    const bool asks = twiml_takes_message(t);
    s->message = asks ? MESSAGE_ASKED : s->message;
    s->ended = s->call.state >= CALL_ENDING && !asks;
    if (s->ended)
        twiml_session_count(s);
    r->ended = s->ended ? s : NULL;
    r->arrived = t->arrived;
    r->closed = t->closed;
    r->dialled = s->story.arrival.dialled;
    r->from = s->story.arrival.caller;
    r->asked = t->asked;
    r->asked_us = t->asked_us;
    enum err e = full ? ERR_INTERNAL_ERROR : story_feed(&q->tx, &s->story);
    if (!e)
        e = twiml_session_put(&q->tx, s);
    if (!e && s->ended)
        e = story_write(&q->tx, &s->story, t->at_ms);
    if (!e && asks)
        e = twiml_message_expect(&q->tx, s);
    crypto_wipe(s->call.code, sizeof s->call.code);
    return e;
}

/* ---- the visitor's call ---- */

static enum err take_turn(struct twiml_turn *t, const struct posted *r)
{
    const struct form *f = &r->form;
    const enum call_state state = t->s->call.state;
    if (state == CALL_NEW)
        return twiml_arrived(t);
    if (!is_over(r) && t->s->step < STEPS_MAX) {
        if (state == CALL_COLLECTING)
            return twiml_gathered(t, f);
        if (state == CALL_BRIDGED)
            return twiml_room_visitor(t);
        if (state == CALL_RINGING)
            return twiml_dialled(t, form_value(f, "DialCallStatus"));
        if (state == CALL_ENDING) {
            twiml_spoke(t);
            return ERR_NONE;
        }
    }
    twiml_hung_up(t);
    return ERR_NONE;
}

/* Twilio sends a word in place of a number that is withheld. */
static struct str caller_of(const struct form *f)
{
    const struct str from = form_value(f, "From");
    return twilio_is_number(from) ? from : STR_NONE;
}

/* The visitor asks again with the same step, until there is an answer. */
static enum err let_wait(struct request *q, struct reply *p, const struct twiml_session *s)
{
    struct buf b = BUF(256);
    enum err e = twiml_session_put(&q->tx, s);
    if (e)
        return e;
    twiml_wait(s, &b);
    return reply_buf(q, p, &b);
}

/* A call that is not known begins at step 0; later it has expired. */
static enum err find_call(struct request *q, int64_t step, struct twiml_session *ret)
{
    const struct posted *r = q->body;
    enum err e = twiml_session_get(&q->tx, r->sid, ret);
    if (e != ERR_NOT_FOUND || step > 0 || is_over(r))
        return e;
    twiml_session_init(ret, r->sid, caller_of(&r->form), form_value(&r->form, "To"), q->tx.now_us);
    return ERR_NONE;
}

static enum err receive_voice(struct request *q, struct reply *p)
{
    const struct hook_query *query = q->query;
    const int64_t step = v_set(query->step) ? query->step.i : 0;
    struct posted *r = q->body;
    struct twiml_session *s = arena_new(q->tx.arena, struct twiml_session);
    forget_results(r);
    enum err e = find_call(q, step, s);
    if (!e && form_value(&r->form, "RecordingUrl").n)
        e = twiml_message_heard(&q->tx, s);
    if (e)
        return e == ERR_NOT_FOUND ? reply_short(q, p, twiml_hang_up) : e;
    if (step < s->step)
        return reply_xml(p, s->answer);
    if (step > s->step || s->ended)
        return reply_short(q, p, twiml_hang_up);
    struct twiml_turn turn = twiml_turn(&q->tx, s);
    e = take_turn(&turn, r);
    if (!e && turn.waits)
        return let_wait(q, p, s);
    if (!e)
        e = settle(q, &turn);
    return e ? e : reply_xml(p, s->answer);
}

/* ---- the resident's call ---- */

static size_t phone_of(struct request *q)
{
    const struct hook_query *query = q->query;
    return v_set(query->phone) ? (size_t)query->phone.i : 0;
}

static enum err ask_resident(struct request *q, struct reply *p, const struct twiml_session *s)
{
    struct buf b = BUF(TWIML_ANSWER_MAX);
    twiml_resident(q->tx.config, s, phone_of(q), &b);
    return reply_buf(q, p, &b);
}

/* Without a release tone there is no key to hear. */
static enum err begin_talk(struct request *q, const struct twiml_session *s)
{
    enum err e = twiml_session_put(&q->tx, s);
    return e || !s->call.tones[0] ? e : twiml_room_expect(&q->tx, s);
}

static enum err hear_resident(struct request *q, struct reply *p, struct twiml_session *s)
{
    struct posted *r = q->body;
    struct twiml_turn turn = twiml_turn(&q->tx, s);
    const enum call_state before = s->call.state;
    bool connect;
    enum err e = twiml_resident_chose(&turn, r->sid, phone_of(q), form_value(&r->form, "Digits"), &connect);
    if (!e && s->call.state == CALL_ENDING && before != CALL_ENDING)
        e = settle(q, &turn);
    else if (!e && s->call.state != before)
        e = begin_talk(q, s);
    return e ? e : reply_short(q, p, connect ? twiml_nothing : twiml_hang_up);
}

static enum err reply_next(struct request *q, struct reply *p, const struct twiml_session *s, enum twiml_room_next next)
{
    struct buf b = BUF(TWIML_ANSWER_MAX);
    if (next == ROOM_JOIN)
        twiml_resident_join(s, &b);
    else if (next == ROOM_ASK)
        twiml_resident_ask(q->tx.config, s, &b);
    else
        twiml_hang_up(&b);
    return reply_buf(q, p, &b);
}

/* A resident who talks, and whose keys are heard. */
static enum err hear_in_room(struct request *q, struct reply *p, struct twiml_session *s, int64_t answer)
{
    const struct hook_query *query = q->query;
    struct posted *r = q->body;
    struct twiml_turn turn = twiml_turn(&q->tx, s);
    const int64_t round = v_set(query->round) ? query->round.i : 0;
    enum twiml_room_next next = ROOM_HANG_UP;
    enum err e = ERR_NONE;
    if (is_over(r))
        e = twiml_room_ended(&turn, r->sid);
    else if (answer == RESIDENT_MOVED)
        next = twiml_room_moved(&turn, r->sid);
    else if (answer == RESIDENT_LEFT)
        next = twiml_room_left(&turn, r->sid, round);
    else
        e = twiml_room_pressed(&turn, r->sid, round, form_value(&r->form, "Digits"), &next);
    if (!e)
        e = turn.actions.n ? settle(q, &turn) : twiml_session_put(&q->tx, s);
    return e ? e : reply_next(q, p, s, next);
}

static enum err receive_resident(struct request *q, struct reply *p)
{
    const struct hook_query *query = q->query;
    struct posted *r = q->body;
    struct twiml_session *s = arena_new(q->tx.arena, struct twiml_session);
    forget_results(r);
    enum err e = v_set(query->call) ? twiml_session_get(&q->tx, query->call.s, s) : ERR_NOT_FOUND;
    if (e == ERR_NOT_FOUND || (!e && s->ended))
        return reply_short(q, p, twiml_hang_up);
    if (e)
        return e;
    if (!v_set(query->answer))
        return ask_resident(q, p, s);
    return query->answer.i == RESIDENT_CHOSE ? hear_resident(q, p, s) : hear_in_room(q, p, s, query->answer.i);
}

/* ---- the status of a call ---- */

static enum err end_call(struct request *q, struct twiml_session *s)
{
    const struct hook_query *query = q->query;
    struct posted *r = q->body;
    struct twiml_turn turn = twiml_turn(&q->tx, s);
    if (!v_set(query->call)) {
        twiml_hung_up(&turn);
        return settle(q, &turn);
    }
    enum err e = twiml_room_ended(&turn, r->sid);
    return e || !turn.actions.n ? e : settle(q, &turn);
}

/* Of the visitor's call, or of the resident's, which names the visitor's. */
static enum err receive_status(struct request *q, struct reply *p)
{
    const struct hook_query *query = q->query;
    struct posted *r = q->body;
    struct twiml_session *s = arena_new(q->tx.arena, struct twiml_session);
    forget_results(r);
    enum err e = twiml_session_get(&q->tx, v_set(query->call) ? query->call.s : r->sid, s);
    if (!e && !s->ended && is_over(r))
        e = end_call(q, s);
    return e && e != ERR_NOT_FOUND ? e : reply_short(q, p, twiml_nothing);
}

/* ---- the message ---- */

/* Names a recording, which is not trusted: the job asks the provider for the recordings of the call. */
static enum err receive_recording(struct request *q, struct reply *p)
{
    struct posted *r = q->body;
    struct twiml_session *s = arena_new(q->tx.arena, struct twiml_session);
    forget_results(r);
    enum err e = twiml_session_get(&q->tx, r->sid, s);
    if (!e && str_eq(form_value(&r->form, "RecordingStatus"), STR("completed")))
        e = twiml_message_heard(&q->tx, s);
    return e && e != ERR_NOT_FOUND ? e : reply_short(q, p, twiml_nothing);
}

/* ---- without the store ---- */

/* A call whose decision failed: its phones, from the store if it can be read, else from memory. */
static enum err find_phones(struct request *q, struct twiml_session *ret)
{
    const struct posted *r = q->body;
    const struct call_arrival *arrival = &ret->story.arrival;
    struct access_decision d = {0};
    struct call_actions actions;
    enum err e = ERR_SERVICE_UNAVAILABLE;
    twiml_session_init(ret, r->sid, caller_of(&r->form), form_value(&r->form, "To"), q->tx.now_us);
    if (q->tx.db)
        e = access_look(&q->tx, str_z(arrival->dialled), str_z(arrival->caller), &d);
    else if (known_find(q->parts->known, arrival->dialled, q->tx.arena, &d))
        e = ERR_NONE;
    if (e)
        return e;
    call_step(&ret->call, &(struct call_event){.kind = CALL_ARRIVED, .hears = true}, &actions);
    call_step(&ret->call, &(struct call_event){.kind = CALL_FAILED, .decision = &d}, &actions);
    return ERR_NONE;
}

/* The resident decides on the phone. After a <Dial> the call is over. */
static enum err forward_unstored(struct request *q, struct reply *p)
{
    const struct posted *r = q->body;
    struct twiml_session *s = arena_new(q->tx.arena, struct twiml_session);
    struct buf b = BUF(TWIML_ANSWER_MAX);
    if (is_over(r) || form_value(&r->form, "DialCallStatus").n)
        return reply_short(q, p, twiml_hang_up);
    enum err e = find_phones(q, s);
    if (e)
        return e;
    if (s->call.ring.count)
        twiml_forward_alone(s, &b);
    else
        twiml_hang_up(&b);
    log_error("voice decision failed building=%s call=%s id=%.*s caller=%s dialled=%s", s->call.building_id.text,
              s->call.ring.count ? "forwarded" : "ended", STR_ARG(r->sid), s->story.arrival.caller,
              s->story.arrival.dialled);
    return reply_buf(q, p, &b);
}

/* A resident who has answered, or has pressed the key to talk, is connected. */
static enum err connect_unstored(struct request *q, struct reply *p)
{
    const struct posted *r = q->body;
    const struct str digits = form_value(&r->form, "Digits");
    return reply_short(q, p, digits.n && !str_eq(digits, STR("1")) ? twiml_hang_up : twiml_nothing);
}

/* ---- routes ---- */

static void log_result(struct request *q)
{
    const struct posted *r = q->body;
    if (r->dialled) {
        call_decided(r->asked, r->asked_us, &r->closed, r->from);
        known_note(q->parts->known, r->changes, r->dialled, &r->arrived);
    }
    if (r->ended)
        twiml_log(r->ended, q->tx.now_us);
}

#define HOOK(id, text, at, function, alone)                                                                            \
    ROUTE(id, POST, at, .query = &query_shape, .body_max = BODY_MAX, .run = RUN_WRITE, .verify = verify_request,       \
          .handler = (function), .unstored = (alone), .committed = log_result, .media = "text/xml",                    \
          .flags = ROUTE_URGENT, .doc = ROUTE_DOC("Hooks", 200, text))

static const struct route rows[] = {
    HOOK("receiveTwilioCall", "Answer a call, or continue with one", TWIML_VOICE, receive_voice, forward_unstored),
    HOOK("receiveTwilioResident", "Ask a resident who has answered", TWIML_RESIDENT, receive_resident,
         connect_unstored),
    HOOK("receiveTwilioRecording", "Learn that a message was recorded", TWIML_RECORDING, receive_recording, NULL),
    HOOK("receiveTwilioStatus", "Learn that a call has ended", TWIML_STATUS, receive_status, NULL),
    ROUTE("getTwilioGreeting", GET, TWIML_GREETING "/{id}", .query = &twiml_greeting_query, .run = RUN_READ,
          .handler = twiml_greeting_get, .media = "audio/wav",
          .doc = ROUTE_DOC("Hooks", 200, "A recorded greeting, for Twilio to play")),
};
const struct route_set twiml_routes = ROUTE_SET(rows);
