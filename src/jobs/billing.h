/* Jobs that keep the service and its billing provider of one mind: reading what an event was about, and finding out
 * what became of checkouts that nobody told about. */
#pragma once
#include "jobs/queue.h"
#include "providers/billing.h"

/* Records an event that the provider signed, or the sandbox made, in its own write transaction; a job reads the object
 * of the event from the provider and applies it. An event that was seen before, or of another kind of object, has no
 * effect. */
enum err billing_event_receive(struct work *work, const struct billing_event *event) CHECKED;

/* Reads one session or subscription. A live subscription is read again a day later: events get lost. */
struct job_kind billing_sync_job(struct billing *billing);
/* Every ten minutes: asks again, with the same key, for sessions that the provider never answered about, reads open
 * ones again, and ends those of accounts that have a subscription by now. */
struct job_kind billing_reconcile_job(struct billing *billing);
/* Queues the first reconciliation; nothing happens if one is waiting. At every start. */
enum err billing_schedule(struct tx *tx) CHECKED;
