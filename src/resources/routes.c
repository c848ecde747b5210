#include "resources/routes.h"

#include "resources/examples.h"

/* Searched in this order, so the most used sets are first. */
const struct route_set *const api_sets[] = {
    &grant_routes, &log_routes,       &visit_routes,      &building_routes, &settings_routes, &decision_routes,
    &event_routes, &greeting_routes,  &operation_routes,  &call_routes,     &account_routes,  &phone_routes,
    &auth_routes,  &key_routes,       &webhook_routes,    &delivery_routes, &plan_routes,     &checkout_routes,
    &meta_routes,  &live_call_routes, &guest_link_routes, &pass_routes,
};
const size_t api_set_count = sizeof api_sets / sizeof *api_sets;

const struct route_set *const browser_sets[] = {&sign_in_routes,   &browser_routes, &notice_routes, &person_routes,
                                                &consent_routes,   &people_routes,  &place_routes,  &recording_routes,
                                                &own_phone_routes, &quiet_routes};
const size_t browser_set_count = sizeof browser_sets / sizeof *browser_sets;

json_t *reply_examples(void)
{
    return openapi_constant(examples_text);
}

const struct openapi openapi_site = {
    .title = "Access-Control Service: website",
    .description =
        "The operations that only the service's own website uses. Its pages call these and those of the service's "
        "document below `/app`: `GET /app/v1/account` is `GET /v1/account`, except that the browser's cookie takes the "
        "place of the key and `Authorization` is not read. Checks, scopes and limits are those of a website session's "
        "key. Not below `/app`: `POST /v1/auth/otp` and `/v1/auth/verify`, of which there are others, and what needs "
        "neither key nor "
        "sign-in.\n\n"
        "Every request must come from a page of the same host, as `Sec-Fetch-Site: same-origin` or, where the browser "
        "does not send that, `Origin` says. Others get 403 `CROSS_SITE_REQUEST`. Programs use a key, and not `/app`.",
    .sets = browser_sets,
    .set_count = sizeof browser_sets / sizeof *browser_sets,
    .examples = reply_examples,
};

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
    .examples = reply_examples,
};
