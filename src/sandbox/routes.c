#include "sandbox/routes.h"

#include "sandbox/calls.h"
#include "sandbox/clock.h"
#include "sandbox/faults.h"
#include "sandbox/messages.h"
#include "sandbox/numbers.h"
#include "sandbox/page.h"
#include "sandbox/subscriptions.h"

const struct route_set *const sandbox_sets[] = {
    &sandbox_messages_routes,      &sandbox_calls_routes,  &sandbox_clock_routes, &sandbox_numbers_routes,
    &sandbox_subscriptions_routes, &sandbox_faults_routes, &sandbox_page_routes,
};
const size_t sandbox_set_count = sizeof sandbox_sets / sizeof *sandbox_sets;
