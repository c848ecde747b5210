#include "resources/routes.h"

#include "api/parts.h"
#include "jobs/billing.h"
#include "jobs/queue.h"
#include "providers/providers.h"

#define BODY_MAX 524288 /* an event contains its whole object, and an invoice may be long */

/* The signature covers the raw body. The reply follows the durable record of the event; on any failure the provider
 * sends it again. */
static enum err receive_stripe_event(struct request *q, struct reply *p)
{
    struct billing *billing = q->parts->providers->billing;
    struct billing_event event;
    size_t count;
    struct str signature = http_header(q->http, STR("Stripe-Signature"), &count);
    if (count != 1 || !billing->ops->event(billing, signature, q->http->body, q->tx.arena, &event))
        return tx_fail(&q->tx, ERR_BAD_REQUEST, "the body is no event that Stripe signed within the last five minutes");
    p->status = 200;
    return jobs_billing_event_receive(&q->work, &event);
}

static const struct route stripe_rows[] = {
    ROUTE("receiveStripeEvent", POST, "/hooks/stripe", .body_max = BODY_MAX,
          .run = RUN_BLOCKING, /* hashing an unauthenticated body must not delay reads and writes */
          .handler = receive_stripe_event, .doc = ROUTE_DOC("Hooks", 200, "Receive a Stripe event")),
};
const struct route_set stripe_hook_routes = ROUTE_SET(stripe_rows);
