/* The answers of a service, as tables for people or as JSON for programs. */
#pragma once
#include "client/operation.h"
#include "client/remote.h"

/* Prints the answer to the operation and returns the exit status. */
int operation_print(const struct operation *o, const struct remote *r, const struct remote_answer *answer,
                    const struct operation_options *given);
/* Writes message, code, next action and request ID of an error to standard error; with `json`, also the envelope to
 * standard output. Where another key helps, the next action is the command that gets it. Returns EXIT_NO_KEY for a 401,
 * else EXIT_FAILED. */
int operation_print_error(const struct remote *r, const struct remote_answer *answer, bool json);

/* Writes the steps that are missing until a grant can open the door, of the answer of GET /v1/account, to standard
 * error.
 */
void operation_print_missing_steps(const json_t *account);

/* The rows of a list of several pages: a table for each page, or one JSON object with the rows of all. Begins as
 * {.json = …}. */
struct operation_rows {
    bool json, begun;
    size_t count;
};
void operation_print_rows(struct operation_rows *rows, const json_t *page);
void operation_print_rows_end(const struct operation_rows *rows);
