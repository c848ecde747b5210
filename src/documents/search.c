#include "documents/search.h"

#include <stdlib.h>
#include <string.h>

#include "api/openapi_errors.h"
#include "api/openapi_parameters.h"
#include "api/openapi_prose.h"
#include "base/mem.h"
#include "documents/errors.h"
#include "documents/markdown.h"

#define SNIPPET_MAX 20000 /* of a section */
#define WORDS_MAX   (1U << 20)
#define NESTING_MAX 5

void docs_index(json_t *index, struct str kind, struct str title, json_t *path, struct str words)
{
    const size_t n = words.n < SNIPPET_MAX ? words.n : SNIPPET_MAX;
    json_t *text = json_stringn(words.p, n);
    if (!text) /* cut within a character */
        text = json_string("");
    json_array_append_new(index, json_pack("{s:s%, s:s%, s:o, s:o}", "kind", kind.p, kind.n, "title", title.p, title.n,
                                           "path", path, "text", text));
}

void docs_index_guide(json_t *index, const struct docs_guide *g, const char *path, const json_t *sections)
{
    size_t i;
    json_t *section;
    json_array_foreach (sections, i, section) {
        const bool first = json_integer_value(json_object_get(section, "level")) == 1;
        docs_index(index, docs_title(g), str_z(docs_member(section, "title")),
                   first ? json_string(path) : json_sprintf("%s#%s", path, docs_member(section, "id")),
                   str_z(docs_member(section, "text")));
        if (g->readers == DOCS_FOR_FEW)
            json_object_set_new(json_array_get(index, json_array_size(index) - 1), "deep", json_true());
    }
}

/* Names and meanings of fields, and of fields within. */
static void put_field_words(const struct shape *shape, int depth, struct buf *out)
{
    for (size_t i = 0; shape->variants && shape->variants[i]; i++)
        put_field_words(shape->variants[i], depth, out);
    for (size_t i = 0; !shape->variants && i < shape->field_count; i++) {
        const struct field *f = &shape->fields[i];
        buf_printf(out, "%s %s ", f->name, f->doc ? f->doc : "");
        if (f->sub && depth < NESTING_MAX)
            put_field_words(f->sub, depth + 1, out);
    }
}

static void put_error_words(const struct route *row, struct buf *out)
{
    struct error_set errors;
    openapi_errors(row, &errors);
    for (int e = 1; e < ERR_TABLE_END; e++)
        if (errors.has[e])
            buf_printf(out, "%s ", err_info((enum err)e)->code);
}

static void put_operation_words(const struct route *row, struct buf *out)
{
    char path[OPENAPI_PATH_MAX];
    struct parameter parameters[PARAMETERS_MAX];
    const size_t count = openapi_parameters(row, parameters);
    openapi_path(row, path);
    buf_printf(out, "%s %s ", row->operation_id, path);
    openapi_describe(row, out);
    buf_char(out, ' ');
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s %s ", parameters[i].field->name, parameters[i].field->doc ? parameters[i].field->doc : "");
    if (row->body)
        put_field_words(row->body, 0, out);
    put_error_words(row, out);
}

static void index_operation(void *arg, const struct route *row)
{
    json_t *index = arg;
    char path[OPENAPI_PATH_MAX];
    struct buf words = BUF(WORDS_MAX), kind = BUF(OPENAPI_PATH_MAX + 16);
    char *page = docs_tag_path(row->doc.tag);
    put_operation_words(row, &words);
    openapi_path(row, path);
    buf_printf(&kind, "%s %s", http_method_names[row->method].p, path);
    docs_index(index, buf_view(&kind), str_z(row->doc.summary), json_sprintf("%s#%s", page, row->operation_id),
               buf_view(&words));
    buf_done(&words);
    buf_done(&kind);
    free(page);
}

static void index_error(void *arg, const struct err_info *info)
{
    char *anchor = docs_error_anchor(info), *kind = mem_printf("Error %d", info->status);
    char *words = mem_printf("%s %s", info->message, info->next_action);
    docs_index(arg, str_z(kind), str_z(info->code), json_sprintf(DOCS_ERRORS_PATH "#%s", anchor), str_z(words));
    free(anchor);
    free(kind);
    free(words);
}

void docs_index_reference(json_t *index, const struct docs_reference *r)
{
    docs_each_operation(r, NULL, index_operation, index);
    docs_each_error(r, index_error, index);
}
