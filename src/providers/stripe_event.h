/* What Stripe posts to a webhook endpoint: its signature (https://docs.stripe.com/webhooks) and what it is about. */
#pragma once
#include "providers/billing.h"

#define STRIPE_TOLERANCE_S 300

/* Does one of the header's signatures ("t=1760000000,v1=…,v1=…") fit the body, and was it made within five minutes of
 * now_s (real time)? Takes constant time for a given header and body. An empty secret fits nothing. */
bool stripe_signed(struct str header, struct str body, struct str secret, int64_t now_s, struct arena *a);

/* The object that a signed event is about; BILLING_OBJECT_NONE for the types that change nothing here. False if the
 * body is no event. */
bool stripe_read_event(struct str body, struct arena *a, struct billing_event *ret) CHECKED;
