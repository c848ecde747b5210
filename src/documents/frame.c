#include "documents/frame.h"

#include <stdlib.h>
#include <string.h>

#include "documents/errors.h"
#include "documents/markdown.h"
#include "http/web.h"

#define UNUSED_MAX 65536

/* ---- the navigation ---- */

static void put_nav_entry(struct buf *out, const char *path, struct str title, bool current)
{
    buf_printf(out, "<li><a href=\"%s\"%s>", path, current ? " aria-current=\"page\"" : "");
    buf_html(out, title);
    buf_lit(out, "</a>");
}

static void put_section_entry(struct buf *out, const char *id, const char *title)
{
    buf_printf(out, "<li><a href=\"#%s\">", id);
    buf_html(out, str_z(title));
    buf_lit(out, "</a></li>\n");
}

static void put_operation_entry(void *arg, const struct route *row)
{
    put_section_entry(arg, row->operation_id, row->doc.summary);
}

static void put_nav_tags(const struct docs_reference *r, const char *current, struct buf *out)
{
    for (size_t i = 0; i < r->tag_count; i++) {
        char *path = docs_tag_path(r->tags[i]);
        const bool here = strcmp(path, current) == 0;
        put_nav_entry(out, path, str_z(r->tags[i]), here);
        if (here) {
            buf_lit(out, "<ul>\n");
            docs_each_operation(r, r->tags[i], put_operation_entry, out);
            buf_lit(out, "</ul>");
        }
        buf_lit(out, "</li>\n");
        free(path);
    }
}

/* Pages of behaviour have a slash in their names. */
static void put_guide_entries(bool behaviour, const struct docs_page *page, struct buf *out)
{
    for (const struct docs_guide *g = docs_guides; g->name; g++) {
        if ((strchr(g->name, '/') != NULL) != behaviour)
            continue;
        char path[64];
        size_t i;
        json_t *section;
        snprintf(path, sizeof path, "/docs/%s", g->name);
        const bool here = strcmp(path, page->path) == 0;
        put_nav_entry(out, path, docs_title(g), here);
        if (here) {
            buf_lit(out, "<ul>\n");
            json_array_foreach (page->sections, i, section) {
                if (json_integer_value(json_object_get(section, "level")) == 2)
                    put_section_entry(out, docs_member(section, "id"), docs_member(section, "title"));
            }
            buf_lit(out, "</ul>");
        }
        buf_lit(out, "</li>\n");
    }
}

static void put_navigation(const struct docs_page *page, const struct docs_reference *r, struct buf *out)
{
    const char *current = page->path;
    buf_lit(out, "<ul>\n");
    put_nav_entry(out, "/docs", STR("Overview"), strcmp(current, "/docs") == 0);
    buf_lit(out, "</li>\n</ul>\n<h2>Guides</h2>\n<ul>\n");
    put_guide_entries(false, page, out);
    buf_lit(out, "</ul>\n<h2>Reference</h2>\n<ul>\n");
    put_nav_tags(r, current, out);
    put_nav_entry(out, DOCS_ERRORS_PATH, STR("Errors"), strcmp(current, DOCS_ERRORS_PATH) == 0);
    buf_lit(out, "</li>\n</ul>\n<h2>Behaviour</h2>\n<ul>\n");
    put_guide_entries(true, page, out);
    buf_lit(out, "</ul>\n");
}

/* ---- a page ---- */

/* Appends the frame up to the mark, and gives the rest. */
static struct str put_until(struct str frame, const char *mark, struct buf *out)
{
    const char *at = memmem(frame.p, frame.n, mark, strlen(mark));
    buf_put(out, frame.p, (size_t)(at - frame.p));
    return str_from(frame, (size_t)(at - frame.p) + strlen(mark));
}

void docs_put_page(const struct docs_page *page, const struct docs_reference *r, struct str content, struct buf *out)
{
    struct buf unused = BUF(UNUSED_MAX);
    struct str rest = put_until(web_docs_frame_html[0].body[HTTP_CODING_NONE], "<!-- title -->", out);
    buf_html(out, page->title);
    rest = put_until(rest, "<!-- path -->", out);
    buf_str(out, str_z(page->path));
    rest = put_until(rest, "<!-- sandbox -->", out);
    rest = put_until(rest, "<!-- end -->", r->sandbox ? out : &unused);
    rest = put_until(rest, "<!-- navigation -->", out);
    put_navigation(page, r, out);
    rest = put_until(rest, "<!-- content -->", out);
    buf_str(out, content);
    rest = put_until(rest, "<!-- path -->", out);
    buf_str(out, str_z(page->path));
    buf_str(out, rest);
    buf_done(&unused);
}
