/* The configuration file, through libconfuse. Internal to the configuration. */
#pragma once
#include <stdio.h>

#include "base/buf.h"
#include "base/config.h"

/* Sets the values of the file in c, which has the defaults, and their origins. `name` is used in messages. Adds a line
 * "NAME:LINE: …" to `faults` for each error. False if the file could not be parsed to its end. Not thread-safe, because
 * of libconfuse's lexer. */
bool config_file_read(FILE *file, const char *name, struct config *c, struct buf *faults) CHECKED;
