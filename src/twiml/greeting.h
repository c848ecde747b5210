/* Recorded greetings, which Twilio fetches from the service to play them.
 *
 * The address of one is signed by the service and valid for a day or two. It is the same for all calls of a day, so
 * that Twilio may cache the audio. It names the recording alone: neither a building nor an account. */
#pragma once
#include "api/request.h"

#define TWIML_GREETING "/hooks/twilio/greeting"

/* Appends the address for a call at now_us, not escaped: below public_url or, without one, relative. */
void twiml_greeting_put(const struct config *c, const struct id *recording, int64_t now_us, struct buf *out);
/* The query of an address, and its handler. */
extern const struct shape twiml_greeting_query;
enum err twiml_greeting_get(struct request *q, struct reply *p) CHECKED;
