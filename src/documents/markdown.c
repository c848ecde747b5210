#include "documents/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (1U << 20)

static cmark_parser *parser_of(struct str text)
{
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("table"));
    cmark_parser_feed(parser, text.p, text.n);
    return parser;
}

static void put_html(cmark_parser *parser, cmark_node *tree, struct buf *out)
{
    char *html = cmark_render_html(tree, CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser));
    buf_str(out, str_z(html));
    free(html);
}

/* Each line as a paragraph: no paragraph of ours is broken. */
static void put_lines(struct str text, struct docs_out *out)
{
    while (text.p) {
        const struct str line = str_cut(text, '\n', &text);
        if (!line.n)
            continue;
        docs_paragraph(out, NULL);
        buf_str(out->to, line);
        docs_paragraph_end(out);
    }
}

void docs_markdown(struct str text, struct docs_out *out)
{
    if (out->markdown) {
        put_lines(text, out);
        return;
    }
    cmark_parser *parser = parser_of(text);
    cmark_node *tree = cmark_parser_finish(parser);
    put_html(parser, tree, out->to);
    cmark_node_free(tree);
    cmark_parser_free(parser);
}

/* ---- guides ---- */

/* The text of a node and all below it. */
static void put_plain_text(cmark_node *node, struct buf *out)
{
    const char *literal = cmark_node_get_literal(node);
    const cmark_node_type type = cmark_node_get_type(node);
    if (literal)
        buf_str(out, str_z(literal));
    else if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK)
        buf_char(out, ' ');
    for (cmark_node *child = cmark_node_first_child(node); child; child = cmark_node_next(child))
        put_plain_text(child, out);
    if (type != CMARK_NODE_TEXT && type != CMARK_NODE_CODE && (type & CMARK_NODE_TYPE_MASK) == CMARK_NODE_TYPE_BLOCK)
        buf_char(out, ' ');
}

/* As GitHub names a heading: lower case, hyphens for spaces, no other punctuation. */
static void put_slug(struct str title, struct buf *out)
{
    for (size_t i = 0; i < title.n; i++) {
        const unsigned char c = (unsigned char)title.p[i];
        if (c == ' ')
            buf_char(out, '-');
        else if (isalnum(c) || c == '-' || c == '_' || c >= 0x80)
            buf_char(out, (char)tolower(c));
    }
}

/* Puts a block in place of the node that writes `before`, the node's children if they are kept, and `after`. */
static void replace_node(cmark_node *node, struct buf *before, const char *after, bool keep)
{
    cmark_node *block = cmark_node_new(CMARK_NODE_CUSTOM_BLOCK);
    buf_char(before, '\0');
    cmark_node_set_on_enter(block, before->p);
    cmark_node_set_on_exit(block, after);
    cmark_node_replace(node, block);
    for (cmark_node *child; keep && (child = cmark_node_first_child(node));)
        cmark_node_append_child(block, child);
    cmark_node_free(node);
}

static void add_section(json_t *sections, int level, struct str id, struct str title)
{
    json_array_append_new(sections, json_pack("{s:i, s:s%, s:s%, s:s}", "level", level, "id", id.p, id.n, "title",
                                              title.p, title.n, "text", ""));
}

static void replace_heading(cmark_node *node, json_t *sections)
{
    char after[8];
    const int level = cmark_node_get_heading_level(node);
    struct buf title = BUF(TEXT_MAX), id = BUF(TEXT_MAX), before = BUF(TEXT_MAX);
    put_plain_text(node, &title);
    const struct str trimmed = str_trim(buf_view(&title));
    put_slug(trimmed, &id);
    add_section(sections, level, buf_view(&id), trimmed);
    buf_printf(&before, "<h%d id=\"", level);
    buf_html(&before, buf_view(&id));
    buf_lit(&before, "\">");
    snprintf(after, sizeof after, "</h%d>", level);
    replace_node(node, &before, after, true);
    buf_done(&title);
    buf_done(&id);
    buf_done(&before);
}

static void replace_code(cmark_node *node)
{
    struct buf before = BUF(TEXT_MAX);
    buf_lit(&before, "<pre tabindex=\"0\"><code>");
    buf_html(&before, str_z(cmark_node_get_literal(node)));
    buf_lit(&before, "</code></pre>");
    replace_node(node, &before, "", false);
    buf_done(&before);
}

/* The heading of a column that has none. A heading row without any text is removed. */
static void mend_headings(cmark_node *table)
{
    cmark_node *row = cmark_node_first_child(table);
    struct buf text = BUF(TEXT_MAX);
    put_plain_text(row, &text);
    const bool empty = str_trim(buf_view(&text)).n == 0;
    buf_done(&text);
    if (empty) {
        cmark_node_free(row);
        return;
    }
    for (cmark_node *cell = cmark_node_first_child(row); cell; cell = cmark_node_next(cell)) {
        if (cmark_node_first_child(cell))
            continue;
        cmark_node *dash = cmark_node_new(CMARK_NODE_TEXT);
        cmark_node_set_literal(dash, "–");
        cmark_node_append_child(cell, dash);
    }
}

static void wrap_table(cmark_node *node, int number)
{
    struct buf before = BUF(TEXT_MAX);
    cmark_node *block = cmark_node_new(CMARK_NODE_CUSTOM_BLOCK);
    buf_printf(&before, "<div class=\"scroll\" role=\"region\" aria-label=\"Table %d\" tabindex=\"0\">", number);
    buf_char(&before, '\0');
    mend_headings(node);
    cmark_node_set_on_enter(block, before.p);
    cmark_node_set_on_exit(block, "</div>");
    cmark_node_insert_before(node, block);
    cmark_node_append_child(block, node);
    buf_done(&before);
}

static const struct docs_guide *find_guide(struct str file)
{
    for (const struct docs_guide *g = docs_guides; g->name; g++) {
        const size_t n = strlen(g->name);
        if (file.n == n + 3 && memcmp(file.p, g->name, n) == 0 && memcmp(file.p + n, ".md", 3) == 0)
            return g;
    }
    return NULL;
}

/* A link to a file that is not served becomes its text. Pages of behaviour link to guides by "../". */
static void replace_link(cmark_node *node)
{
    struct str rest, file = str_cut(str_z(cmark_node_get_url(node)), '#', &rest);
    if (file.n == 0 || str_starts(file, STR("http")))
        return;
    if (str_starts(file, STR("../")))
        file = str_from(file, 3);
    const struct docs_guide *guide = find_guide(file);
    if (guide) {
        struct buf url = BUF(TEXT_MAX);
        buf_printf(&url, "/docs/%s", guide->name);
        if (rest.p)
            buf_printf(&url, "#%.*s", STR_ARG(rest));
        buf_char(&url, '\0');
        cmark_node_set_url(node, url.p);
        buf_done(&url);
        return;
    }
    for (cmark_node *child; (child = cmark_node_first_child(node));)
        cmark_node_insert_before(node, child);
    cmark_node_free(node);
}

static void visit_node(cmark_node *node, json_t *sections, int *tables)
{
    for (cmark_node *child = cmark_node_first_child(node), *next; child; child = next) {
        next = cmark_node_next(child);
        visit_node(child, sections, tables);
        const cmark_node_type type = cmark_node_get_type(child);
        if (type == CMARK_NODE_HEADING)
            replace_heading(child, sections);
        else if (type == CMARK_NODE_CODE_BLOCK)
            replace_code(child);
        else if (type == CMARK_NODE_LINK)
            replace_link(child);
        else if (strcmp(cmark_node_get_type_string(child), "table") == 0)
            wrap_table(child, ++*tables);
    }
}

/* Adds the text of each top-level block to the section that it is in; the headings are not yet replaced. */
static void read_guide_sections(cmark_node *tree, json_t *sections)
{
    size_t at = 0;
    struct buf text = BUF(TEXT_MAX);
    for (cmark_node *node = cmark_node_first_child(tree); node; node = cmark_node_next(node)) {
        if (cmark_node_get_type(node) == CMARK_NODE_HEADING) {
            text.n = 0;
            at++;
        }
        put_plain_text(node, &text);
        if (at)
            json_object_set_new(json_array_get(sections, at - 1), "text", json_stringn(text.p, text.n));
    }
    buf_done(&text);
}

json_t *docs_put_guide(const struct docs_guide *guide, struct buf *out)
{
    json_t *sections = json_array();
    cmark_parser *parser = parser_of(str_z(guide->text));
    cmark_node *tree = cmark_parser_finish(parser);
    int tables = 0;
    visit_node(tree, sections, &tables);
    put_html(parser, tree, out);
    cmark_node_free(tree);
    cmark_parser_free(parser);
    parser = parser_of(str_z(guide->text));
    tree = cmark_parser_finish(parser);
    read_guide_sections(tree, sections);
    cmark_node_free(tree);
    cmark_parser_free(parser);
    return sections;
}

struct str docs_title(const struct docs_guide *guide)
{
    struct str rest, line = str_cut(str_z(guide->text), '\n', &rest);
    return str_trim(str_from(line, 1));
}

const char *docs_member(const json_t *section, const char *name)
{
    const char *text = json_string_value(json_object_get(section, name));
    return text ? text : "";
}
