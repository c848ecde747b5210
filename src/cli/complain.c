#include "cli/complain.h"

#include <glib.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "base/str.h"
#include "base/terminal.h"

/* Libraries' messages may have several lines: joins them by blanks. Returns the length of what a terminal may get. */
static size_t one_line(char *text)
{
    size_t n = 0;
    for (const char *p = text; *p; p++) {
        bool blank = g_ascii_iscntrl(*p);
        if (!blank || (n && text[n - 1] != ' '))
            text[n++] = blank ? ' ' : *p;
    }
    while (n && text[n - 1] == ' ')
        n--;
    return terminal_clean(text, n);
}

void complain(const char *fmt, ...)
{
    char line[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    const size_t n = one_line(line);
    fprintf(stderr, "%sportero: %.*s\n", log_prefix(LOG_ERROR), (int)n, line);
}

void complain_lines(const char *text)
{
    for (struct str rest = str_z(text), line; rest.p;) {
        line = str_cut(rest, '\n', &rest);
        complain("%.*s", STR_ARG(line));
    }
}
