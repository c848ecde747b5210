/* The configuration file, through libconfuse. Internal to the configuration. */
#pragma once
#include <stdio.h>

#include "base/buf.h"
#include "base/config.h"

/* Overwrites what the file gives in c, which holds the defaults, and notes where it was given. `name` stands in
 * messages. Adds a line "NAME:LINE: …" to `faults` for everything that is wrong; false if the rest of the file could
 * not be read for it. Not thread-safe, as libconfuse's lexer is not. */
bool config_file_read(FILE *file, const char *name, struct config *c, struct buf *faults) CHECKED;
