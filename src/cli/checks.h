/* Everything that makes `portero serve` refuse a configuration, as one table: `serve` goes through it before it starts
 * anything, and `check-config` does nothing else, so that the two cannot disagree. */
#pragma once
#include "base/config.h"

/* Reads the configuration as config_read does and checks it. ERR_USAGE if anything is wrong: *ret_why (owned by the
 * caller, free) has a line for each fault. Changes nothing, and binds no address for longer than a moment: one that is
 * in use, as by the service that runs, is no fault. */
enum err checks_load(const char *path, const struct config_override *overrides, size_t count, struct config **ret,
                     char **ret_why) CHECKED;

/* Tells of each key that is set and that this version does not follow. */
void checks_ignored(const struct config *c, void (*tell)(const char *key, const char *value));
