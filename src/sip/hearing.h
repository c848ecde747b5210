/* One SIP call's ear for spoken codes: while digits are collected and nothing is played, it cuts speech out of the
 * audio and has it recognised. */
#pragma once
#include "speech/spoken.h"
#include "speech/utterance.h"

struct sip_agent;
struct sip_part;

/* `code`: the digits, if they were understood. */
typedef void sip_heard_h(enum spoken_result result, const char *code, void *arg);

struct sip_hearing {
    struct utterance *utterance; /* NULL: not listening */
    struct spoken_request request;
    bool pending; /* the request is not answered */
    struct id building;
    struct sip_agent *agent;
    sip_heard_h *heard;
    void *arg; /* memory of libre: the request holds a reference */
};

/* Start and stop the agent's recognition, if it is configured. */
void sip_hearing_start(struct sip_agent *a);
void sip_hearing_stop(struct sip_agent *a);

/* Takes the visitor's audio, and may report SPOKEN_UNCLEAR meanwhile. At the end of the call, stops listening. */
extern const struct sip_part sip_hearing_part;
/* Listens for one utterance, and reports it to `heard`. Not called from within this function. No effect while the
 * models are not ready. */
void sip_hearing_begin(struct sip_hearing *h, struct sip_agent *a, const struct id *building, sip_heard_h *heard,
                       void *arg);
/* Stops listening and drops the speech. No effect if not listening. */
void sip_hearing_end(struct sip_hearing *h);
/* Whether somebody speaks, or an utterance is being recognised. */
bool sip_hearing_busy(const struct sip_hearing *h);
