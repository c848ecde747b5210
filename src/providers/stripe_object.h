/* Stripe's objects as billing.h has them: what is missing, of another type or impossible makes the whole malformed. */
#pragma once
#include "providers/billing.h"
#include "providers/rest.h"

/* Is it an identifier of Stripe's ("cs_test_a1…"), fit to stand in a path? */
bool stripe_is_id(struct str s);
/* The ID of what a member refers to, which is either the ID alone or the object itself, borrowed; STR_NONE without. */
struct str stripe_reference(const json_t *object, const char *name);

/* A URL to send a customer to: of https, printable. */
bool stripe_is_page(struct str url);

/* A checkout session. */
bool stripe_read_session(const json_t *o, struct arena *a, struct billing_session *ret) CHECKED;
/* A price, of which *ret->plan is left alone. */
bool stripe_read_price(const json_t *o, struct arena *a, struct billing_price *ret) CHECKED;

/* A subscription. Of several items it is the first with the price of a plan of ours, else the first; *ret_item is its
 * ID. */
bool stripe_read_subscription(const struct config *c, const json_t *o, struct arena *a,
                              struct billing_subscription *ret, struct str *ret_item) CHECKED;
/* An invoice's amount. */
bool stripe_read_preview(const json_t *o, struct arena *a, struct billing_preview *ret) CHECKED;
