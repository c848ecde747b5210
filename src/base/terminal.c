#include "base/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"

#define BEYOND_PLANE0 0x10000

/* The bytes of the first character, and whether a terminal may get it. *ret is the character, 0 if it is not UTF-8. */
static size_t next_character(const char *p, size_t n, uint32_t *ret, bool *ret_shown)
{
    uint32_t c = 0;
    const size_t length = utf8_read(p, n, &c);
    *ret = c;
    *ret_shown = c && !utf8_commands(c);
    return length ? length : 1;
}

static size_t clean_all_but(const char *kept, char *text, size_t n)
{
    size_t to = 0;
    for (size_t at = 0, length; at < n; at += length) {
        uint32_t c;
        bool shown;
        length = next_character(text + at, n - at, &c, &shown);
        if (!shown && !(c && c < 0x80 && strchr(kept, (int)c))) {
            text[to++] = '?';
            continue;
        }
        memmove(text + to, text + at, length);
        to += length;
    }
    return to;
}

size_t terminal_clean(char *text, size_t n)
{
    return clean_all_but("", text, n);
}

void terminal_print(FILE *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = mem_vprintf(fmt, ap);
    va_end(ap);
    fwrite(text, 1, terminal_clean(text, strlen(text)), out);
    free(text);
}

void terminal_print_lines(struct str text, FILE *out)
{
    char *copy = mem_strndup(text.p ? text.p : "", text.n);
    fwrite(copy, 1, clean_all_but("\n\t", copy, strlen(copy)), out);
    free(copy);
}

static void print_json_escape(uint32_t c, FILE *out)
{
    if (c < BEYOND_PLANE0)
        fprintf(out, "\\u%04x", c);
    else
        fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((c - BEYOND_PLANE0) >> 10), 0xdc00 + (c & 0x3ff));
}

void terminal_print_json(struct str json, FILE *out)
{
    const int fd = fileno(out);
    const bool terminal = fd >= 0 && isatty(fd);
    for (size_t at = 0, length; terminal && at < json.n; at += length) {
        uint32_t c;
        bool shown;
        length = next_character(json.p + at, json.n - at, &c, &shown);
        if (shown || c == '\n' || c == '\t') /* JSON has no others of these within strings */
            fwrite(json.p + at, 1, length, out);
        else if (c >= ' ')
            print_json_escape(c, out);
    }
    if (!terminal)
        fwrite(json.p, 1, json.n, out);
}
