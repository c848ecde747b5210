/* The sandbox's routes (loopback only, no key), one set per resource file of this directory. Production mode does not
 * serve them. */
#pragma once
#include "api/openapi.h"

extern const struct route_set *const sandbox_sets[];
extern const size_t sandbox_set_count;
extern const struct openapi openapi_sandbox;

extern const struct route_set sandbox_accounts_routes; /* accounts without a sign-in code */
extern const struct route_set sandbox_calls_routes;    /* POST /sandbox/calls: a call without media */
extern const struct route_set sandbox_checkout_routes; /* the hosted checkout page */
extern const struct route_set sandbox_clock_routes;    /* the service's clock, which can be moved forward */
extern const struct route_set sandbox_faults_routes;   /* faults that built-in providers must produce */
extern const struct route_set sandbox_messages_routes; /* e-mails and text messages "sent" */
extern const struct route_set sandbox_numbers_routes;  /* the pool of virtual numbers */
extern const struct route_set sandbox_page_routes; /* GET /sandbox/: the same operations as a web page; and the tour */
extern const struct route_set sandbox_portal_routes;        /* the hosted billing portal */
extern const struct route_set sandbox_subscriptions_routes; /* subscription events of the billing provider */
extern const struct route_set sandbox_webhooks_routes;      /* deliveries to the sandbox's receiver */
