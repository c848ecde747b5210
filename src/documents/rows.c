#include "documents/rows.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/openapi_prose.h"
#include "base/mem.h"
#include "resources/routes.h"
#include "sandbox/routes.h"

/* ---- all rows ---- */

struct row_list {
    const struct route *all[DOCS_ROWS_MAX];
    size_t count;
};

static void collect_rows(struct row_list *list, const struct openapi *d)
{
    for (size_t i = 0; i < d->set_count; i++) {
        for (size_t j = 0; j < d->sets[i]->count; j++) {
            const struct route *row = &d->sets[i]->rows[j];
            if (row->flags & ROUTE_PAGE)
                continue;
            assert(list->count < DOCS_ROWS_MAX);
            list->all[list->count++] = row;
        }
    }
}

static bool is_same_path(const struct route *a, const struct route *b)
{
    char left[OPENAPI_PATH_MAX], right[OPENAPI_PATH_MAX];
    openapi_path(a, left);
    openapi_path(b, right);
    return strcmp(left, right) == 0;
}

/* Moves the rows with that one's path to the reference. */
static void move_path_rows(struct row_list *list, const struct route *first, struct docs_reference *r)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!list->all[i] || !is_same_path(list->all[i], first))
            continue;
        r->rows[r->row_count++] = list->all[i];
        list->all[i] = NULL;
    }
}

static void order_rows(struct row_list *list, struct docs_reference *r)
{
    for (int item = 0; item < 2; item++)
        for (size_t i = 0; i < list->count; i++)
            if (list->all[i] && (strchr(list->all[i]->path, '{') != NULL) == item)
                move_path_rows(list, list->all[i], r);
}

static void add_tag_once(struct docs_reference *r, const char *tag)
{
    for (size_t i = 0; i < r->tag_count; i++)
        if (strcmp(r->tags[i], tag) == 0)
            return;
    assert(r->tag_count < DOCS_TAGS_MAX);
    r->tags[r->tag_count++] = tag;
}

void docs_reference_init(struct docs_reference *r, const char *base, bool sandbox)
{
    struct row_list list = {.count = 0};
    *r = (struct docs_reference){.base = base,
                                 .sandbox = sandbox,
                                 .description = openapi_contract.description,
                                 .examples = openapi_contract.examples()};
    collect_rows(&list, &openapi_contract);
    if (sandbox)
        collect_rows(&list, &openapi_sandbox);
    for (size_t i = 0; i < list.count; i++)
        add_tag_once(r, list.all[i]->doc.tag);
    order_rows(&list, r);
}

void docs_reference_done(struct docs_reference *r)
{
    json_decref(r->examples);
}

void docs_each_operation(const struct docs_reference *r, const char *tag,
                         void (*visit)(void *arg, const struct route *row), void *arg)
{
    for (size_t i = 0; i < r->row_count; i++)
        if (!tag || strcmp(r->rows[i]->doc.tag, tag) == 0)
            visit(arg, r->rows[i]);
}

/* ---- a row ---- */

char *docs_tag_path(const char *tag)
{
    char *path = mem_printf("/docs/api/%s", tag);
    for (char *c = strrchr(path, '/') + 1; *c; c++)
        *c = *c == ' ' ? '-' : (char)(*c | 0x20);
    return path;
}

void docs_put_operation_link(const struct route *row, struct docs_out *out)
{
    char *path = docs_tag_path(row->doc.tag);
    docs_link(out, path, row->operation_id, str_z(row->doc.summary));
    free(path);
}

void docs_put_line(const struct route *row, struct docs_out *out)
{
    char class[32], path[OPENAPI_PATH_MAX];
    snprintf(class, sizeof class, "method %s", openapi_method(row));
    docs_strong(out, class, http_method_names[row->method].p);
    buf_char(out->to, ' ');
    openapi_path(row, path);
    docs_word(out, path);
}
