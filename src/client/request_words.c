#include "client/request_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "client/operation_row.h"

#define TEXT_MAX  8192
#define PATH_CHAR "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_{}-"

static const char *const methods[] = {"GET ", "POST ", "PUT ", "PATCH ", "DELETE "};

/* Whether the path is one of the row; if so, appends the arguments of its command, but for {names} in place of them.
 */
static bool match_path(struct str pattern, struct str path, struct buf *arguments)
{
    struct str part, given;
    while (pattern.p && path.p) {
        part = str_cut(pattern, '/', &pattern);
        given = str_cut(path, '/', &path);
        const bool parameter = part.n && part.p[0] == '{';
        if (!parameter && !str_eq(part, given))
            return false;
        if (parameter && given.n && given.p[0] != '{')
            buf_printf(arguments, " %.*s", STR_ARG(given));
    }
    return !pattern.p && !path.p;
}

/* Appends the command of the row if the request is one of it. */
static bool put_command(const struct operation_row *row, struct str method, struct str path, struct buf *out)
{
    struct buf arguments = BUF(TEXT_MAX);
    const bool found = str_eq(str_z(row->method), method) && match_path(str_z(row->path), path, &arguments);
    if (found)
        buf_printf(out, "`portero %s%.*s`", row->name, STR_ARG(buf_view(&arguments)));
    buf_done(&arguments);
    return found;
}

static bool append_command_words(struct str method, struct str path, struct buf *out)
{
    for (const struct operation_row *row = operation_rows; row->id; row++)
        if (put_command(row, method, path, out))
            return true;
    return false;
}

/* Appends the command of a request line at the beginning of the text. Returns the length of the line; 0: there is none.
 */
static size_t put_request(const char *text, struct buf *out)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const size_t n = strlen(methods[i]);
        if (strncmp(text, methods[i], n) != 0 || text[n] != '/')
            continue;
        const size_t length = strspn(text + n, PATH_CHAR);
        if (text[n + length] != '?' && append_command_words(str_n(methods[i], n - 1), str_n(text + n, length), out))
            return n + length;
    }
    return 0;
}

void request_words_put(struct str text, struct buf *out)
{
    char *copy = mem_strndup(text.p, text.n);
    for (const char *p = copy; *p;) {
        const size_t n = p == copy || p[-1] == ' ' ? put_request(p, out) : 0;
        if (!n)
            buf_char(out, *p);
        p += n ? n : 1;
    }
    free(copy);
}

static bool has_requests(const char *name)
{
    const char *end = "command";
    const size_t n = strlen(name), m = strlen(end);
    return strcmp(name, "next_action") == 0 || (n >= m && strcmp(name + n - m, end) == 0);
}

void request_words_replace(json_t *value)
{
    const char *name;
    json_t *member;
    void *next;
    size_t i;
    json_array_foreach (value, i, member) {
        request_words_replace(member);
    }
    json_object_foreach_safe(value, next, name, member)
    {
        if (!json_is_string(member)) {
            request_words_replace(member);
        } else if (has_requests(name)) {
            struct buf text = BUF(TEXT_MAX);
            request_words_put(str_z(json_string_value(member)), &text);
            if (!text.full)
                json_object_set_new(value, name, json_stringn(text.p ? text.p : "", text.n));
            buf_done(&text);
        }
    }
}
