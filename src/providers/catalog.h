/* What plans cost, as the billing provider last said: kept in the process, so that asking never blocks.
 *
 * Prices are good for some time; whoever asks later has them asked for anew, on a thread of their own, and gets the old
 * ones meanwhile, for as long as the provider does not answer. */
#pragma once
#include "providers/billing.h"

#define CATALOG_GOOD_FOR_S 300

struct catalog;

/* Asks for the first prices, and waits for them for two seconds at most. The billing provider must outlive it. */
struct catalog *catalog_new(struct billing *billing, int64_t good_for_s);
void catalog_free(struct catalog *c);
/* Any thread, never blocks. False: the provider has never answered. Strings are in the arena. */
bool catalog_get(struct catalog *c, struct arena *a, struct billing_prices *ret);
