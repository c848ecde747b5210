#include "cli/print.h"

#include <glib.h>
#include <stdlib.h>

#include "base/buf.h"

#define CELL_MAX    4096
#define COLUMNS_MAX 16

static void put_value(const json_t *value, struct buf *out)
{
    if (json_is_string(value)) {
        buf_put(out, json_string_value(value), json_string_length(value));
    } else if (json_is_integer(value)) {
        buf_i64(out, json_integer_value(value));
    } else if (json_is_boolean(value)) {
        buf_printf(out, "%s", json_is_true(value) ? "yes" : "no");
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (i)
                buf_char(out, ',');
            put_value(json_array_get(value, i), out);
        }
    } else if (json_is_object(value)) {
        char *text = json_dumps(value, JSON_COMPACT);
        buf_str(out, str_z(text ? text : ""));
        free(text);
    } else {
        buf_char(out, '-');
    }
}

/* Prints one value; its control characters, which a terminal would obey, as '?'. Returns the width it took. */
static int print_value(const json_t *value, int width, FILE *out)
{
    struct buf text = BUF(CELL_MAX);
    put_value(value, &text);
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 127)
            text.p[i] = '?';
    int shown = (int)g_utf8_strlen(buf_view(&text).p, (gssize)text.n);
    if (out)
        fprintf(out, "%.*s%*s", STR_ARG(buf_view(&text)), width > shown ? width - shown : 0, "");
    buf_done(&text);
    return shown;
}

static void print_table(const json_t *rows, const char *indent, FILE *out)
{
    const char *columns[COLUMNS_MAX], *name;
    int widths[COLUMNS_MAX];
    size_t count = 0, r;
    json_t *row, *value;
    json_object_foreach(json_array_get(rows, 0), name, value) if (count < COLUMNS_MAX) columns[count++] = name;
    for (size_t i = 0; i < count; i++) {
        widths[i] = (int)strlen(columns[i]);
        json_array_foreach(rows, r, row) widths[i] =
            MAX(widths[i], print_value(json_object_get(row, columns[i]), 0, NULL));
        fprintf(out, "%s%-*s%s", i ? "" : indent, i + 1 < count ? widths[i] : 0, columns[i],
                i + 1 < count ? "  " : "\n");
    }
    json_array_foreach(rows, r, row) for (size_t i = 0; i < count; i++)
    {
        fputs(i ? "  " : indent, out);
        print_value(json_object_get(row, columns[i]), i + 1 < count ? widths[i] : 0, out);
        if (i + 1 == count)
            fputc('\n', out);
    }
}

static void print_object(const json_t *object, FILE *out)
{
    const char *name;
    json_t *value;
    int width = 0;
    json_object_foreach((json_t *)object, name, value) width = MAX(width, (int)strlen(name));
    json_object_foreach((json_t *)object, name, value)
    {
        bool table = json_is_object(json_array_get(value, 0));
        if (table) {
            fprintf(out, "%s\n", name);
            print_table(value, "  ", out);
            continue;
        }
        fprintf(out, "%-*s  ", width, name);
        print_value(value, 0, out);
        fputc('\n', out);
    }
}

void print_text(const json_t *answer, FILE *out)
{
    const json_t *rows = json_object_get(answer, "data");
    if (!json_is_array(rows))
        print_object(answer, out);
    else if (json_array_size(rows) == 0)
        fputs("none\n", out);
    else
        print_table(rows, "", out);
}
