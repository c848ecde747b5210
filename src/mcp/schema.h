/* Field tables as compact JSON Schemas: without references, lengths and titles, because a model reads them with every
 * conversation. The service checks everything else that the rows say. */
#pragma once
#include "base/schema.h"

/* The members of a JSON object that is being written. */
struct mcp_members {
    struct buf *out;
    bool any;
};
/* Writes the name and its colon, after a comma if it is not the first. */
void mcp_put_name(struct mcp_members *m, const char *name);

/* Adds a property for each field of an input to `properties`, with its rules and its description. A shape of variants
 * has the fields of all variants. `shape` may be NULL. */
void mcp_put_properties(const struct shape *shape, struct mcp_members *properties);
/* Adds the names of the required fields, of all variants, to the list of strings that is being written. *any: it has
 * some already. */
void mcp_put_required(const struct shape *shape, struct buf *out, bool *any);
/* Writes the schema of an output: its members with their types, and nothing of what is inside them. */
void mcp_put_output(const struct shape *shape, struct buf *out);
