/* The steps of a building operation: the call of each to a provider, and its change of our records.
 *
 * A step is recorded before the provider is called, and the call has a key made of operation, step and attempt. After a
 * crash the call is repeated with the same key, and the provider repeats its answer. */
#pragma once
#include "billing/operation_step.h"
#include "domain/number.h"
#include "domain/work.h"
#include "jobs/heartbeat.h"
#include "providers/providers.h"

struct building_saga {
    struct work *work;
    const struct providers *providers;
    struct operation o;   /* as recorded */
    bool resumed;         /* an earlier run may have begun its step */
    bool onward;          /* a refusal is an error, and nothing is undone */
    int64_t until_us;     /* monotonic: no other thread, on any node, works on the operation until then … */
    struct tenure tenure; /* … while it holds */

    /* For the current step. */
    struct number_claim claim;
    struct str number;
    bool provided; /* the provider gave it */
    bool lost;     /* the provider does not hold it for us any more */
};

/* Carries out and records the next step: s->o has the next step, or has ended. Fails with ERR_PROVIDER_UNAVAILABLE if
 * there is no answer; with ERR_PAYMENT_FAILED or ERR_NUMBER_NOT_PROVISIONED if the provider refuses a step that has no
 * alternative; with ERR_NOT_FOUND if the recorded step has changed since s->o was read. Blocks. */
enum err building_saga_step(struct building_saga *s) CHECKED;
