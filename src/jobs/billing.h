/* Jobs that keep our records in sync with the billing provider. */
#pragma once
#include "jobs/queue.h"
#include "providers/billing.h"

/* Records an event that the provider signed, or the sandbox made, in its own write transaction; a job reads the object
 * of the event from the provider and applies it. An event that was seen before, or of another kind of object, has no
 * effect. */
enum err jobs_billing_event_receive(struct work *work, const struct billing_event *event) CHECKED;

/* Reads one session or subscription. A live subscription is read again a day later, as events may get lost. */
struct job_kind jobs_kind_billing_sync(struct billing *billing);
/* Runs every ten minutes. Repeats calls for sessions that the provider did not answer, with the same key; reads open
 * sessions; expires the sessions of accounts that have a subscription. */
struct job_kind jobs_kind_billing_reconcile(struct billing *billing);
/* Queues the first reconciliation, unless one is queued. Called at every start. */
enum err jobs_schedule_billing(struct tx *tx) CHECKED;
