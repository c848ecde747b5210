/* The schema of a database file that others may have written, compared before anything of it can run. */
#pragma once
#include "base/err.h"

/* Compares the schema of the SQLite database with what this program's migrations make up to its version. Fails with
 * ERR_IO and *ret_why (caller frees) if it is another one, ERR_USAGE if its version is a later one. Nothing of the file
 * runs, and nothing is written. */
enum err schema_check(const char *path, char **ret_why) CHECKED;
