/* The events that Twilio reports, as events of the call machine (call/call.h).
 *
 * One request is one turn, inside one write transaction: the decision, the records that belong to it and the new state
 * of the call are committed together, before Twilio gets the answer. Twilio has the whole code before it asks, so a
 * turn passes several keys to the machine; actions that later keys replace are not performed. */
#pragma once
#include "base/form.h"
#include "twiml/session.h"

struct twiml_turn {
    struct tx *tx;
    struct twiml_session *s;
    int64_t at_ms;                   /* since the start of the call */
    struct call_actions actions;     /* to perform now: the answer */
    bool joins;                      /* the visitor then talks in the room (twiml/room.h) */
    bool waits;                      /* the visitor asks again in a second */
    unsigned asked;                  /* how many questions the domain was asked, */
    int64_t asked_us;                /* and when the first one, monotonic */
    struct access_decision decision; /* the last one */
    struct access_decision arrived;  /* the one about the arrival, if this turn asked for it */
    struct access_decision closed;   /* the one that closed the keypad, for the log */
};

struct twiml_turn twiml_turn(struct tx *tx, struct twiml_session *s);

/* A call to one of our numbers. */
enum err twiml_arrived(struct twiml_turn *t) CHECKED;
/* <Gather> has ended: with keys, else with recognised speech, else with nothing. */
enum err twiml_gathered(struct twiml_turn *t, const struct form *f) CHECKED;
/* <Dial> has ended with this DialCallStatus, and nobody talks to the visitor. */
enum err twiml_dialled(struct twiml_turn *t, struct str status) CHECKED;
/* The visitor hung up. */
void twiml_hung_up(struct twiml_turn *t);
/* The resident who answered that phone, on the line `leg`, pressed a key, or none. *ret_connect: the visitor is
 * connected, else the resident's line is to be released. If the resident opens the door, t->actions are the answer to
 * the visitor's next request. */
enum err twiml_resident_chose(struct twiml_turn *t, struct str leg, size_t phone, struct str digits,
                              bool *ret_connect) CHECKED;
/* Does this key of a resident open the door? 9, or a release tone of one key other than 1. */
bool twiml_opens(const struct call *c, char key);
/* Reports any other event to the machine, and answers the questions that follow. */
enum err twiml_report(struct twiml_turn *t, struct call_event event) CHECKED;
/* Do the actions ask the visitor for a message? The call then goes on until the visitor has spoken. */
bool twiml_takes_message(const struct twiml_turn *t);
/* The visitor has spoken, or was silent: hang up. */
void twiml_spoke(struct twiml_turn *t);
/* Records the actions of the answer. */
void twiml_perform(struct twiml_turn *t);
