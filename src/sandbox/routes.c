#include "sandbox/routes.h"

#include "resources/routes.h"

const struct route_set *const sandbox_sets[] = {
    &sandbox_messages_routes,      &sandbox_calls_routes,    &sandbox_clock_routes,    &sandbox_numbers_routes,
    &sandbox_subscriptions_routes, &sandbox_faults_routes,   &sandbox_page_routes,     &sandbox_checkout_routes,
    &sandbox_portal_routes,        &sandbox_webhooks_routes, &sandbox_accounts_routes,
};
const size_t sandbox_set_count = sizeof sandbox_sets / sizeof *sandbox_sets;

const struct openapi openapi_sandbox = {
    .title = "Access-Control Service: sandbox",
    .description = "Replaces the outside world while the service runs in sandbox mode. Every mail, text message, call, "
                   "number and payment is simulated, visible, and can be made to fail. Not part of the contract. "
                   "Production mode does not serve these operations.",
    .sets = sandbox_sets,
    .set_count = sizeof sandbox_sets / sizeof *sandbox_sets,
    .examples = reply_examples,
};
