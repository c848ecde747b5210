/* The commands of residents and agents: one for each operation of the interface, made from its row. Its options from
 * the fields of the query and the body, its arguments from the parameters of the path. */
#pragma once
#include "client/operation_row.h"
#include "client/options.h"

#define OPERATION_FLAGS_MAX 40
#define OPERATION_DEPTH     2 /* a field of an object in the body is --OBJECT-FIELD */

/* An option that becomes a field of the query or the body. */
struct operation_flag {
    const struct field *path[OPERATION_DEPTH]; /* the second is NULL, or a field of the first */
    bool in_query;
};

struct operation_options {
    const char *values[OPERATION_FLAGS_MAX]; /* of the flags; NULL: not given */
    const char *building, *body, *idempotency_key, *if_match, *output, *profile, *ca_file;
    bool json, dry_run, all, no_code;
};

struct operation {
    struct command command; /* first: run gets a pointer to it */
    const struct operation_row *row;
    struct operation_flag flags[OPERATION_FLAGS_MAX];
    size_t flag_count;
};

/* The i-th command of a noun, such as `portero unlock`, whose verbs are operations; NULL after the last. */
const struct command *operation_noun(size_t i);

/* Runs it: `struct command`'s run. */
int operation_command_run(const struct command *self, const void *given, struct arguments operands);

/* The options of every command that asks a service. */
#define REMOTE_ROWS(ctype)                                                                                             \
    OPTION_TEXT(ctype, profile, "profile", "NAME", "login to use [default]"),                                          \
        OPTION_TEXT(ctype, ca_file, "ca-file", "FILE",                                                                 \
                    "certificate to trust besides the system's [that of the login]")

/* Whether the operation's list has several pages. */
bool operation_is_paged(const struct operation *o);
