/* The route sets of the API, one per resource file of this directory. */
#pragma once
#include "api/openapi.h"

/* The contract's document. The sandbox has its own (sandbox/routes.h). */
extern const struct openapi openapi_contract;
/* The document of the operations that only the website uses, below /app. */
extern const struct openapi openapi_site;
/* Examples of replies of all documents, by operation ID (resources/examples.json); the caller releases them. The
 * end-to-end tests check each one against its schema and against real responses. */
json_t *reply_examples(void);

/* All sets that clients can call and the OpenAPI document describes. */
extern const struct route_set *const api_sets[];
extern const size_t api_set_count;

extern const struct route_set account_routes;    /* GET /v1/account */
extern const struct route_set auth_routes;       /* sign-in by e-mail code */
extern const struct route_set building_routes;   /* the list of buildings */
extern const struct route_set visit_routes;      /* visits */
extern const struct route_set call_routes;       /* records of calls */
extern const struct route_set live_call_routes;  /* calls in progress */
extern const struct route_set event_routes;      /* streams of events */
extern const struct route_set greeting_routes;   /* greetings to listen to */
extern const struct route_set checkout_routes;   /* checkout and the billing portal */
extern const struct route_set decision_routes;   /* the explanation of decisions */
extern const struct route_set delivery_routes;   /* webhook deliveries: lists and replays */
extern const struct route_set grant_routes;      /* /v1/unlock: access grants */
extern const struct route_set guest_link_routes; /* /v1/unlock/{id}/link */
extern const struct route_set key_routes;        /* API keys */
extern const struct route_set log_routes;        /* /v1/logs: the activity log */
extern const struct route_set meta_routes;       /* health, the OpenAPI document, the guide for agents */
extern const struct route_set operation_routes;  /* adding and removing linked buildings: quotes and their execution */
extern const struct route_set pass_routes;       /* /v1/passes: grants with a calendar */
extern const struct route_set phone_routes;      /* the forwarding phone */
extern const struct route_set plan_routes;       /* the plans on offer */
extern const struct route_set settings_routes;   /* a building's setup and settings */
extern const struct route_set webhook_routes;    /* webhook endpoints */

/* Operations for the website's pages alone, below /app. */
extern const struct route_set *const browser_sets[];
extern const size_t browser_set_count;
extern const struct route_set browser_routes;   /* browsers that are signed in */
extern const struct route_set people_routes;    /* members of a building, for its owner */
extern const struct route_set quiet_routes;     /* a person's quiet hours */
extern const struct route_set own_phone_routes; /* a person's own phone */
extern const struct route_set place_routes;     /* the buildings of a person, and the switch between them */
extern const struct route_set person_routes;    /* a person's own export and deletion */
extern const struct route_set consent_routes;   /* consent to assistants that ask for access */
extern const struct route_set notice_routes;    /* notices of events at the door */
extern const struct route_set sign_in_routes;   /* sign-in of a browser */
/* Recorded greetings. */
extern const struct route_set recording_routes;

/* Paths that only accounts of the earlier revision have: not in any document, and 404 for others. Listed last. */
extern const struct route_set earlier_routes;

/* POST /hooks/<provider>: webhooks sent by providers to the service, signed and without a key. Not part of the
 * contract. Served only if billing.provider is stripe. */
extern const struct route_set stripe_hook_routes;
