/* porterod admin account export: all that the store holds of a person, as one JSON document. */
#pragma once
#include "base/config.h"

struct export_command {
    const char *account; /* ID or e-mail address */
    const char *path;    /* NULL: standard output */
};

/* Writes it to a new file `path` (mode 0600, durable, whole or not at all), or to standard output; a configured_command
 * of a struct export_command. Reads the store next to the service or without it, a page at a time. Fails with *ret_why
 * (caller frees). */
enum err export_account(const struct config *config, const void *context, char **ret_why) CHECKED;
