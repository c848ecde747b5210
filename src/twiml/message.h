/* The message of a visitor: Twilio records it, a job fetches it, and the store keeps it as it keeps those left over
 * SIP (domain/call_message.h). Then it is deleted at Twilio.
 *
 * The job exists from the answer on that asks for the message, so that nothing depends on a request of Twilio. It waits
 * for the end of the call, asks Twilio for the recordings of the call, and gives up after a day. */
#pragma once
#include "jobs/queue.h"
#include "providers/twilio.h"
#include "twiml/session.h"

/* The answer asks for a message. */
enum err twiml_message_expect(struct tx *tx, const struct twiml_session *s) CHECKED;
/* Twilio says that it has a recording: fetches it now. Does nothing if that was done, or no message was asked for. */
enum err twiml_message_heard(struct tx *tx, struct twiml_session *s) CHECKED;

/* Which recordings of a call are the visitor's message. */
#define TWIML_RECORDINGS_MAX 4
struct twiml_recordings {
    char sids[TWIML_RECORDINGS_MAX][TWILIO_SID_LEN + 1]; /* that are complete, oldest first */
    size_t count;
    bool pending; /* there is one that is not complete yet */
};
/* Reads the list of a call's recordings. Returns false if it is malformed. */
bool twiml_recordings_read(const json_t *list, struct str call, struct twiml_recordings *ret);
