/* Commands that need the configuration of the service. */
#pragma once
#include "base/config.h"

/* Loads the configuration, with `data` as its data_dir unless it is NULL. The caller frees it; NULL: the errors were
 * written, and the exit status is EXIT_USAGE. */
struct config *configured_load(const char *path, const char *data);

/* Loads it so, and runs a command with it, or writes the errors. Returns the exit status. The command must set
 * *ret_why, for the caller to free, if it fails. */
typedef enum err configured_command(const struct config *config, const void *context, char **ret_why);
int configured_run(const char *path, const char *data, configured_command *run, const void *context);
