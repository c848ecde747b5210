/* The rest that the program portero needs of a Unix system besides POSIX.1-2008 (scripts/portable): declared here,
 * because headers hide it from a strict program. glibc, musl, macOS and the BSDs have it. */
#pragma once
#include <time.h>

/* The seconds since 1970 of a time in UTC; makes its members regular (POSIX.1-2024). */
time_t timegm(struct tm *utc);
