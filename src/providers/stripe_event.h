/* Events that Stripe posts to a webhook endpoint: their signature (https://docs.stripe.com/webhooks) and their object.
 */
#pragma once
#include "providers/billing.h"

#define STRIPE_TOLERANCE_S 300

/* Does one of the header's signatures ("t=1760000000,v1=…,v1=…") match the body, and was it made within five minutes of
 * now_s (real time)? Takes constant time for a given header and body. Returns false for an empty secret. */
bool stripe_signed(struct str header, struct str body, struct str secret, int64_t now_s, struct arena *a);

/* The object of a signed event; BILLING_OBJECT_NONE for types of events that change nothing here. Returns false if the
 * body is not an event. */
bool stripe_read_event(struct str body, struct arena *a, struct billing_event *ret) CHECKED;
