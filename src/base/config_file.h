/* The configuration file, through libconfuse. Internal to the configuration. */
#pragma once
#include <stdio.h>

#include "base/config.h"

/* Overwrites what the file gives in c, which holds the defaults. `name` stands in messages. On failure false, and
 * *ret_why (malloc) is "NAME:LINE: …". Not thread-safe, as libconfuse's lexer is not. */
bool config_file_read(FILE *file, const char *name, struct config *c, char **ret_why) CHECKED;
