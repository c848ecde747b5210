#include "client/complain.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "base/str.h"
#include "base/terminal.h"

static const char *name = "portero";

void complain_as(const char *program)
{
    name = program;
}

const char *complain_name(void)
{
    return name;
}

/* Libraries' messages may have several lines: joins them by blanks. Returns the length of the text for a terminal. */
static size_t one_line(char *text)
{
    size_t n = 0;
    for (const char *p = text; *p; p++) {
        bool blank = (unsigned char)*p < ' ' || *p == 0x7f;
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
    fprintf(stderr, "%s%s: %.*s\n", log_prefix(LOG_ERROR), name, (int)n, line);
}

void complain_lines(const char *text)
{
    for (struct str rest = str_z(text), line; rest.p;) {
        line = str_cut(rest, '\n', &rest);
        complain("%.*s", STR_ARG(line));
    }
}
