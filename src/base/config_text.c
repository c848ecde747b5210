#include "base/config_text.h"

#include <errno.h>
#include <string.h>

#define FILE_MAX   (1U << 20)
#define DEPTH_MAX  16 /* sections nest two deep */
#define DELIMITERS " \t\r\n#\"'={}()+,"

/* The length of the comment at p without its line end; 0 if no comment begins here. */
static size_t comment_length(const char *p)
{
    if (*p == '#' || strncmp(p, "//", 2) == 0)
        return strcspn(p, "\n");
    if (strncmp(p, "/*", 2) != 0)
        return 0;
    const char *end = strstr(p + 2, "*/");
    return end ? (size_t)(end - p) + 2 : strlen(p);
}

/* The length of the string at p with its quotes. */
static size_t string_length(const char *p)
{
    size_t n = 1;
    while (p[n] && p[n] != *p)
        n += p[n] == '\\' && p[n + 1] ? 2 : 1;
    return n + (p[n] ? 1 : 0);
}

static unsigned count_lines(const char *p, size_t n)
{
    unsigned lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += p[i] == '\n';
    return lines;
}

static void blank(char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != '\n')
            p[i] = ' ';
}

struct scan {
    unsigned line, depth, opened[DEPTH_MAX]; /* lines of the open braces */
    unsigned comment;                        /* line of an unclosed comment */
};

static void note_brace(struct scan *s, char c)
{
    if (c == '{' && s->depth < DEPTH_MAX)
        s->opened[s->depth++] = s->line;
    else if (c == '}' && s->depth > 0)
        s->depth--;
}

/* Handles the comment, string, word or character at p: blanks comments, counts braces. Returns its length. */
static size_t scan_token(struct scan *s, char *p)
{
    size_t n = comment_length(p);
    if (n) {
        if (p[0] == '/' && p[1] == '*' && (n < 4 || strncmp(p + n - 2, "*/", 2) != 0))
            s->comment = s->line;
        s->line += count_lines(p, n);
        blank(p, n);
        return n;
    }
    if (*p == '"' || *p == '\'') {
        n = string_length(p);
    } else if ((n = strcspn(p, DELIMITERS)) == 0) {
        n = 1;
        note_brace(s, *p);
    }
    s->line += count_lines(p, n);
    return n;
}

static unsigned blank_comments(char *text)
{
    struct scan s = {.line = 1};
    while (*text)
        text += scan_token(&s, text);
    return s.comment ? s.comment : s.depth ? s.opened[s.depth - 1] : 0;
}

bool config_text_read(FILE *file, struct arena *a, struct config_text *ret, const char **ret_rule)
{
    struct buf b = BUF(FILE_MAX + 1);
    char part[BUFSIZ];
    size_t n;
    while ((n = fread(part, 1, sizeof part, file)) > 0)
        buf_put(&b, part, n);
    *ret_rule = ferror(file)                    ? strerror(errno)
                : b.full || b.n > FILE_MAX      ? "is larger than 1 MiB"
                : b.n && memchr(b.p, '\0', b.n) ? "is not a text"
                                                : NULL;
    if (!*ret_rule) {
        buf_char(&b, '\0');
        unsigned unclosed = blank_comments(b.p);
        *ret = (struct config_text){(char *)arena_str(a, buf_view(&b)).p, unclosed};
    }
    buf_done(&b);
    return !*ret_rule;
}

/* ---- removing a key ---- */

static char *skip_blanks(struct scan *s, char *p)
{
    size_t n = strspn(p, " \t\r\n");
    s->line += count_lines(p, n);
    return p + n;
}

/* The end of the token at p; at an opening brace, of the block up to its closing brace. */
static char *skip_value(struct scan *s, char *p)
{
    const unsigned depth = s->depth;
    do {
        if (*p)
            p += scan_token(s, p);
    } while (*p && s->depth > depth);
    return p;
}

/* The end of a key's value, which begins after its name; NULL without a value. */
static char *skip_given(struct scan *s, char *p)
{
    p = skip_blanks(s, p);
    if (*p == '+')
        p++;
    if (*p == '=')
        return skip_value(s, skip_blanks(s, p + 1));
    if (*p == '(')
        return p + strcspn(p, ")\n") + (p[strcspn(p, ")\n")] == ')');
    if (*p != '{')
        p = skip_blanks(s, skip_value(s, p)); /* a section's title */
    return *p == '{' ? skip_value(s, p) : NULL;
}

bool config_text_forget(struct config_text *text, unsigned line, const char *name)
{
    struct scan s = {.line = 1};
    for (char *p = text->p, *end; *p && s.line <= line; p = end) {
        const bool here = s.line == line;
        const size_t n = scan_token(&s, p);
        end = p + n;
        if (!here || n != strlen(name) || memcmp(p, name, n) != 0)
            continue;
        struct scan ahead = s;
        char *given = skip_given(&ahead, end);
        if (given) {
            blank(p, (size_t)(given - p));
            return true;
        }
    }
    return false;
}

/* ---- entries ---- */

char *config_text_blanked(struct arena *a, struct str text)
{
    char *copy = (char *)arena_str(a, text).p;
    (void)blank_comments(copy);
    return copy;
}

void config_text_words(const char *text, struct buf *out)
{
    struct scan s = {.line = 1};
    for (char *p = skip_blanks(&s, (char *)(uintptr_t)text); *p;) {
        const size_t n = scan_token(&s, p);
        buf_printf(out, "%.*s\n", (int)n, p);
        p = skip_blanks(&s, p + n);
    }
}

static struct str unquoted_value(const char *p, size_t n)
{
    const bool quoted = n >= 2 && (*p == '"' || *p == '\'');
    return str_n(p + quoted, n - 2 * quoted);
}

bool config_text_entry(const char *from, struct config_entry *ret)
{
    struct scan s = {.line = 1};
    char *p = skip_blanks(&s, (char *)(uintptr_t)from); /* without comments, nothing is written */
    struct config_entry e = {.name = p, .name_n = *p && *p != '}' ? scan_token(&s, p) : 0};
    p = skip_blanks(&s, p + e.name_n);
    if (*p == '+')
        p++;
    if (*p == '=') {
        p = skip_blanks(&s, p + 1);
        e.value = p;
    } else if (*p && *p != '{' && *p != '}') {
        const size_t n = scan_token(&s, p);
        e.title = unquoted_value(p, n);
        p = skip_blanks(&s, p + n);
    }
    if (!e.name_n || !*p || (!e.value && *p != '{'))
        return false;
    e.inside = e.value ? NULL : p + 1;
    e.end = skip_value(&s, p);
    *ret = e;
    return true;
}
