/* The prices of plans, as the billing provider last returned them, cached in the process so that reading never blocks.
 *
 * Stale prices are refreshed on a separate thread at the next read. The old ones are returned until the provider
 * answers.
 */
#pragma once
#include "providers/billing.h"

#define CATALOG_GOOD_FOR_S 300

struct catalog;

/* Fetches the first prices, and waits for them for at most two seconds. The billing provider must outlive it. */
struct catalog *catalog_new(struct billing *billing, int64_t good_for_s);
void catalog_free(struct catalog *c);
/* Any thread; never blocks. Returns false if the provider has never answered. Strings are in the arena. */
bool catalog_get(struct catalog *c, struct arena *a, struct billing_prices *ret);
