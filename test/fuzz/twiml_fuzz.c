/* A stored call or a list of recordings, and the fields of a webhook, any bytes: a call that is read can be saved and
 * read again, its events lead to a state that can be saved, and every answer is one element with nothing but escaped
 * text in it. */
#include <stdlib.h>

#include "base/crypto.h"
#include "call/save.h"
#include "twiml/document.h"
#include "twiml/message.h"
#include "twiml/room.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct config config = {
    .top_public_url = "https://door.example", .twilio_language = "en-US", .twilio_voice = ""};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_saved(const struct call *c)
{
    struct call again;
    json_t *saved = call_save(c);
    must(saved && call_load(saved, &again));
    json_t *twice = call_save(&again);
    must(json_equal(saved, twice));
    json_decref(twice);
    json_decref(saved);
}

static void check_document(struct buf *b)
{
    int depth = 0;
    must(!b->full && b->n > 0);
    for (size_t i = 0; i < b->n; i++) {
        const unsigned char c = (unsigned char)b->p[i];
        depth += (c == '<') - (c == '>');
        must(c >= ' ' && c != 0x7f && (depth == 0 || depth == 1));
    }
    must(depth == 0);
    buf_done(b);
}

static void check_visitor(const struct twiml_turn *t)
{
    struct buf b = BUF(TWIML_ANSWER_MAX);
    twiml_visitor(&config, t->s, &t->actions, t->joins, &b);
    check_document(&b);
}

/* The keys of a resident who talks, and the visitor's requests meanwhile. */
static void check_room(struct tx *tx, struct twiml_session *s, const struct form *f)
{
    const struct str leg = str_z(s->leg), digits = form_value(f, "Digits");
    struct twiml_turn turn = twiml_turn(tx, s);
    enum twiml_room_next next;
    (void)twiml_room_moved(&turn, leg);
    for (int64_t round = 1; round < 3; round++) {
        must(!twiml_room_visitor(&turn));
        (void)twiml_room_left(&turn, leg, round);
        turn = twiml_turn(tx, s);
        must(!twiml_room_visitor(&turn));
        must(!twiml_room_pressed(&turn, leg, round, digits, &next));
        check_saved(&s->call);
        check_visitor(&turn);
    }
    must(!twiml_room_ended(&turn, leg));
    must(s->call.state != CALL_BRIDGED);
}

/* Events of calls that are forwarded need no store. */
static void check_events(const struct twiml_session *before, const struct form *f)
{
    struct tx tx = {.now_us = before->story.arrival.started_us + US_PER_S};
    struct twiml_session s = *before;
    struct twiml_turn turn = twiml_turn(&tx, &s);
    bool connect;
    must(!twiml_resident_chose(&turn, STR("CA1"), 0, form_value(f, "Digits"), &connect));
    twiml_perform(&turn);
    check_saved(&s.call);
    check_visitor(&turn);
    struct twiml_session talking = s;
    if (s.call.state == CALL_BRIDGED)
        check_room(&tx, &talking, f);
    turn = twiml_turn(&tx, &s);
    must(!twiml_dialled(&turn, form_value(f, "DialCallStatus")));
    check_saved(&s.call);
    check_visitor(&turn);
}

static void check_call(const struct call *c, const struct form *f)
{
    struct twiml_session s;
    struct buf b = BUF(TWIML_ANSWER_MAX);
    twiml_session_init(&s, STR("CA0123456789abcdef0123456789abcdef"), form_value(f, "From"), form_value(f, "To"), 0);
    s.call = *c;
    check_saved(c);
    twiml_resident(&config, &s, 0, &b);
    check_document(&b);
    if (c->state == CALL_RINGING || c->state == CALL_BRIDGED)
        check_events(&s, f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct call c;
    struct story story;
    struct twiml_recordings recordings;
    struct form f = {0};
    json_t *state;
    struct str body, text = str_cut(str_n((const char *)data, size), '\n', &body);
    arena_init(&a, NULL, 0);
    crypto_set_master((const unsigned char[SHA256_LEN]){1}, NULL);
    if (!json_read(text, &state)) {
        if ((!body.p || form_read(body, 100, &a, &f)) && call_load(state, &c))
            check_call(&c, &f);
        must(!twiml_recordings_read(state, STR("CA0123456789abcdef0123456789abcdef"), &recordings) ||
             recordings.count <= TWIML_RECORDINGS_MAX);
        must(!call_load_story(state, &story) || story.n <= sizeof story.steps);
        json_decref(state);
    }
    arena_done(&a);
    return 0;
}
