/* A building's address in bodies (contract, Address). */
#pragma once
#include "base/schema.h"
#include "domain/building.h"

struct address {
    struct val street, city, state, zip, country;
};

extern const struct shape address_shape;
/* As a caller may give one: INVALID_BUILDING_INPUT. What is right in each country is left to
 * building_address_normalise. */
extern const struct shape address_input_shape;

/* What is not known is left out. In the arena. */
struct val address_val(struct arena *a, const struct building_address *address);
struct building_address address_given(const struct address *body);
