/* The hunt group, event by event: each row has a script of events and the actions they lead to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "call/hunt.h"

/* ---- a script language: words, each one an event; L is a leg ----
 *
 *   b      begin                        kLX    key X
 *   rL     ringing                      pL     the prompt was played
 *   eL     early media                  hL     hung up
 *   aL     answered                     o      the door was opened
 *   fLSSS  failed with status SSS       +MS    MS milliseconds later
 *   l      a browser listens            d      none does any more
 *   t      a browser takes the call     w      a resident opens without a phone
 *   x      the browser that talks left
 *
 * A plan is `all` or `order`, the number of phones, `!` with accept, and the release tone after a colon. Without a
 * phone there are browsers. */

struct play {
    struct call_ring ring;
    struct hunt hunt;
    int64_t now_ms;
};

static void set_plan(struct play *p, const char *plan)
{
    char tones[4] = "";
    const char *tone = strchr(plan, ':');
    if (tone)
        memcpy(tones, tone + 1, strlen(tone + 1) + 1);
    *p = (struct play){.now_ms = 1000};
    p->ring = (struct call_ring){.seconds = 30,
                                 .strategy = *plan == 'a' ? RING_ALL : RING_ORDER,
                                 .count = (size_t)atoi(plan + strcspn(plan, "012345")),
                                 .browsers = strchr(plan, '0') != NULL,
                                 .accept = strchr(plan, '!') != NULL};
    hunt_init(&p->hunt, &p->ring, tones);
}

static void write_action(const struct hunt_action *a, FILE *out)
{
    static const char *const names[] = {
        [HUNT_DIAL] = "dial",   [HUNT_RING] = "ring",       [HUNT_LISTEN] = "listen", [HUNT_PROMPT] = "prompt",
        [HUNT_QUIET] = "quiet", [HUNT_CONNECT] = "connect", [HUNT_DROP] = "drop",     [HUNT_OPEN] = "open",
        [HUNT_FAIL] = "fail-",  [HUNT_END] = "end"};
    static const char *const failures[] = {"no-answer", "busy", "declined", "unreachable"};
    fputs(names[a->kind], out);
    if (a->kind == HUNT_FAIL)
        fputs(failures[a->failure], out);
    else if ((a->kind != HUNT_RING || a->leg == HUNT_BROWSER) && a->kind != HUNT_END)
        fprintf(out, "%zu", a->leg);
    fputc(' ', out);
}

static struct hunt_event event_of(const char *word)
{
    static const char letters[] = "breafkpho+ldtwx";
    static const enum hunt_event_kind kinds[] = {
        HUNT_BEGIN,  HUNT_RINGING, HUNT_EARLY,    HUNT_ANSWERED, HUNT_FAILED, HUNT_KEY,     HUNT_PROMPTED, HUNT_HUNG_UP,
        HUNT_OPENED, HUNT_TIME,    HUNT_ATTENDED, HUNT_DESERTED, HUNT_TAKEN,  HUNT_PRESSED, HUNT_HUNG_UP};
    struct hunt_event e = {.kind = kinds[strchr(letters, *word) - letters], .leg = HUNT_BROWSER};
    if (strchr("reafkph", *word))
        e.leg = (size_t)(word[1] - '0');
    if (*word == 'f')
        e.status = atoi(word + 2);
    if (*word == 'k')
        e.key = word[2];
    return e;
}

/* The actions of a whole script; `.` ends the actions of one event. The caller frees it. */
static char *play(struct play *p, const char *plan, const char *script)
{
    char *text = NULL, copy[200], *rest = copy;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    set_plan(p, plan);
    (void)snprintf(copy, sizeof copy, "%s", script);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        struct hunt_actions actions;
        const struct hunt_event e = event_of(word);
        p->now_ms += *word == '+' ? atoi(word + 1) : 10;
        hunt_step(&p->hunt, p->now_ms, &e, &actions);
        for (size_t i = 0; i < actions.n; i++)
            write_action(&actions.v[i], out);
        fputc('.', out);
    }
    fclose(out);
    return text;
}

static const struct {
    const char *what, *plan, *script, *actions;
} table[] = {
    {"one phone answers and hangs up", "all1", "b r0 a0 h0", "dial0 .ring .connect0 .end ."},
    {"one phone is busy", "all1", "b f0486", "dial0 .fail-busy ."},
    {"busy everywhere is busy", "all1", "b f0600", "dial0 .fail-busy ."},
    {"one phone declines", "all1", "b r0 f0603", "dial0 .ring .fail-declined ."},
    {"one phone rings for its time", "all1", "b r0 +29900 +100", "dial0 .ring ..drop0 fail-no-answer ."},
    {"a phone that is not available did not answer", "all1", "b f0480", "dial0 .fail-no-answer ."},
    {"a time-out of the network is no answer", "all1", "b f0408", "dial0 .fail-no-answer ."},
    {"an unknown number is unreachable", "all1", "b f0404", "dial0 .fail-unreachable ."},
    {"no response is unreachable", "all1", "b f0000", "dial0 .fail-unreachable ."},

    {"all phones ring at once; the others stop when one answers", "all3", "b r0 r1 a1",
     "dial0 dial1 dial2 .ring ..drop0 drop2 connect1 ."},
    {"the first of two answers wins", "all2", "b a1 a0", "dial0 dial1 .drop0 connect1 .."},
    {"the call fails with its last phone", "all2", "b f1486 f0404", "dial0 dial1 ..fail-busy ."},
    {"declining says more than not answering", "all3", "b f1603 f0408 f2486", "dial0 dial1 dial2 ...fail-declined ."},
    {"all phones stop ringing at once", "all2", "b r0 +30000", "dial0 dial1 .ring .drop0 drop1 fail-no-answer ."},

    {"the next phone rings when one fails", "order3", "b f0486 r1 f1404 a2 h2",
     "dial0 .dial1 .ring .dial2 .connect2 .end ."},
    {"each phone in turn has its time", "order2", "b +30000 +29990 +20", "dial0 .drop0 dial1 ..drop1 fail-no-answer ."},

    {"the visitor hears the early media of a single phone", "all1", "b e0 r0 a0", "dial0 .listen0 ..connect0 ."},
    {"early media after ringing", "all1", "b r0 e0", "dial0 .ring .listen0 ."},
    {"the next phone rings after early media", "order2", "b e0 f0486 r1", "dial0 .listen0 .dial1 .ring ."},
    {"several phones ring for the visitor once", "all2", "b e0 r1 e1", "dial0 dial1 .ring ..."},

    {"1 accepts", "all1!:5", "b r0 a0 k01 h0", "dial0 .ring .prompt0 .quiet0 connect0 .end ."},
    {"the question is repeated", "all1!:5", "b a0 p0 p0", "dial0 .prompt0 .prompt0 .prompt0 ."},
    {"a mailbox that answers takes no call", "all2!:5", "b a0 r1 a1 k11",
     "dial0 dial1 .prompt0 .ring .prompt1 .quiet1 drop0 connect1 ."},
    {"an answer that nobody accepts is no answer", "all1!:5", "b a0 +20000", "dial0 .prompt0 .drop0 fail-no-answer ."},
    {"after an answer that nobody accepts, the next phone rings", "order2!:5", "b a0 +20000 a1 k11",
     "dial0 .prompt0 .drop0 dial1 .prompt1 .quiet1 connect1 ."},
    {"* declines, and another phone rings on", "all2!:5", "b a0 k0* a1 k1*",
     "dial0 dial1 .prompt0 .drop0 .prompt1 .drop1 fail-declined ."},
    {"hanging up without accepting declines", "all1!:5", "b a0 h0", "dial0 .prompt0 .fail-declined ."},
    {"other keys do not accept", "all1!:5", "b a0 k02 k00 k0#", "dial0 .prompt0 ...."},
    {"9 opens without accepting", "all2!:5", "b a0 k09 k09 o", "dial0 dial1 .prompt0 .drop1 quiet0 open0 ..."},
    {"the release tone opens without accepting", "all1!:5", "b a0 k05", "dial0 .prompt0 .quiet0 open0 ."},
    {"a release tone of 1 accepts, then opens", "all1!:1", "b a0 k01 k01", "dial0 .prompt0 .quiet0 connect0 .open0 ."},
    {"a release tone may end with 1", "all1!:21", "b a0 k02 k01", "dial0 .prompt0 ..quiet0 open0 ."},
    {"keys before the answer do not count", "all1!:5", "b k01 k09 a0", "dial0 ...prompt0 ."},

    {"9 opens, once while the door opens", "all1:5", "b a0 k09 k09 o k09", "dial0 .connect0 .open0 ...open0 ."},
    {"the release tone opens", "all1:5#0", "b a0 k05 k0# k00", "dial0 .connect0 ...open0 ."},
    {"the release tone opens after other keys", "all1:550", "b a0 k05 k05 k05 k00", "dial0 .connect0 ....open0 ."},
    {"a slow release tone does not open", "all1:50", "b a0 k05 +2000 k00", "dial0 .connect0 ...."},
    {"* hangs up", "all1:5", "b a0 k0*", "dial0 .connect0 .drop0 end ."},
    {"* that is part of the release tone does not hang up", "all1:*5", "b a0 k0* k05", "dial0 .connect0 ..open0 ."},
    {"a browser takes the call, and the phones stop", "all2!:5", "b r0 a1 t x",
     "dial0 dial1 .ring .prompt1 .drop0 drop1 connect10 .end ."},
    {"a browser comes too late for a call that a phone has", "all1:5", "b a0 t x h0", "dial0 .connect0 ...end ."},
    {"a phone comes too late for a call that a browser has", "all1:5", "b t a0", "dial0 .drop0 connect10 .."},
    {"a second browser does not take the call again", "all1:5", "b t t", "dial0 .drop0 connect10 .."},
    {"a resident opens without a phone while phones ring", "all2:5", "b r0 w w o",
     "dial0 dial1 .ring .drop0 drop1 open10 ..."},
    {"a resident opens without a phone while a phone talks", "all1:5", "b a0 w w o w",
     "dial0 .connect0 .open10 ...open10 ."},
    {"a resident opens while a browser talks", "all1:5", "b t w o x", "dial0 .drop0 connect10 .open10 ..end ."},
    {"no resident opens while a phone opens", "all1:5", "b a0 k09 w o w", "dial0 .connect0 .open0 ...open10 ."},
    {"a call whose phone is busy waits for the browser that listens", "all1:5", "b l f0486 t",
     "dial0 ..ring10 .connect10 ."},
    {"a call waits for the browser that listens no longer than a phone rings", "all1:5", "b l f0486 +29000 +1000",
     "dial0 ..ring10 ..fail-busy ."},
    {"a call waits for no browser after the last one left", "all1:5", "b l f0486 d", "dial0 ..ring10 .fail-busy ."},
    {"phones ring on when the last browser left", "all1:5", "b l d r0 a0", "dial0 ...ring .connect0 ."},
    {"the next phone rings while a browser listens", "order2:5", "b l f0486 f1404 d",
     "dial0 ..dial1 .ring10 .fail-busy ."},
    {"without a phone a call waits for browsers", "all0:5", "b l d +29000 +1000", "ring10 ....fail-no-answer ."},
    {"without a phone a browser takes the call", "order0:5", "b t x", "ring10 .connect10 .end ."},
    {"without a phone a resident opens", "all0:5", "b w", "ring10 .open10 ."},
    {"without a release tone nobody opens", "all1", "b w t w", "dial0 ..drop0 connect10 .."},
    {"without a release tone 9 does nothing", "all1!", "b a0 k09 k01 k09", "dial0 .prompt0 ..quiet0 connect0 .."},
};

static void test_every_script_of_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct play p;
        char *actions = play(&p, table[i].plan, table[i].script);
        if (strcmp(actions, table[i].actions) != 0)
            fail_msg("%s\n  script   %s %s\n  expected %s\n  got      %s", table[i].what, table[i].plan,
                     table[i].script, table[i].actions, actions);
        free(actions);
    }
}

static void test_the_winner_is_the_phone_that_talks_or_opens(void **state)
{
    (void)state;
    struct play p;
    size_t winner = 9;
    free(play(&p, "all3!:5", "b r0 a2"));
    assert_false(hunt_winner(&p.hunt, &winner));
    free(play(&p, "all3!:5", "b r0 a2 k21"));
    assert_true(hunt_winner(&p.hunt, &winner));
    assert_int_equal(winner, 2);
    free(play(&p, "all3!:5", "b r0 a1 k19"));
    assert_true(hunt_winner(&p.hunt, &winner));
    assert_int_equal(winner, 1);
}

/* ---- any order of events ---- */

struct tally {
    bool dialled[HUNT_LEGS], dropped[HUNT_LEGS];
    int connected, ended;
};

static void count_action(struct tally *t, const struct hunt_action *a)
{
    assert_int_equal(t->ended, 0);
    if (a->kind == HUNT_DIAL)
        assert_false(t->dialled[a->leg]);
    else if (a->leg == HUNT_BROWSER)
        assert_true(a->kind != HUNT_DROP);
    else if (a->kind != HUNT_RING && a->kind != HUNT_FAIL && a->kind != HUNT_END)
        assert_true(t->dialled[a->leg] && !t->dropped[a->leg]);
    t->dialled[a->leg] |= a->kind == HUNT_DIAL;
    t->dropped[a->leg] |= a->kind == HUNT_DROP;
    t->connected += a->kind == HUNT_CONNECT;
    t->ended += a->kind == HUNT_FAIL || a->kind == HUNT_END;
    assert_true(t->connected <= 1);
}

/* A phone is called once and nothing is done with it afterwards, one phone talks, and nothing follows the end. */
static void test_random_sequences_break_no_rule(void **state)
{
    (void)state;
    static const char *const plans[] = {"all1:9", "all5!:5",   "order5:12", "order3!:*",
                                        "all2",   "order1!:1", "all0:5",    "all2!:5"};
    static const char *const words[] = {"b",     "r0",  "r1",    "e0",    "e2",  "a0",    "a1",    "a3",  "f0486",
                                        "f1603", "f20", "f3408", "f4480", "k01", "k11",   "k09",   "k0*", "k3*",
                                        "p0",    "p1",  "h0",    "h1",    "h3",  "+1000", "+9000", "o",   "k02",
                                        "k1#",   "a9",  "l",     "d",     "t",   "w",     "x"};
    unsigned seed = 1;
    for (int round = 0; round < 20000; round++) {
        struct play p;
        struct tally t = {0};
        set_plan(&p, plans[round % 8]);
        for (int i = 0; i < 40; i++) {
            const char *word = i ? words[(unsigned)rand_r(&seed) % (sizeof words / sizeof *words)] : "b";
            struct hunt_actions out;
            const struct hunt_event e = event_of(word);
            p.now_ms += *word == '+' ? atoi(word + 1) : 10;
            hunt_step(&p.hunt, p.now_ms, &e, &out);
            for (size_t k = 0; k < out.n; k++)
                count_action(&t, &out.v[k]);
            assert_int_equal(t.ended, p.hunt.state == HUNT_OVER);
        }
    }
}

/* Whatever the phones do, a search ends: each phone rings for its time, and accepts within another. */
static void test_every_search_ends(void **state)
{
    (void)state;
    static const char *const plans[] = {"all5!:5", "order5!:5", "order5", "all1", "all0"};
    for (size_t i = 0; i < 5; i++) {
        struct play p;
        struct hunt_actions out;
        set_plan(&p, plans[i]);
        hunt_step(&p.hunt, p.now_ms, &(struct hunt_event){.kind = HUNT_BEGIN}, &out);
        for (int k = 0; k < 20 && p.hunt.state == HUNT_SEARCHING; k++) {
            assert_true(p.hunt.due_ms > p.now_ms && p.hunt.due_ms <= p.now_ms + 30000);
            p.now_ms = p.hunt.due_ms;
            hunt_step(&p.hunt, p.now_ms, &(struct hunt_event){.kind = HUNT_TIME}, &out);
        }
        assert_int_equal(p.hunt.state, HUNT_OVER);
        assert_int_equal(p.hunt.due_ms, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_script_of_the_table),
        cmocka_unit_test(test_the_winner_is_the_phone_that_talks_or_opens),
        cmocka_unit_test(test_random_sequences_break_no_rule),
        cmocka_unit_test(test_every_search_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
