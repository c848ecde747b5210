/* Calls through Twilio's webhooks as scripts, in front of a fake domain. Include it in one file of a test. */
#pragma once
/* A script is words, one a turn:
 *
 *   a        the call arrives
 *   g1234    <Gather> ended with these keys; `g`: with nothing; `g#`: with # alone
 *   s:WORDS  it ended with speech, `_` for a space
 *   d:WORD   <Dial> ended with this DialCallStatus
 *   c0:KEY   the resident of phone 0 answered, and pressed the key, or none
 *   m        Twilio has moved the resident's call to the room
 *   l1 p1:K  the resident left the room in round 1, and then pressed K
 *   v        the visitor's <Dial> ended in the conversation
 *   e        the resident hung up
 *   h        the visitor hung up
 *   x        the visitor has spoken a message
 *
 * The result is the actions of each turn, with `?n` for n questions to the domain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "domain/feed.h"
#include "twiml/document.h"
#include "twiml/room.h"

#define SID      "CA0123456789abcdef0123456789abcdef"
#define LEG      "CAffffffffffffffffffffffffffffffff"
#define BUILDING "0123456789abcdef01234567"
#define NOW_US   (1795167000LL * US_PER_S)

/* ---- in place of domain/access.c, domain/call_record.c and domain/feed_call.c ---- */

static struct door {
    enum access_verdict arrival;
    int phones;
    bool in_order, accept, message, no_tone;
    int64_t minutes;
    enum err fails; /* of codes and forwardings */
} door;

static char fed[200];          /* the decisions, as "arrival code " */
static char recorded[200];     /* the records that began, as "forwarded:no_grant " */
static int64_t minutes_closed; /* of the keypad, by the next wrong code */

static struct access_decision decide(enum access_verdict verdict, enum access_reason reason)
{
    struct access_decision d = {.verdict = verdict,
                                .reason = reason,
                                .account_id = {BUILDING},
                                .building_id = {BUILDING},
                                .greeting_welcome = STR("W"),
                                .greeting_granted = STR("G"),
                                .greeting_denied = STR("D"),
                                .greeting_forwarding = STR("F"),
                                .greeting_message = STR("M"),
                                .voice = true,
                                .lengths = 1 << 4};
    if (!door.no_tone)
        memcpy(d.tones, "9", 2);
    d.ring = (struct ring){.strategy = door.in_order ? RING_ORDER : RING_ALL,
                           .seconds = 30,
                           .accept = door.accept,
                           .message = door.message};
    if (door.phones > 0)
        d.forward_to = STR("+15551110000");
    for (int i = 1; i < door.phones; i++)
        d.ring.numbers[d.ring.count++] = i == 1 ? STR("+15551110001") : STR("+15551110002");
    return d;
}

enum err access_arrive(struct tx *tx, struct str to, struct str from, enum access_audio audio,
                       struct access_decision *ret)
{
    (void)tx;
    assert_true(str_eq(to, STR("+15550100000")));
    assert_true(str_eq(from, STR("+15550001111")));
    assert_int_equal(audio, AUDIO_TAKEN);
    *ret = decide(door.arrival, door.arrival == ACCESS_RELEASE ? ACCESS_TIMER : ACCESS_NO_GRANT);
    return ERR_NONE;
}

enum err access_code(struct tx *tx, const struct id *building, struct str from, enum access_audio audio,
                     struct str code, enum access_way way, struct access_decision *ret)
{
    (void)tx, (void)from, (void)audio;
    assert_string_equal(building->text, BUILDING);
    const bool right = str_eq(code, STR("1234"));
    if (door.fails)
        return door.fails;
    *ret = decide(right                              ? ACCESS_RELEASE
                  : way == ACCESS_KEYS && code.n < 4 ? ACCESS_INCOMPLETE
                                                     : ACCESS_WRONG,
                  right ? ACCESS_PASSCODE : ACCESS_WRONG_CODE);
    if (!right)
        ret->closing.minutes = minutes_closed;
    return ERR_NONE;
}

enum err access_forwarded(struct tx *tx, const struct id *building, struct access_decision *ret)
{
    (void)tx;
    assert_string_equal(building->text, BUILDING);
    if (door.fails)
        return door.fails;
    *ret = decide(ACCESS_FORWARD, ACCESS_NO_GRANT);
    ret->minutes = door.minutes;
    return ERR_NONE;
}

enum err access_forwarded_late(struct tx *tx, const struct id *building, int64_t at_us, struct access_decision *ret)
{
    (void)tx, (void)building, (void)at_us, (void)ret;
    return ERR_INTERNAL_ERROR;
}

enum err access_look(struct tx *tx, struct str to, struct str from, struct access_decision *ret)
{
    (void)tx, (void)to, (void)from, (void)ret;
    return ERR_INTERNAL_ERROR;
}

static void append(char *to, size_t size, const char *text)
{
    const size_t n = strlen(to);
    (void)snprintf(to + n, size - n, "%s ", text);
}

enum err feed_decided(struct tx *tx, const struct call_arrival *call, enum feed_decision what,
                      const struct access_decision *d, enum access_reason reason)
{
    static const char *const names[] = {
        [FEED_ARRIVAL] = "arrival", [FEED_CODE] = "code", [FEED_FORWARDING] = "forwarding"};
    (void)tx, (void)d, (void)reason;
    assert_string_equal(call->caller, "+15550001111");
    append(fed, sizeof fed, names[what]);
    return ERR_NONE;
}

enum err call_record_write(struct tx *tx, const struct call_arrival *arrival, const struct call_end *end)
{
    char text[60];
    (void)tx, (void)arrival;
    (void)snprintf(text, sizeof text, "%s:%s", call_record_outcome_names[end->outcome],
                   access_reason_names[end->reason]);
    append(recorded, sizeof recorded, text);
    return ERR_NONE;
}

/* Of the story that is written; no turn does that. */
bool feed_tells(struct str steps)
{
    (void)steps;
    return false;
}

enum err feed_steps(struct tx *tx, const struct call_arrival *call, const struct id *building, struct str steps)
{
    (void)tx, (void)call, (void)building, (void)steps;
    return ERR_INTERNAL_ERROR;
}

enum err feed_ended(struct tx *tx, const struct call_arrival *call, const struct call_end *end)
{
    (void)tx, (void)call, (void)end;
    return ERR_INTERNAL_ERROR;
}

enum err call_record_get(struct tx *tx, const struct id *building, const struct id *id, struct recorded_call *ret)
{
    (void)tx, (void)building, (void)id, (void)ret;
    return ERR_INTERNAL_ERROR;
}

/* ---- a call ---- */

static const struct config config = {.twilio_language = "en-US", .twilio_voice = ""};

struct talk {
    struct arena arena;
    struct tx tx;
    struct twiml_session s;
    struct twiml_turn turn;
    enum err result;
    char said[1000]; /* the result of the script */
};

static void say_action(struct talk *t, const struct call_action *a)
{
    static const char *const prompts[] = {
#define P(symbol, word, text) word,
#include "tbl/prompts.def"
#undef P
    };
    char text[60] = "hangup";
    switch (a->kind) {
    case CALL_REJECT:
        (void)snprintf(text, sizeof text, "reject%d", a->status);
        break;
    case CALL_ANSWER:
        (void)snprintf(text, sizeof text, "answer");
        break;
    case CALL_SAY:
        (void)snprintf(text, sizeof text, "%s", prompts[a->say.prompt]);
        break;
    case CALL_COLLECT:
        (void)snprintf(text, sizeof text, "collect%lld%s", (long long)a->collect.wait_ms / 1000,
                       a->collect.speech ? "s" : "");
        break;
    case CALL_SEND_TONES:
        (void)snprintf(text, sizeof text, "tones%s", a->tones.keys);
        break;
    case CALL_FORWARD:
        (void)snprintf(text, sizeof text, a->forward->strategy == RING_ALL ? "ring" : "ring%zu", t->s.phone);
        break;
    case CALL_TAKE_MESSAGE:
        (void)snprintf(text, sizeof text, "message");
        break;
    case CALL_HANG_UP:
        break;
    default:
        fail(); /* a question is no answer */
    }
    append(t->said, sizeof t->said, text);
}

static void say(struct talk *t, const char *word)
{
    append(t->said, sizeof t->said, word);
}

static void say_turn(struct talk *t)
{
    char asked[20];
    for (size_t i = 0; i < t->turn.actions.n && !t->result; i++)
        say_action(t, &t->turn.actions.v[i]);
    if (t->turn.joins)
        say(t, "joins");
    if (t->turn.waits)
        say(t, "waits");
    (void)snprintf(asked, sizeof asked, "?%u", t->turn.asked);
    if (t->turn.asked)
        say(t, asked);
    if (t->result)
        say(t, err_info(t->result)->code);
    say(t, "|");
}

static void gather(struct talk *t, const char *name, const char *value)
{
    struct form f;
    char body[100];
    (void)snprintf(body, sizeof body, "%s=%s", name, value);
    assert_true(form_read(str_z(body), sizeof body, &t->arena, &f));
    t->result = twiml_gathered(&t->turn, &f);
}

static void resident(struct talk *t, const char *word)
{
    bool connect = false;
    t->result =
        twiml_resident_chose(&t->turn, STR(LEG), (size_t)(word[1] - '0'), str_z(strchr(word, ':') + 1), &connect);
    say(t, connect ? "connect" : "release");
}

static const char *const nexts[] = {[ROOM_HANG_UP] = "out", [ROOM_JOIN] = "in", [ROOM_ASK] = "asked"};

static void room(struct talk *t, const char *word)
{
    enum twiml_room_next next = ROOM_HANG_UP;
    const int64_t round = word[1] - '0';
    if (word[0] == 'm')
        next = twiml_room_moved(&t->turn, STR(LEG));
    else if (word[0] == 'l')
        next = twiml_room_left(&t->turn, STR(LEG), round);
    else
        t->result = twiml_room_pressed(&t->turn, STR(LEG), round, str_z(word + 3), &next);
    say(t, nexts[next]);
}

static void take(struct talk *t, char *word)
{
    for (char *p = word; *p; p++)
        *p = *p == '_' ? '+' : *p;
    t->tx.now_us += US_PER_S;
    t->turn = twiml_turn(&t->tx, &t->s);
    t->result = ERR_NONE;
    switch (word[0]) {
    case 'a':
        t->result = twiml_arrived(&t->turn);
        break;
    case 'g':
        gather(t, word[1] == '#' ? "FinishedOnKey" : "Digits", word[1] == '#' ? "%23" : word + 1);
        break;
    case 's':
        gather(t, "SpeechResult", word + 2);
        break;
    case 'd':
        t->result = twiml_dialled(&t->turn, str_z(word + 2));
        break;
    case 'c':
        resident(t, word);
        break;
    case 'v':
        t->result = twiml_room_visitor(&t->turn);
        break;
    case 'e':
        t->result = twiml_room_ended(&t->turn, STR(LEG));
        break;
    case 'h':
        twiml_hung_up(&t->turn);
        break;
    case 'x':
        twiml_spoke(&t->turn);
        break;
    default:
        room(t, word);
    }
    twiml_perform(&t->turn);
    say_turn(t);
}

static void run(struct talk *t, struct door d, const char *script)
{
    char words[200];
    door = d;
    fed[0] = recorded[0] = '\0';
    *t = (struct talk){.tx = {.config = &config, .now_us = NOW_US, .arena = &t->arena}};
    arena_init(&t->arena, NULL, 0);
    twiml_session_init(&t->s, STR(SID), STR("+15550001111"), STR("+15550100000"), NOW_US);
    (void)snprintf(words, sizeof words, "%s", script);
    char *rest = words;
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        take(t, word);
}

struct row {
    struct door door;
    const char *script, *want;
};

static void expect_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct talk t;
        run(&t, rows[i].door, rows[i].script);
        if (strcmp(t.said, rows[i].want) != 0)
            print_error("%s\n  %s\n", rows[i].script, t.said);
        assert_string_equal(t.said, rows[i].want);
        arena_done(&t.arena);
    }
}
#define ROWS(rows) expect_rows(rows, sizeof(rows) / sizeof *(rows))
