/* porterod admin account export: all that the store holds of a person, as one JSON document. */
#pragma once
#include "base/config.h"

/* Writes it to a new file `path` (mode 0600, durable, whole or not at all), or to standard output if that is NULL.
 * Reads the store next to the service or without it, a page at a time. Fails with *ret_why (caller frees). */
enum err export_account(const struct config *config, const char *account, const char *path, char **ret_why) CHECKED;
