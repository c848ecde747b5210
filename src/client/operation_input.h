/* The options of an operation's command as its query and body. */
#pragma once
#include "base/arena.h"
#include "client/operation.h"

struct operation_input {
    json_t *query, *body; /* the caller releases them; body is NULL without */
    struct str body_text; /* in the arena; STR_NONE without a body */
};

/* Reads the values and checks them as the service does, by the shapes of the row. Returns EXIT_DONE, or EXIT_USAGE
 * after writing the error. */
int operation_input_read(const struct operation *o, const struct operation_options *given, struct arena *a,
                         struct operation_input *ret);
/* Whether the text, or NULL, can be the value of a header: another one would be left out of the request, and an empty
 * building would mean another building. Else writes the error. */
bool operation_is_header(const char *command, const char *option, const char *text);
/* Appends "?name=value&…", or nothing. */
void operation_put_query(const json_t *query, struct buf *out);
/* Appends the text percent-encoded. */
void operation_put_escaped(const char *text, struct buf *out);
