/* A call between two webhooks: its numbers, its times, and its row. */
#include "domain/tx_fixture.h"

#include "twiml/session.h"

#define SID "CA0123456789abcdef0123456789abcdef"

static void test_a_number_that_does_not_fit_counts_as_none(struct tx *tx)
{
    (void)tx;
    static const struct {
        const char *from, *to, *caller, *dialled;
    } rows[] = {
        {"+15550001111", "+15550100000", "+15550001111", "+15550100000"},
        {"", "+15550100000", "", "+15550100000"},
        {"+1234567890123456789", "+15550100000", "", "+15550100000"}, /* with its end, one byte too long */
        {"+12345678901234567", "+15550100000", "+12345678901234567", "+15550100000"},
        {"anonymous", "+12", "anonymous", "12"}, /* an extension, recorded without its + */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct twiml_session s;
        twiml_session_init(&s, STR(SID), str_z(rows[i].from), str_z(rows[i].to), TX_NOW);
        assert_string_equal(s.story.arrival.caller, rows[i].caller);
        assert_string_equal(s.story.arrival.dialled, rows[i].dialled);
        assert_int_equal(s.call.state, CALL_NEW);
        assert_int_equal(s.step, 0);
    }
}

static void test_time_counts_from_the_start_and_is_never_negative(struct tx *tx)
{
    (void)tx;
    static const struct {
        int64_t now_us, want_ms;
    } rows[] = {{TX_NOW, 0}, {TX_NOW + 1999, 1}, {TX_NOW + 90 * US_PER_S, 90000}, {TX_NOW - US_PER_S, 0}};
    struct twiml_session s;
    twiml_session_init(&s, STR(SID), STR(""), STR(""), TX_NOW);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(twiml_session_ms(&s, rows[i].now_us), rows[i].want_ms);
}

static void test_a_conversation_takes_each_minute_that_it_begins(struct tx *tx)
{
    (void)tx;
    static const struct {
        int64_t limit, before, talk_ms, at_ms; /* minutes, minutes, and times of the call */
        int64_t left_s, minutes;
    } rows[] = {
        {0, 0, 0, 5000, TWIML_TALK_MAX_S, 0},           /* nobody talks */
        {0, 1, 0, 5000, TWIML_TALK_MAX_S, 1},           /* a phone was answered in vain */
        {0, 0, 1000, 1000, TWIML_TALK_MAX_S, 1},        /* begins now */
        {0, 0, 1000, 60999, TWIML_TALK_MAX_S, 1},       /* ends within its first minute */
        {0, 0, 1000, 61000, TWIML_TALK_MAX_S, 2},       /* and in its second */
        {3, 0, 0, 5000, 180, 0},                        /* of a limit */
        {3, 1, 1000, 31000, 90, 2},                     /* both count */
        {1, 0, 1000, 301000, -240, 1},                  /* the end came late: no more than the limit */
        {200, 0, 1000, 1000, TWIML_TALK_MAX_S, 1},      /* Twilio ends it before that */
        {120, 0, 1000, 61000, TWIML_TALK_MAX_S - 60, 2} /* or not */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct twiml_session s = {.talk_ms = rows[i].talk_ms, .at_ms = rows[i].at_ms};
        s.call.ring.minutes = rows[i].limit;
        s.story.end.minutes = rows[i].before;
        assert_int_equal(twiml_session_left_s(&s), rows[i].left_s);
        twiml_session_count(&s);
        assert_int_equal(s.story.end.minutes, rows[i].minutes);
        twiml_session_count(&s); /* a repetition counts nothing */
        assert_int_equal(s.story.end.minutes, rows[i].minutes);
    }
}

/* ---- the row ---- */

static struct twiml_session in_a_conversation(void)
{
    struct twiml_session s;
    struct call_actions unused;
    twiml_session_init(&s, STR(SID), STR("+15550001111"), STR("+15550100000"), TX_NOW);
    call_step(&s.call, &(struct call_event){.kind = CALL_ARRIVED}, &unused);
    s.step = 3;
    s.answer = STR("<Response/>");
    s.phone = 2;
    memcpy(s.leg, "CAffff", 7);
    s.message = MESSAGE_ASKED;
    s.talk = TALK_ASKED;
    s.rounds = 4;
    s.joined = 5;
    s.waits_us = TX_NOW + 6;
    s.talk_ms = 7;
    story_note(&s.story, 100, CALL_STEP_RINGING, NULL, "+15551110001");
    return s;
}

static void test_a_call_is_stored_as_it_is(struct tx *tx)
{
    const struct twiml_session s = in_a_conversation();
    struct twiml_session got;
    assert_error(twiml_session_get(tx, STR(SID), &got), ERR_NOT_FOUND);
    assert_none(twiml_session_put(tx, &s));
    assert_none(twiml_session_get(tx, STR(SID), &got));
    assert_str(got.sid, SID);
    assert_str(got.answer, "<Response/>");
    assert_int_equal(got.step, 3);
    assert_false(got.ended);
    assert_int_equal(got.phone, 2);
    assert_string_equal(got.leg, "CAffff");
    assert_int_equal(got.message, MESSAGE_ASKED);
    assert_int_equal(got.talk, TALK_ASKED);
    assert_int_equal(got.rounds, 4);
    assert_int_equal(got.joined, 5);
    assert_int_equal(got.waits_us, TX_NOW + 6);
    assert_int_equal(got.talk_ms, 7);
    assert_int_equal(got.call.state, CALL_ARRIVING);
    assert_id(got.story.arrival.id, s.story.arrival.id);
    assert_int_equal(got.story.n, s.story.n);
    assert_memory_equal(got.story.steps, s.story.steps, s.story.n);
}

static void test_a_later_answer_takes_the_place_of_the_earlier_one(struct tx *tx)
{
    struct twiml_session s = in_a_conversation(), got;
    assert_none(twiml_session_put(tx, &s));
    s.step = 4;
    s.ended = true;
    s.answer = STR("<Response><Hangup/></Response>");
    assert_none(twiml_session_put(tx, &s));
    assert_none(twiml_session_get(tx, STR(SID), &got));
    assert_int_equal(got.step, 4);
    assert_true(got.ended);
    assert_str(got.answer, "<Response><Hangup/></Response>");
}

static void test_the_digits_of_a_code_are_stored_sealed(struct tx *tx)
{
    struct twiml_session s = in_a_conversation(), got;
    CURSOR c;
    memcpy(s.call.code, "482", 4);
    assert_none(twiml_session_put(tx, &s));
    assert_none(db_one(tx->db, SQL(twilio_call_get, .sid = STR(SID)), &c));
    const struct row_twilio_call_get row = row_twilio_call_get(&c, tx->arena);
    db_end(&c);
    assert_null(strstr(row.state.p, "482"));
    assert_true(row.code.n > 3 && !memmem(row.code.p, row.code.n, "482", 3));
    assert_none(twiml_session_get(tx, STR(SID), &got));
    assert_string_equal(got.call.code, "482");
}

static void test_a_state_that_cannot_be_read_fails(struct tx *tx)
{
    static const char *const states[] = {
        "",
        "[]",
        "{}",
        "{\"phone\":0}",
        "{\"phone\":-1,\"message\":0,\"talk\":0}",
        "{\"phone\":99,\"message\":0,\"talk\":0}",
    };
    const struct twiml_session s = in_a_conversation();
    struct twiml_session got;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        assert_none(twiml_session_put(tx, &s));
        tx_sql(tx, arena_printf(tx->arena, "UPDATE twilio_call SET state = '%s'", states[i]).p);
        assert_error(twiml_session_get(tx, STR(SID), &got), ERR_INTERNAL_ERROR);
    }
}

#define TESTS(x)                                                                                                       \
    x(test_a_number_that_does_not_fit_counts_as_none) x(test_time_counts_from_the_start_and_is_never_negative)         \
        x(test_a_conversation_takes_each_minute_that_it_begins) x(test_a_call_is_stored_as_it_is)                      \
            x(test_a_later_answer_takes_the_place_of_the_earlier_one) x(test_the_digits_of_a_code_are_stored_sealed)   \
                x(test_a_state_that_cannot_be_read_fails)
TX_RUN(TESTS)
