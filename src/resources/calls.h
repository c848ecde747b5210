/* Bodies of call records, shared with the operator's routes. */
#pragma once
#include "api/request.h"
#include "domain/call_record.h"

struct call_body {
    struct val id, building_id, account_id, started_at, ended_at, duration_ms, front_end, source, dialled, caller,
        outcome, reason, grant_id, resident_opened, ended_by, message_seconds, steps;
};

/* The body of a record. It shares the strings of *c, which must live as long. `steps` is absent. */
struct call_body call_body_of(const struct recorded_call *c);
struct call_step_body {
    struct val at_ms, step, detail, number, grant_id, key_id, key_name; /* from `detail` on they may be absent */
};
/* The steps of a record, in the arena, without names of keys. */
struct call_step_body *call_steps_of(struct arena *a, const struct recorded_call *c, size_t *ret_count);
