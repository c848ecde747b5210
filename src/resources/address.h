/* A building's address in bodies (contract, Address). */
#pragma once
#include "base/schema.h"
#include "domain/building.h"

struct address {
    struct val street, city, state, zip, country;
};

extern const struct shape address_shape;
/* Reads an address as callers may give it; fails with INVALID_BUILDING_INPUT. building_address_normalise checks the
 * rules of each country. */
extern const struct shape address_input_shape;
/* The same for US addresses alone. */
extern const struct shape address_input_us_shape;

/* Leaves out unknown members. Allocated in the arena. */
struct val address_val(struct arena *a, const struct building_address *address);
struct building_address address_given(const struct address *body);
