/* Jobs that keep the service and its billing provider of one mind: reading what an event was about, and finding out
 * what became of checkouts that nobody told about. */
#pragma once
#include "domain/tx.h"
#include "jobs/queue.h"
#include "providers/billing.h"

/* Takes an event the provider signed (or the sandbox made), in a write transaction: what it is about is read from the
 * provider and applied by a job. One that was seen before, or that is about nothing of ours, does nothing. */
enum err billing_event_received(struct tx *tx, const struct billing_event *event) CHECKED;

/* Reads one session or subscription. A live subscription is read again a day later: events get lost. */
struct job_kind billing_sync_job(struct billing *billing);
/* Every ten minutes: asks again, with the same key, for sessions that the provider never answered about, reads open
 * ones again, and ends those of accounts that have a subscription by now. */
struct job_kind billing_reconcile_job(struct billing *billing);
/* Queues the first reconciliation; nothing happens if one is waiting. At every start. */
enum err billing_schedule(struct tx *tx) CHECKED;
