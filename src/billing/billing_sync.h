/* Events of the billing provider, and the jobs that they queue (BILLING-23, BILLING-24).
 *
 * An event is only a hint: it queues a job that reads the object of the event from the provider. Events may therefore
 * come late, twice, in any order or not at all. There is one job for each object, so that two readings of one object
 * never overlap. */
#pragma once
#include "domain/tx.h"

#define JOB_BILLING_SYNC "billing_sync" /* payload: see billing_sync_parse */

enum billing_subject { BILLING_SUBJECT_SESSION, BILLING_SUBJECT_SUBSCRIPTION };

/* Records an event; *ret_fresh is false if it was recorded before. */
enum err billing_event_note(struct tx *tx, struct str event_id, bool *ret_fresh) CHECKED;
/* Deletes at most `limit` events that were recorded before before_us; *ret_count is their number. */
enum err billing_event_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;

/* Queues the job that reads an object. A job that already waits or runs for the object runs again. */
enum err billing_sync_queue(struct tx *tx, enum billing_subject subject, struct str object_id) CHECKED;
/* Returns false for a payload that billing_sync_queue did not write. *ret_object points into the payload. */
bool billing_sync_parse(struct str payload, enum billing_subject *ret_subject, struct str *ret_object);
