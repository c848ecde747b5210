#include "documents/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *docs_member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

char *docs_tag_path(const char *tag)
{
    char *path = mem_printf("/docs/api/%s", tag);
    for (char *c = strrchr(path, '/') + 1; *c; c++)
        *c = *c == ' ' ? '-' : (char)(*c | 0x20);
    return path;
}

static char *path_of(const struct docs_row *row)
{
    return docs_tag_path(json_string_value(json_array_get(json_object_get(row->operation, "tags"), 0)));
}

void docs_put_operation_link(const struct docs_row *row, struct docs_out *out)
{
    char *path = path_of(row);
    docs_link(out, path, docs_member(row->operation, "operationId"), str_z(docs_member(row->operation, "summary")));
    free(path);
}

void docs_put_line(const struct docs_row *row, struct docs_out *out)
{
    char class[32], method[16];
    size_t n = 0;
    for (const char *c = row->method; *c && n < sizeof method - 1; c++)
        method[n++] = (char)(*c & ~0x20);
    method[n] = '\0';
    snprintf(class, sizeof class, "method %s", row->method);
    docs_strong(out, class, method);
    buf_char(out->to, ' ');
    docs_word(out, row->path);
}

static bool is_tagged(const json_t *operation, const char *tag)
{
    return !tag || strcmp(json_string_value(json_array_get(json_object_get(operation, "tags"), 0)), tag) == 0;
}

static void visit_paths(const json_t *document, const char *tag, bool item,
                        void (*visit)(void *arg, const struct docs_row *row), void *arg)
{
    struct docs_row row = {0};
    json_t *methods, *operation;
    json_object_foreach (json_object_get(document, "paths"), row.path, methods) {
        if ((strchr(row.path, '{') != NULL) != item)
            continue;
        json_object_foreach (methods, row.method, operation) {
            row.operation = operation;
            if (is_tagged(operation, tag))
                visit(arg, &row);
        }
    }
}

void docs_each_operation(const json_t *document, const char *tag, void (*visit)(void *arg, const struct docs_row *row),
                         void *arg)
{
    visit_paths(document, tag, false, visit, arg);
    visit_paths(document, tag, true, visit, arg);
}

const json_t *docs_schema(const json_t *holder)
{
    return json_object_get(json_object_get(json_object_get(holder, "content"), "application/json"), "schema");
}
