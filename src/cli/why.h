/* "What and where" of a failed start, for one line on standard error. */
#pragma once
#include "base/err.h"

/* Sets *ret_why to the formatted text (owned by the caller, free) and returns ERR_USAGE. */
enum err why(char **ret_why, const char *fmt, ...) __attribute__((format(printf, 2, 3))) CHECKED;
