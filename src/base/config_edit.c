#include "base/config_edit.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/config_text.h"

#define TEXT_MAX (2U << 20)
#define INDENT   "    "

/* ---- finding ---- */

static bool find_entry(const char *from, const char *name, const char *title, bool section, struct config_entry *ret)
{
    for (struct config_entry e; config_text_entry(from, &e); from = e.end)
        if (!e.value == section && str_eq(str_n(e.name, e.name_n), str_z(name)) &&
            (!title || str_eq(e.title, str_z(title)))) {
            *ret = e;
            return true;
        }
    return false;
}

/* A section that keys are looked for in. */
struct level {
    const char *name, *title;
};

/* The sections of the place, outermost first; their number. */
static size_t levels_of(struct config_place at, struct level ret[static 2])
{
    size_t n = 0;
    if (at.section)
        ret[n++] = (struct level){at.section, NULL};
    if (at.peer)
        ret[n++] = (struct level){"peer", at.peer};
    return n;
}

/* ---- changing ---- */

/* The text with `fresh` in place of [from, to). */
static struct str spliced(struct arena *a, struct str text, size_t from, size_t to, struct str fresh)
{
    return arena_printf(a, "%.*s%.*s%.*s", (int)from, text.p, STR_ARG(fresh), (int)(text.n - to), text.p + to);
}

static size_t line_begin(const char *text, size_t at)
{
    while (at && text[at - 1] != '\n')
        at--;
    return at;
}

static bool is_blank_between(const char *from, const char *to)
{
    return strspn(from, " \t\r") >= (size_t)(to - from);
}

/* `key = value`, in the sections that are missing. */
static struct str new_entry(struct arena *a, const struct level *missing, size_t count, size_t depth, const char *key,
                            struct str value)
{
    struct buf out = BUF(TEXT_MAX);
    const size_t all = depth + count;
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%*s%s%s%s {\n", (int)((depth + i) * strlen(INDENT)), "", missing[i].name,
                   missing[i].title ? " " : "", missing[i].title ? missing[i].title : "");
    buf_printf(&out, "%*s%s = %.*s\n", (int)(all * strlen(INDENT)), "", key, STR_ARG(value));
    for (size_t i = count; i > 0; i--)
        buf_printf(&out, "%*s}\n", (int)((depth + i - 1) * strlen(INDENT)), "");
    const struct str text = arena_str(a, buf_view(&out));
    buf_done(&out);
    return text;
}

/* Where an entry is added: at the closing brace of `parent`; without one behind the last key, or a section at the end.
 */
static size_t insertion_point(const char *text, const struct config_entry *parent, bool section)
{
    size_t at = 0;
    if (parent)
        return (size_t)(parent->end - text) - 1;
    if (section)
        return strlen(text);
    for (struct config_entry e; config_text_entry(text + at, &e) && e.value;)
        at = (size_t)(e.end - text);
    return at ? at + strcspn(text + at, "\n") + (strchr(text + at, '\n') != NULL) : 0;
}

static struct str add(struct arena *a, struct str text, const char *blanked, const struct config_entry *parent,
                      struct str entry, bool section)
{
    const size_t at = insertion_point(blanked, parent, section), begin = line_begin(blanked, at);
    const char *before = "";
    if (parent && is_blank_between(blanked + begin, blanked + at))
        return spliced(a, text, begin, begin, entry);
    if (parent && !section) /* the parent's brace is behind other keys */
        return spliced(a, text, at, at, arena_printf(a, " %.*s ", STR_ARG(str_trim(str_n(entry.p, entry.n - 1)))));
    if (at && (parent || text.p[at - 1] != '\n'))
        before = "\n";
    return spliced(a, text, at, at,
                   arena_printf(a, "%s%s%.*s", before, section && !parent ? "\n" : "", STR_ARG(entry)));
}

struct str config_edit_set(struct arena *a, struct str text, struct config_place at, struct str value)
{
    struct level levels[2];
    const size_t count = levels_of(at, levels);
    const char *blanked = config_text_blanked(a, text), *from = blanked;
    struct config_entry parent, e;
    size_t depth = 0;
    for (; depth < count && find_entry(from, levels[depth].name, levels[depth].title, true, &e); depth++) {
        parent = e;
        from = e.inside;
    }
    if (depth == count && find_entry(from, at.key, NULL, false, &e))
        return spliced(a, text, (size_t)(e.value - blanked), (size_t)(e.end - blanked), value);
    const struct str entry = new_entry(a, levels + depth, count - depth, depth, at.key, value);
    return add(a, text, blanked, depth ? &parent : NULL, entry, depth < count);
}

struct str config_edit_remove(struct arena *a, struct str text, struct config_place at)
{
    assert(at.key || at.section || at.peer);
    struct level levels[2];
    const size_t count = levels_of(at, levels), parents = at.key ? count : count - 1;
    const char *blanked = config_text_blanked(a, text), *from = blanked;
    struct config_entry e;
    for (size_t i = 0; i < parents; i++) {
        if (!find_entry(from, levels[i].name, levels[i].title, true, &e))
            return text;
        from = e.inside;
    }
    if (!find_entry(from, at.key ? at.key : levels[parents].name, at.key ? NULL : levels[parents].title, !at.key, &e))
        return text;
    size_t begin = (size_t)(e.name - blanked), end = (size_t)(e.end - blanked);
    const size_t line = line_begin(blanked, begin), rest = end + strcspn(blanked + end, "\n");
    if (is_blank_between(blanked + line, blanked + begin) && is_blank_between(blanked + end, blanked + rest)) {
        begin = line; /* nothing else is in its lines */
        end = rest + (blanked[rest] == '\n');
    }
    return spliced(a, text, begin, end, STR(""));
}

struct str config_edit_quoted(struct arena *a, struct str value)
{
    char *out = arena_alloc(a, 2 * value.n + 3), *p = out;
    *p++ = '"';
    for (size_t i = 0; i < value.n; i++) {
        if (strchr("\"\\$", value.p[i]))
            *p++ = '\\';
        *p++ = value.p[i];
    }
    *p++ = '"';
    *p = '\0';
    return str_n(out, (size_t)(p - out));
}
