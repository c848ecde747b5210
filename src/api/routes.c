#include "api/routes.h"

#include "api/openapi.h"

/* Searched in this order, so the most used sets are first. */
const struct route_set *const api_sets[] = {
    &grant_routes,    &log_routes,     &building_routes, &settings_routes, &decision_routes, &operation_routes,
    &call_routes,     &account_routes, &phone_routes,    &auth_routes,     &key_routes,      &webhook_routes,
    &delivery_routes, &plan_routes,    &checkout_routes, &meta_routes,
};
const size_t api_set_count = sizeof api_sets / sizeof *api_sets;

const struct openapi openapi_contract = {
    .title = "Access-Control Service",
    .description =
        "Decides who is let in at a building's entrance. A visitor's buzz is a telephone call to the building's "
        "virtual number; an access grant releases the door, and a call without one is forwarded to the resident.\n\n"
        "Send every request over HTTPS with `Authorization: Bearer <API_KEY>`. Begin with `GET /v1/account`: it says "
        "what the key can do next. An account with several buildings names one in `X-Service-Building-Id`.\n\n"
        "Every error is one envelope: act on `error.code`, follow `error.next_action`, and keep `requestId` for "
        "support. `retryable` is no permission to repeat a change blindly: creations take an `Idempotency-Key`, "
        "edits an `If-Match`. On 429 wait `Retry-After` seconds. Readers must ignore members they do not know.",
    .sets = api_sets,
    .set_count = sizeof api_sets / sizeof *api_sets,
    .events = true,
    .guide = "/docs/agents",
};
