#include "twiml/session.h"

#include <stdlib.h>

#include "base/crypto.h"
#include "call/save.h"
#include "domain/master.h"

#define PURPOSE "call code"

static void keep_text(char *to, size_t size, struct str s)
{
    const size_t n = s.n < size ? s.n : 0;
    if (n)
        memcpy(to, s.p, n);
    to[n] = '\0';
}

void twiml_session_init(struct twiml_session *s, struct str sid, struct str from, struct str to, int64_t now_us)
{
    char caller[CALL_NUMBER_MAX], dialled[CALL_NUMBER_MAX];
    *s = (struct twiml_session){.sid = sid, .answer = STR("")};
    keep_text(caller, sizeof caller, from);
    keep_text(dialled, sizeof dialled, to);
    story_begin(&s->story, CALL_FRONT_WEBHOOK, "twilio", dialled, caller);
    s->story.arrival.started_us = now_us;
    call_init(&s->call);
}

int64_t twiml_session_ms(const struct twiml_session *s, int64_t now_us)
{
    const int64_t passed_us = now_us - s->story.arrival.started_us;
    return passed_us > 0 ? passed_us / 1000 : 0; /* nodes may have different clocks */
}

int64_t twiml_session_left_s(const struct twiml_session *s)
{
    const int64_t minutes = s->call.ring.minutes;
    const int64_t talked_ms = s->talk_ms ? s->at_ms - s->talk_ms : 0;
    const int64_t left_s = (minutes - s->story.end.minutes) * 60 - talked_ms / 1000;
    return minutes && left_s < TWIML_TALK_MAX_S ? left_s : TWIML_TALK_MAX_S;
}

void twiml_session_count(struct twiml_session *s)
{
    const int64_t most = s->call.ring.minutes;
    int64_t *minutes = &s->story.end.minutes;
    if (s->talk_ms)
        *minutes += (s->at_ms - s->talk_ms) / 60000 + 1;
    s->talk_ms = 0;
    *minutes = most && *minutes > most ? most : *minutes; /* the end may have come late */
}

/* ---- the state ---- */

static struct str state_text(const struct twiml_session *s, struct arena *a)
{
    json_t *state =
        json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "phone", (json_int_t)s->phone, "leg", s->leg,
                  "message", (json_int_t)s->message, "talk", (json_int_t)s->talk, "rounds", (json_int_t)s->rounds,
                  "joined", (json_int_t)s->joined, "waits_us", (json_int_t)s->waits_us, "talk_ms",
                  (json_int_t)s->talk_ms, "call", call_save(&s->call), "story", call_save_story(&s->story));
    char *text = state ? json_dumps(state, JSON_COMPACT) : NULL;
    struct str copy = arena_str(a, str_z(text));
    free(text);
    json_decref(state);
    return copy;
}

static bool state_read(struct str text, struct twiml_session *s)
{
    json_t *state;
    if (json_read(text, &state))
        return false;
    const json_int_t phone = json_integer_value(json_object_get(state, "phone"));
    const json_int_t message = json_integer_value(json_object_get(state, "message"));
    keep_text(s->leg, sizeof s->leg, str_z(json_string_value(json_object_get(state, "leg"))));
    const json_int_t talk = json_integer_value(json_object_get(state, "talk"));
    const bool fine = phone >= 0 && phone < CALL_PHONES_MAX && message >= 0 && message < MESSAGE_STATE_COUNT &&
                      talk >= 0 && talk < TALK_STATE_COUNT && call_load(json_object_get(state, "call"), &s->call) &&
                      call_load_story(json_object_get(state, "story"), &s->story);
    s->phone = fine ? (size_t)phone : 0;
    s->message = fine ? (enum twiml_message)message : MESSAGE_NONE;
    s->talk = fine ? (enum twiml_talk)talk : TALK_DIRECT;
    s->rounds = json_integer_value(json_object_get(state, "rounds"));
    s->joined = json_integer_value(json_object_get(state, "joined"));
    s->waits_us = json_integer_value(json_object_get(state, "waits_us"));
    s->talk_ms = json_integer_value(json_object_get(state, "talk_ms"));
    json_decref(state);
    return fine;
}

/* ---- the code ---- */

/* The digits before a pause or a `*` belong to the next request too. */
static enum err seal_code(struct tx *tx, const struct call *c, struct str *ret)
{
    *ret = STR_NONE;
    if (!c->code[0])
        return ERR_NONE;
    return master_seal(tx, PURPOSE, str_z(c->code), ret);
}

static void open_code(struct str sealed, struct arena *a, struct call *c)
{
    struct str code;
    if (!sealed.n || !crypto_open(PURPOSE, sealed, a, &code))
        return;
    keep_text(c->code, sizeof c->code, code);
    crypto_wipe((char *)code.p, code.n);
}

/* ---- the row ---- */

enum err twiml_session_get(struct tx *tx, struct str sid, struct twiml_session *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(twilio_call_get, .sid = sid), &c);
    if (e)
        return e;
    const struct row_twilio_call_get row = row_twilio_call_get(&c, tx->arena);
    *ret = (struct twiml_session){.sid = sid, .step = row.step, .ended = row.ended, .answer = row.answer};
    if (!state_read(row.state, ret))
        return ERR_INTERNAL_ERROR;
    open_code(row.code, tx->arena, &ret->call);
    return ERR_NONE;
}

enum err twiml_session_put(struct tx *tx, const struct twiml_session *s)
{
    struct str code;
    const struct str state = state_text(s, tx->arena);
    if (!state.p)
        return ERR_INTERNAL_ERROR;
    enum err e = seal_code(tx, &s->call, &code);
    if (e)
        return e;
    return db_exec(tx->db,
                   SQL(twilio_call_put, .sid = s->sid, .step = s->step, .updated_at = tx->now_us, .ended = s->ended,
                       .state = state, .code = code, .answer = s->answer),
                   NULL);
}
