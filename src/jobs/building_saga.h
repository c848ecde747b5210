/* The steps of a building operation: what each asks of the providers, and what it does here.
 *
 * A step is on record before a provider is asked, under a key made of the operation, the step and the attempt: after a
 * crash the same question is asked again, and the provider gives the same answer. */
#pragma once
#include "domain/number.h"
#include "domain/operation_step.h"
#include "domain/work.h"
#include "providers/providers.h"

struct building_saga {
    struct work *work;
    const struct providers *providers;
    struct operation o; /* as it is on record */
    bool resumed;       /* its step may have been begun before */
    bool onward;        /* what is refused is an error, and nothing is undone for it */
    int64_t until_us;   /* the monotonic clock: so long nobody else, on any node, works on the operation */
    /* of the step that is carried out: */
    struct number_claim claim;
    struct str number;
    bool provided; /* it came from the provider */
    bool lost;     /* it is not ours any more */
};

/* Carries out the next step, and records it: s->o has moved on, or ended. ERR_PROVIDER_UNAVAILABLE: no answer;
 * ERR_PAYMENT_FAILED, ERR_NUMBER_NOT_PROVISIONED: refused, and there is no way around; ERR_NOT_FOUND: the operation
 * stands somewhere else by now. Blocks. */
enum err building_saga_step(struct building_saga *s) CHECKED;
