#include "twiml/room.h"

#include "base/log.h"
#include "domain/job.h"
#include "domain/work.h"
#include "providers/twilio.h"
#include "twiml/document.h"
#include "twiml/twiml.h"

#define JOB_MOVE   "twilio_talk"
#define CONNECT_US (1 * US_PER_S)  /* until <Dial> has connected the two */
#define WAIT_US    (20 * US_PER_S) /* a visitor waits that long for the decision of the resident */
#define GIVE_UP_US (15 * US_PER_S) /* of moving; then the conversation may be over */
#define KEY_END    '*'

/* ---- the visitor ---- */

static enum err end_conversation(struct twiml_turn *t)
{
    if (twiml_session_left_s(t->s) <= 0) {
        story_note(&t->s->story, t->at_ms, CALL_STEP_LEG_FAILED, "minutes", NULL);
        story_ended_by(&t->s->story, CALL_ENDED_LIMIT);
    }
    return twiml_report(t, (struct call_event){.kind = CALL_FORWARD_ENDED});
}

enum err twiml_room_visitor(struct twiml_turn *t)
{
    struct twiml_session *s = t->s;
    const int64_t now_us = t->tx->now_us;
    if (s->talk == TALK_ROOM && s->joined < s->rounds) {
        s->joined = s->rounds;
        s->waits_us = 0;
        t->joins = true;
        return ERR_NONE;
    }
    s->waits_us = s->waits_us ? s->waits_us : now_us;
    t->waits = s->talk != TALK_DIRECT && clock_within(s->waits_us, WAIT_US, now_us);
    return t->waits ? ERR_NONE : end_conversation(t);
}

/* ---- the resident ---- */

static bool talks(const struct twiml_session *s, struct str leg)
{
    return s->call.state == CALL_BRIDGED && str_eq(str_z(s->leg), leg);
}

enum twiml_room_next twiml_room_moved(struct twiml_turn *t, struct str leg)
{
    struct twiml_session *s = t->s;
    if (!talks(s, leg))
        return ROOM_HANG_UP;
    if (!s->rounds) {
        s->talk = TALK_ROOM;
        s->rounds = 1;
    }
    return ROOM_JOIN;
}

enum twiml_room_next twiml_room_left(struct twiml_turn *t, struct str leg, int64_t round)
{
    struct twiml_session *s = t->s;
    if (!talks(s, leg))
        return ROOM_HANG_UP;
    if (s->rounds != round)
        return ROOM_JOIN;
    if (twiml_session_left_s(s) <= 0)
        return ROOM_HANG_UP;
    s->talk = TALK_ASKED;
    return ROOM_ASK;
}

enum err twiml_room_pressed(struct twiml_turn *t, struct str leg, int64_t round, struct str digits,
                            enum twiml_room_next *ret)
{
    struct twiml_session *s = t->s;
    const char key = digits.n == 1 ? digits.p[0] : '\0';
    enum err e = ERR_NONE;
    if (talks(s, leg) && s->talk == TALK_ASKED && s->rounds == round) {
        s->rounds++;
        s->talk = TALK_ROOM;
        if (twiml_opens(&s->call, key)) {
            s->joined = s->rounds; /* with the answer that sends the tone */
            s->waits_us = 0;
            t->joins = true;
            e = twiml_report(t, (struct call_event){.kind = CALL_FORWARD_OPEN});
        } else if (key == KEY_END) {
            e = end_conversation(t);
        }
    }
    *ret = talks(s, leg) ? ROOM_JOIN : ROOM_HANG_UP;
    return e;
}

enum err twiml_room_ended(struct twiml_turn *t, struct str leg)
{
    return talks(t->s, leg) ? end_conversation(t) : ERR_NONE;
}

/* ---- the job ---- */

enum err twiml_room_expect(struct tx *tx, const struct twiml_session *s)
{
    return job_add_once(tx, arena_printf(tx->arena, JOB_MOVE ":%.*s", STR_ARG(s->sid)), JOB_MOVE,
                        tx->now_us + CONNECT_US, s->sid);
}

struct move {
    struct str sid;
    char leg[TWIML_SID_MAX]; /* "": there is nothing to move */
};

/* From now on the visitor waits when <Dial> ends. */
static enum err begin_move(struct tx *tx, void *arg)
{
    struct move *m = arg;
    struct twiml_session *s = arena_new(tx->arena, struct twiml_session);
    m->leg[0] = '\0';
    enum err e = twiml_session_get(tx, m->sid, s);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    if (s->ended || s->call.state != CALL_BRIDGED || s->rounds)
        return ERR_NONE;
    memcpy(m->leg, s->leg, sizeof m->leg);
    s->talk = TALK_MOVING;
    return twiml_session_put(tx, s);
}

static enum err end_move(struct tx *tx, void *arg)
{
    struct move *m = arg;
    struct twiml_session *s = arena_new(tx->arena, struct twiml_session);
    enum err e = twiml_session_get(tx, m->sid, s);
    if (e || s->talk != TALK_MOVING)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    s->talk = TALK_DIRECT;
    return twiml_session_put(tx, s);
}

static enum outcome move_call(const struct work *work, const struct move *m, struct twilio *t)
{
    struct arena *a = work->arena;
    const char *origin = work->config->top_public_url;
    struct str url =
        arena_printf(a, "%s" TWIML_RESIDENT "?call=%.*s&answer=%d", origin, STR_ARG(m->sid), RESIDENT_MOVED);
    struct str status = arena_printf(a, "%s" TWIML_STATUS "?call=%.*s", origin, STR_ARG(m->sid));
    const struct rest_field fields[] = {
        {"Url", url}, {"Method", STR("POST")}, {"StatusCallback", status}, {"StatusCallbackMethod", STR("POST")}};
    const struct twilio_request request = {.method = "POST",
                                           .path = arena_printf(a, "/Calls/%s.json", m->leg),
                                           .fields = fields,
                                           .field_count = sizeof fields / sizeof *fields};
    struct twilio_answer answer = {.status = 0};
    const enum outcome o = twilio_call(t, &request, a, &answer);
    json_decref(answer.body);
    return o;
}

/* Repeated after no answer: a call that is moved twice comes to the same document. */
static enum err move_run(void *context, const struct job *job)
{
    struct move *m = arena_new(job->work->arena, struct move);
    m->sid = job->payload;
    enum err e = context && twilio_is_sid(m->sid, "CA") ? work_write(job->work, begin_move, m) : ERR_NONE;
    if (e || !m->leg[0])
        return e;
    const enum outcome o = move_call(job->work, m, context);
    if (o == OUTCOME_DONE)
        return ERR_NONE;
    if (o == OUTCOME_UNKNOWN && clock_now_us() - job->created_us < GIVE_UP_US)
        return ERR_INTERNAL_ERROR;
    log_warn("resident's keys are not heard provider_call=%.*s", STR_ARG(m->sid));
    return work_write(job->work, end_move, m);
}

struct job_kind twiml_kind_talk(struct twilio *t)
{
    return (struct job_kind){.name = JOB_MOVE, .run = move_run, .context = t};
}
