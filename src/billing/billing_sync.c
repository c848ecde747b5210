#include "billing/billing_sync.h"

#include "domain/job.h"

enum err billing_event_note(struct tx *tx, struct str event_id, bool *ret_fresh)
{
    int64_t fresh;
    enum err e = db_exec(tx->db, SQL(billing_event_insert, .id = event_id, .received_at = tx->now_us), &fresh);
    if (!e)
        *ret_fresh = fresh > 0;
    return e;
}

enum err billing_event_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL(billing_event_purge, .before = before_us, .limit = limit), ret_count);
}

static const char *const subjects[] = {
    [BILLING_SUBJECT_SESSION] = "session", [BILLING_SUBJECT_SUBSCRIPTION] = "subscription"};

enum err billing_sync_queue(struct tx *tx, enum billing_subject subject, struct str object_id)
{
    struct str payload = arena_printf(tx->arena, "%s %.*s", subjects[subject], STR_ARG(object_id));
    struct str name = arena_printf(tx->arena, "billing %.*s", STR_ARG(payload));
    return job_add_again(tx, name, JOB_BILLING_SYNC, tx->now_us, payload);
}

bool billing_sync_parse(struct str payload, enum billing_subject *ret_subject, struct str *ret_object)
{
    struct str object, subject = str_cut(payload, ' ', &object);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (object.n > 0 && str_eq(subject, str_z(subjects[i]))) {
            *ret_subject = (enum billing_subject)i;
            *ret_object = object;
            return true;
        }
    return false;
}
