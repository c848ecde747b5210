#include "client/print.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/terminal.h"

#define CELL_MAX     4096
#define COLUMNS_MAX  24
#define NAME_MAX_LEN 256
#define LISTED_MAX   30 /* characters of a cell in a list that does not fit */
#define DEPTH_MAX    3  /* deeper objects print as JSON */

static void put_cell(const json_t *value, struct buf *out)
{
    if (json_is_string(value)) {
        buf_put(out, json_string_value(value), json_string_length(value));
    } else if (json_is_integer(value)) {
        buf_i64(out, json_integer_value(value));
    } else if (json_is_boolean(value)) {
        buf_printf(out, "%s", json_is_true(value) ? "yes" : "no");
    } else if (json_array_size(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (i)
                buf_char(out, ',');
            put_cell(json_array_get(value, i), out);
        }
    } else if (json_is_object(value)) {
        char *text = json_dumps(value, JSON_COMPACT);
        buf_str(out, str_z(text ? text : ""));
        free(text);
    } else {
        buf_char(out, '-');
    }
}

static bool is_first_byte(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static int count_shown(struct str text)
{
    int shown = 0;
    for (size_t i = 0; i < text.n; i++)
        shown += is_first_byte(text.p[i]);
    return shown;
}

/* Cuts the text to so many characters, the last of which then is an ellipsis. */
static void cut_cell(struct buf *text, int most)
{
    size_t at = 0;
    for (int shown = 0; at < text->n && (shown += is_first_byte(text->p[at])) < most; at++)
        ;
    text->n = at;
    buf_lit(text, "…");
}

/* Prints the text, which it frees, padded to `width`, and cut to `most` characters (0: any number), unless out is NULL.
 * Returns its width. */
static int print_padded(struct buf *text, int width, int most, FILE *out)
{
    text->n = terminal_clean(text->p, text->n);
    int shown = count_shown(buf_view(text));
    if (most && shown > most) {
        cut_cell(text, most);
        shown = most;
    }
    if (out)
        fprintf(out, "%.*s%*s", STR_ARG(buf_view(text)), width > shown ? width - shown : 0, "");
    buf_done(text);
    return shown;
}

static int print_cell(const json_t *value, int width, int most, FILE *out)
{
    struct buf text = BUF(CELL_MAX);
    put_cell(value, &text);
    return print_padded(&text, width, most, out);
}

/* The name of a member, or its width alone if out is NULL. */
static int print_member_name(const char *name, int width, FILE *out)
{
    struct buf text = BUF(CELL_MAX);
    buf_str(&text, str_z(name));
    return print_padded(&text, width, 0, out);
}

static int wider(int a, int b)
{
    return a > b ? a : b;
}

struct table {
    const json_t *rows;
    const char *columns[COLUMNS_MAX];
    int widths[COLUMNS_MAX];
    size_t count;
    int most; /* characters of a cell; 0: any number */
};

static bool is_among(const char *name, const char *const *names)
{
    return names && str_index(str_z(name), names) >= 0;
}

static void print_add_column(struct table *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (!strcmp(t->columns[i], name))
            return;
    if (t->count < COLUMNS_MAX)
        t->columns[t->count++] = name;
}

/* Finds the columns and the width of the widest cell of each. Without `hidden`, a column may be empty. */
static void measure_columns(struct table *t, const char *const *hidden)
{
    const char *name;
    json_t *row, *value;
    size_t r;
    json_array_foreach (t->rows, r, row) {
        json_object_foreach (row, name, value) {
            if (!is_among(name, hidden) && !(hidden && json_is_null(value)))
                print_add_column(t, name);
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        t->widths[i] = print_member_name(t->columns[i], 0, NULL);
        json_array_foreach (t->rows, r, row) {
            t->widths[i] = wider(t->widths[i], print_cell(json_object_get(row, t->columns[i]), 0, 0, NULL));
        }
    }
}

static int table_width(const struct table *t, const char *indent)
{
    int width = (int)strlen(indent) + 2 * ((int)t->count - 1);
    for (size_t i = 0; i < t->count; i++)
        width += t->widths[i];
    return width;
}

/* The last column is not padded. */
static int padding(const struct table *t, size_t column)
{
    return column + 1 < t->count ? t->widths[column] : 0;
}

static void print_lines(const struct table *t, const char *indent, FILE *out)
{
    for (size_t i = 0; i < t->count; i++) {
        fputs(i ? "  " : indent, out);
        print_member_name(t->columns[i], padding(t, i), out);
    }
    fputc('\n', out);
    json_t *row;
    size_t r;
    json_array_foreach (t->rows, r, row) {
        for (size_t i = 0; i < t->count; i++) {
            fputs(i ? "  " : indent, out);
            print_cell(json_object_get(row, t->columns[i]), padding(t, i), t->most, out);
        }
        fputc('\n', out);
    }
}

/* A line for each cell, and an empty one between rows. */
static void print_blocks(const struct table *t, const char *indent, FILE *out)
{
    json_t *row;
    size_t r;
    int width = 0;
    for (size_t i = 0; i < t->count; i++)
        width = wider(width, print_member_name(t->columns[i], 0, NULL));
    json_array_foreach (t->rows, r, row) {
        if (r)
            fputc('\n', out);
        for (size_t i = 0; i < t->count; i++) {
            fputs(indent, out);
            print_member_name(t->columns[i], width, out);
            fputs("  ", out);
            print_value(json_object_get(row, t->columns[i]), out);
            fputc('\n', out);
        }
    }
}

/* Keeps the first column, and those after it that there is room for. */
static void fit_columns(struct table *t, int columns)
{
    int width = 0;
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        const int more = (kept ? 2 : 0) + (t->widths[i] < LISTED_MAX ? t->widths[i] : LISTED_MAX);
        if (kept && width + more > columns)
            continue;
        width += more;
        t->columns[kept] = t->columns[i];
        t->widths[kept++] = t->widths[i] < LISTED_MAX ? t->widths[i] : LISTED_MAX;
    }
    t->count = kept;
    t->most = LISTED_MAX;
}

static void print_table(const json_t *rows, const char *const *hidden, const char *indent, int columns, FILE *out)
{
    struct table t = {.rows = rows};
    measure_columns(&t, hidden);
    const bool wide = columns && table_width(&t, indent) > columns;
    if (wide && hidden)
        fit_columns(&t, columns);
    if (wide && !hidden)
        print_blocks(&t, indent, out);
    else
        print_lines(&t, indent, out);
}

void print_value(const json_t *value, FILE *out)
{
    (void)print_cell(value, 0, 0, out);
}

/* Puts the members into `flat`, and the members of an object within as "object.member". */
static void flatten(const json_t *object, const char *prefix, int depth, json_t *flat)
{
    char full[NAME_MAX_LEN];
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)object, name, value) {
        snprintf(full, sizeof full, "%s%s%s", prefix, *prefix ? "." : "", name);
        if (json_object_size(value) && depth < DEPTH_MAX)
            flatten(value, full, depth + 1, flat);
        else
            json_object_set(flat, full, value);
    }
}

static void print_members(const json_t *object, int columns, FILE *out)
{
    const char *name;
    json_t *value;
    int width = 0;
    json_object_foreach ((json_t *)object, name, value) {
        width = wider(width, print_member_name(name, 0, NULL));
    }
    json_object_foreach ((json_t *)object, name, value) {
        if (json_is_object(json_array_get(value, 0))) {
            print_member_name(name, 0, out);
            fputc('\n', out);
            print_table(value, NULL, "  ", columns, out);
            continue;
        }
        print_member_name(name, width, out);
        fputs("  ", out);
        print_value(value, out);
        fputc('\n', out);
    }
}

int print_columns(FILE *out)
{
    struct winsize size;
    const int fd = fileno(out);
    return fd >= 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void print_text_without(const json_t *answer, const char *const *hidden, int columns, FILE *out)
{
    const json_t *rows = json_object_get(answer, "data");
    if (!json_is_array(rows)) {
        json_t *flat = json_object();
        flatten(answer, "", 0, flat);
        print_members(flat, columns, out);
        json_decref(flat);
    } else if (json_array_size(rows) == 0) {
        fputs("none\n", out);
    } else {
        print_table(rows, hidden, "", columns, out);
    }
}

void print_json_line(struct str json)
{
    terminal_print_json(json, stdout);
    fputc('\n', stdout);
}

void print_text(const json_t *answer, FILE *out)
{
    print_text_without(answer, NULL, print_columns(out), out);
}
