/* One line of the log for each call, which tells the operator why the door opened or not (docs/operations.md). Codes
 * are never in it: keys are counted. */
#pragma once
#include "voice/call.h"

#define CALL_TEXT_SHOWN 64 /* bytes of what others sent, NUL included; the rest is left out */

/* The facts that a front end adds to the machine's. */
struct call_record {
    char source[CALL_TEXT_SHOWN];  /* "udp:192.0.2.7:5060", "sandbox" */
    char id[CALL_TEXT_SHOWN];      /* the SIP Call-ID, or the ID in the sandbox's answer */
    char caller[CALL_TEXT_SHOWN];  /* as received, in any bytes */
    char dialled[CALL_TEXT_SHOWN]; /* the same */
    char number[CALL_NUMBER_MAX];  /* what the dialled number was read as; "" for none */
    int status;                    /* the SIP status of a call that was never answered; 0: it was */
    bool established;              /* it was answered, and the caller acknowledged that */
    bool has_media;
    unsigned events, tones, infos; /* presses that came as RFC 4733 events, as tones and as SIP INFO */
    bool unfinished;               /* it ended before the machine's last actions were carried out */
    int64_t duration_ms;
};

/* Writes the line of a call that is over. Calls that were never established get 20 lines in ten seconds; `unlogged` in
 * the next line counts the others. Any thread. */
void call_log(const struct call *c, const struct call_record *r);
/* The words of its outcome and its reason, "forwarded" and "no_grant": stable. */
const char *call_outcome_name(enum call_outcome o);
