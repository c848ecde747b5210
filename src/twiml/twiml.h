/* Voice webhooks of Twilio: calls to bought numbers, answered with TwiML (docs/telephony.md). The second front end of
 * the call machine next to SIP. */
#pragma once
#include "api/route.h"
#include "jobs/queue.h"

/* POST /hooks/twilio/…: signed by Twilio and without a key. Not part of the contract. Served only if the account of
 * Twilio is configured. */
extern const struct route_set twiml_routes;

/* The job that ends calls which Twilio does not report on, and deletes their rows. */
struct job_kind twiml_kind_expire(void);
/* Queues the first one, unless one is queued. Called at every start. */
enum err twiml_schedule_expire(struct tx *tx) CHECKED;

/* The jobs that fetch the messages of visitors, and delete them at Twilio (twiml/message.h). NULL: no account is
 * configured. */
struct twilio;
struct job_kind twiml_kind_message(struct twilio *t);
struct job_kind twiml_kind_discard(struct twilio *t);
/* The job that lets a resident who talks be heard pressing keys (twiml/room.h). */
struct job_kind twiml_kind_talk(struct twilio *t);
