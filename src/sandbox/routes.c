#include "sandbox/routes.h"

const struct route_set *const sandbox_sets[] = {
    &sandbox_messages_routes, &sandbox_calls_routes,         &sandbox_clock_routes,
    &sandbox_numbers_routes,  &sandbox_subscriptions_routes, &sandbox_faults_routes,
    &sandbox_page_routes,     &sandbox_checkout_routes,      &sandbox_portal_routes,
};
const size_t sandbox_set_count = sizeof sandbox_sets / sizeof *sandbox_sets;

const struct openapi openapi_sandbox = {
    .title = "Access-Control Service: sandbox",
    .description =
        "What stands in for the outside world while the service runs in its sandbox: every mail, text message, call, "
        "number and payment is the service's own, and can be looked into and made to fail. No part of the contract; "
        "in production none of these operations exists.",
    .sets = sandbox_sets,
    .set_count = sizeof sandbox_sets / sizeof *sandbox_sets,
};
