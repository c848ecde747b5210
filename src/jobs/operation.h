/* Carries out building operations (domain/operation.h), by a job or by the operator's decision. */
#pragma once
#include "domain/operation.h"
#include "jobs/queue.h"
#include "providers/providers.h"

/* Goes on with a running operation until it ends, or a provider does not answer; the providers must outlive it. */
struct job_kind operation_job_kind(struct providers *providers);

enum operation_decision { DECIDE_SUCCEEDED, DECIDE_FAILED };

/* The operator's decision about an operation that requires reconciliation: the remaining steps are carried out now, or
 * those that were are undone now. work->why may say more. ERR_NOT_FOUND; ERR_BAD_REQUEST: it does not wait for a
 * decision, or cannot be undone any more; ERR_BUILDING_BUSY: its job, or another decision, is not over yet;
 * ERR_PROVIDER_UNAVAILABLE, ERR_PAYMENT_FAILED, ERR_NUMBER_NOT_PROVISIONED: a provider does not play along, and the
 * operation still waits. */
enum err operation_resolve(struct work *work, const struct providers *providers, const struct id *operation,
                           enum operation_decision decision, struct operation *ret) CHECKED;
