/* Bodies of building operations (contract, Buildings). */
#pragma once
#include "api/route.h"
#include "billing/operation.h"

extern const struct shape building_preview_shape;         /* of either action */
extern const struct shape building_preview_earlier_shape; /* the same, for US addresses alone */
extern const struct shape quote_request_shape;
extern const struct shape building_operation_shape;

/* Converts a read BuildingPreview. Fails with INVALID_BUILDING_INPUT and tx->why. */
enum err building_preview_input(struct tx *tx, const void *body, struct operation_input *ret) CHECKED;
/* The quote's ID of a read QuoteRequest. */
struct id quote_request_id(const void *body);
/* A body of building_operation_shape, in the arena; it borrows from `o`. */
const void *building_operation_body(struct arena *a, const struct operation *o);
