/* Carries out building operations (billing/operation.h), by a job or by the operator's decision. */
#pragma once
#include "billing/operation.h"
#include "jobs/queue.h"
#include "providers/providers.h"

/* Continues a running operation until it ends or a provider does not answer. The providers must outlive the jobs. */
struct job_kind jobs_kind_operation(struct providers *providers);

enum operation_decision { DECIDE_SUCCEEDED, DECIDE_FAILED };

/* Carries out the operator's decision about an operation that requires reconciliation: runs the remaining steps, or
 * undoes the steps that were run. *ret is set on success; work->why may explain a failure.
 *
 * ERR_NOT_FOUND: no such operation. ERR_BAD_REQUEST: it does not wait for a decision, or cannot be undone any more.
 * ERR_BUILDING_BUSY: its job or another decision is in progress. ERR_PROVIDER_UNAVAILABLE, ERR_PAYMENT_FAILED,
 * ERR_NUMBER_NOT_PROVISIONED: a provider did not answer or refused, and the operation still waits for a decision. */
enum err jobs_operation_resolve(struct work *work, const struct providers *providers, const struct tenure *tenure,
                                const struct id *operation, enum operation_decision decision,
                                struct operation *ret) CHECKED;
