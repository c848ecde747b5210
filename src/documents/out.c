#include "documents/out.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- Markdown ---- */

static void put_indent(struct docs_out *o)
{
    for (int i = 0; i < o->depth; i++)
        buf_lit(o->to, "  ");
}

/* A block within an entry continues it; others have an empty line before them. */
static void start_block(struct docs_out *o)
{
    if (!o->depth)
        buf_char(o->to, '\n');
    put_indent(o);
}

static void put_escaped(struct docs_out *o, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] && strchr("\\`*<[", text.p[i]))
            buf_char(o->to, '\\');
        buf_char(o->to, text.p[i]);
    }
}

/* A fence of code is longer than any run of backticks within. */
static void put_ticks(struct docs_out *o, struct str text, int least)
{
    int run = 0, longest = least - 1;
    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (int i = 0; i <= longest; i++)
        buf_char(o->to, '`');
}

/* ---- within a line ---- */

void docs_text(struct docs_out *o, struct str text)
{
    if (o->markdown)
        put_escaped(o, text);
    else
        buf_html(o->to, text);
}

void docs_word(struct docs_out *o, const char *word)
{
    const struct str text = str_z(word);
    if (o->markdown) {
        put_ticks(o, text, 1);
        buf_str(o->to, text);
        put_ticks(o, text, 1);
        return;
    }
    buf_lit(o->to, "<code>");
    buf_html(o->to, text);
    buf_lit(o->to, "</code>");
}

void docs_strong(struct docs_out *o, const char *class, const char *text)
{
    docs_html(o, "<b class=\"%s\">", class);
    buf_printf(o->to, o->markdown ? "**%s**" : "%s</b>", text);
}

static void open_link(struct docs_out *o, const char *path, const char *anchor)
{
    if (o->markdown)
        buf_char(o->to, '[');
    docs_html(o, "<a href=\"%s%s%s\">", path, anchor ? "#" : "", anchor ? anchor : "");
}

static void close_link(struct docs_out *o, const char *path, const char *anchor)
{
    if (o->markdown)
        buf_printf(o->to, "](%s.md%s%s)", path, anchor ? "#" : "", anchor ? anchor : "");
    docs_html(o, "</a>");
}

void docs_link(struct docs_out *o, const char *path, const char *anchor, struct str text)
{
    open_link(o, path, anchor);
    docs_text(o, text);
    close_link(o, path, anchor);
}

void docs_link_word(struct docs_out *o, const char *path, const char *anchor, const char *word)
{
    open_link(o, path, anchor);
    docs_word(o, word);
    close_link(o, path, anchor);
}

void docs_aside(struct docs_out *o)
{
    buf_str(o->to, o->markdown ? STR("(") : STR("<span class=\"type\">"));
}

void docs_aside_end(struct docs_out *o)
{
    buf_str(o->to, o->markdown ? STR(")") : STR("</span>"));
}

/* ---- blocks ---- */

static void put_anchor(struct docs_out *o, const char *id)
{
    if (id && o->markdown)
        buf_printf(o->to, "<a id=\"%s\"></a>", id);
}

void docs_heading(struct docs_out *o, int level, const char *id)
{
    if (o->markdown)
        buf_printf(o->to, "%s%.*s ", o->to->n ? "\n" : "", level, "######");
    put_anchor(o, id);
    if (id)
        docs_html(o, "<h%d id=\"%s\">", level, id);
    else
        docs_html(o, "<h%d>", level);
}

void docs_heading_end(struct docs_out *o, int level)
{
    docs_html(o, "</h%d>", level);
    buf_char(o->to, '\n');
}

void docs_paragraph(struct docs_out *o, const char *class)
{
    if (o->markdown)
        start_block(o);
    else if (class)
        docs_html(o, "<p class=\"%s\">", class);
    else
        docs_html(o, "<p>");
}

void docs_paragraph_end(struct docs_out *o)
{
    docs_html(o, "</p>");
    buf_char(o->to, '\n');
}

void docs_pre(struct docs_out *o, const char *fence, struct str text)
{
    if (o->markdown) {
        buf_char(o->to, '\n');
        put_ticks(o, text, 3);
        buf_printf(o->to, "%s\n", fence);
        buf_str(o->to, text);
        buf_char(o->to, '\n');
        put_ticks(o, text, 3);
        buf_char(o->to, '\n');
        return;
    }
    buf_lit(o->to, "<pre tabindex=\"0\"><code>");
    buf_html(o->to, text);
    buf_lit(o->to, "</code></pre>\n");
}

void docs_list(struct docs_out *o, const char *tag, const char *class)
{
    docs_html(o, "<%s class=\"%s\">\n", tag, class);
    if (o->markdown && !o->depth)
        buf_char(o->to, '\n');
}

void docs_list_end(struct docs_out *o, const char *tag)
{
    docs_html(o, "</%s>\n", tag);
}

void docs_entry(struct docs_out *o, const char *id)
{
    if (o->markdown) {
        put_indent(o);
        buf_lit(o->to, "- ");
        put_anchor(o, id);
        o->depth++;
    } else if (id) {
        docs_html(o, "<dt id=\"%s\">", id);
    } else {
        docs_html(o, "<dt>");
    }
}

void docs_told(struct docs_out *o)
{
    docs_html(o, "</dt>");
    buf_char(o->to, '\n');
    docs_html(o, "<dd>");
}

void docs_entry_end(struct docs_out *o)
{
    docs_html(o, "</dd>\n");
    o->depth -= o->markdown;
}

void docs_item(struct docs_out *o)
{
    if (o->markdown) {
        put_indent(o);
        buf_lit(o->to, "- ");
    }
    docs_html(o, "<li>");
}

void docs_item_end(struct docs_out *o)
{
    docs_html(o, "</li>");
    buf_char(o->to, '\n');
}

void docs_fold(struct docs_out *o, const char *class, bool open)
{
    if (o->markdown) {
        start_block(o);
        return;
    }
    if (class)
        docs_html(o, "<details class=\"%s\"%s><summary>", class, open ? " open" : "");
    else
        docs_html(o, "<details%s><summary>", open ? " open" : "");
}

void docs_fold_told(struct docs_out *o)
{
    buf_str(o->to, o->markdown ? STR(":\n") : STR("</summary>\n"));
}

void docs_fold_end(struct docs_out *o)
{
    docs_html(o, "</details>\n");
}

void docs_html(struct docs_out *o, const char *fmt, ...)
{
    if (o->markdown)
        return;
    va_list args;
    va_start(args, fmt);
    char *text = mem_vprintf(fmt, args);
    va_end(args);
    buf_str(o->to, str_z(text));
    free(text);
}
