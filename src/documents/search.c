#include "documents/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "documents/errors.h"
#include "documents/markdown.h"

#define SNIPPET_MAX 20000 /* of a section */
#define WORDS_MAX   (1U << 20)

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

/* Strings of a value, such as the names and meanings of fields. */
static void put_search_words(const json_t *value, int depth, struct buf *out)
{
    const char *name;
    size_t i;
    json_t *item;
    if (json_is_string(value))
        buf_printf(out, "%s ", json_string_value(value));
    else if (json_is_array(value) && depth < 8)
        json_array_foreach (value, i, item) {
            put_search_words(item, depth + 1, out);
        }
    else if (json_is_object(value) && depth < 8)
        json_object_foreach ((json_t *)(uintptr_t)value, name, item) {
            buf_printf(out, "%s ", name);
            put_search_words(item, depth + 1, out);
        }
}

static void index_operation(void *arg, const struct docs_row *row)
{
    json_t *index = arg;
    struct buf words = BUF(WORDS_MAX);
    const char *status, *id = docs_member(row->operation, "operationId");
    json_t *response;
    buf_printf(&words, "%s %s %s ", id, row->path, docs_member(row->operation, "description"));
    put_search_words(json_object_get(row->operation, "parameters"), 0, &words);
    put_search_words(json_object_get(row->operation, "requestBody"), 0, &words);
    json_object_foreach (json_object_get(row->operation, "responses"), status, response) {
        buf_printf(&words, "%s ", docs_member(response, "description"));
    }
    char *path = docs_tag_path(json_string_value(json_array_get(json_object_get(row->operation, "tags"), 0)));
    char *kind = mem_printf("%s %s", row->method, row->path);
    for (char *c = kind; *c != ' '; c++)
        *c &= ~0x20;
    docs_index(index, str_z(kind), str_z(docs_member(row->operation, "summary")), json_sprintf("%s#%s", path, id),
               buf_view(&words));
    buf_done(&words);
    free(kind);
    free(path);
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

void docs_index_reference(json_t *index, const json_t *document)
{
    docs_each_operation(document, NULL, index_operation, index);
    docs_each_error(document, index_error, index);
}
