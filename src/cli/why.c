#include "cli/why.h"

#include <stdarg.h>
#include <stdio.h>

enum err why(char **ret_why, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(ret_why, fmt, ap) < 0)
        *ret_why = NULL;
    va_end(ap);
    return ERR_USAGE;
}
