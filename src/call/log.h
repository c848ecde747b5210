/* One log line for each call. It tells the operator why the door opened or stayed closed (docs/operations.md). Codes
 * never reach the log: keys are counted. */
#pragma once
#include "call/call.h"

#define CALL_TEXT_SHOWN 64 /* bytes of received text, NUL included; longer text is cut */

/* The facts that a front end adds to the facts of struct call. */
struct call_record {
    char source[CALL_TEXT_SHOWN];  /* "udp:192.0.2.7:5060", "sandbox" */
    char id[CALL_TEXT_SHOWN];      /* the SIP Call-ID, or the ID in the sandbox's answer */
    char caller[CALL_TEXT_SHOWN];  /* as received, in any bytes */
    char dialled[CALL_TEXT_SHOWN]; /* as received, in any bytes */
    char number[CALL_NUMBER_MAX];  /* the dialled number as E.164, or "" */
    int status;                    /* SIP status of a rejected call; 0: it was answered */
    bool established;              /* answered, and acknowledged by the caller */
    bool has_media;
    unsigned events, tones, infos; /* presses that came as RFC 4733 events, as tones and as SIP INFO */
    const char *tone;              /* the way of the release tone: "events", "inband", "info", or NULL */
    bool tone_fallback;            /* it is not the way that the building's settings ask for */
    bool unfinished;               /* it ended before the last actions were performed */
    int64_t duration_ms;
};

/* Counts a call that has ended, and gets no line. Any thread. */
void call_log_count(const struct call *c, const struct call_record *r);
/* Counts a call that has ended, and writes its line. Calls that were never established get 20 lines in ten seconds;
 * `unlogged` in the next line counts the suppressed ones. Any thread. */
void call_log(const struct call *c, const struct call_record *r);
/* The stable name of an outcome, such as "forwarded". */
const char *call_outcome_name(enum call_outcome o);
