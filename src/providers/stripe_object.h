/* Reads Stripe's objects into the structs of billing.h. The functions return false for a malformed object: one with a
 * member that is missing, of another type or out of range. */
#pragma once
#include "providers/billing.h"
#include "providers/rest.h"

/* Is s an identifier like "cs_test_a1…"? It is then safe in a path. */
bool stripe_is_id(struct str s);
/* The ID that a member refers to, borrowed: the member is the ID itself or an object with it. STR_NONE without one. */
struct str stripe_reference(const json_t *object, const char *name);

/* Is url fit to send a customer to: https, printable? */
bool stripe_is_page(struct str url);

/* A checkout session. */
bool stripe_read_session(const json_t *o, struct arena *a, struct billing_session *ret) CHECKED;
/* A price. Leaves ret->plan unchanged. */
bool stripe_read_price(const json_t *o, struct arena *a, struct billing_price *ret) CHECKED;

/* A subscription. Of several items, reads the first with the price of a configured plan, otherwise the first. *ret_item
 * is the ID of the item. */
bool stripe_read_subscription(const struct config *c, const json_t *o, struct arena *a,
                              struct billing_subscription *ret, struct str *ret_item) CHECKED;
/* An invoice's amount. */
bool stripe_read_preview(const json_t *o, struct arena *a, struct billing_preview *ret) CHECKED;
