#include "base/json_nodes.h"

#include <glib.h>

#define NAMES_MAX  32 /* members of an object that are compared with each other here */
#define DIGITS_MAX 15 /* of an integer that is surely in range, and the same in any notation */
#define FIRST_ROOM 32

struct scan {
    const char *at, *end;
    struct arena *arena;
    struct json_node *nodes;
    unsigned count, room;
    unsigned depth;  /* open containers */
    unsigned arrays; /* of these, arrays */
    bool doubtful;   /* json_read must decide */
};

static bool scan_value(struct scan *s);

static void scan_space(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

/* The next character that is not white space is c, and is taken. */
static bool scan_char(struct scan *s, char c)
{
    scan_space(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

/* ---- scalars ---- */

static bool scan_escape(struct scan *s)
{
    if (++s->at == s->end || !*s->at || !strchr("\"\\/bfnrtu", *s->at))
        return false;
    s->doubtful |= *s->at == 'u';
    s->at++;
    return true;
}

/* *ret: the text between the quotes, as it is. */
static bool scan_string(struct scan *s, bool *ret_escaped, struct str *ret)
{
    const char *const from = ++s->at;
    unsigned char high = 0;
    *ret_escaped = false;
    while (s->at < s->end && *s->at != '"') {
        const unsigned char c = (unsigned char)*s->at;
        if (c < 0x20)
            return false;
        high |= c;
        if (c != '\\')
            s->at++;
        else if (scan_escape(s))
            *ret_escaped = true;
        else
            return false;
    }
    if (s->at == s->end)
        return false;
    *ret = str_n(from, (size_t)(s->at++ - from));
    return high < 0x80 || g_utf8_validate_len(ret->p, ret->n, NULL);
}

static bool at_digit(const struct scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static bool scan_number(struct scan *s)
{
    s->at += s->at < s->end && *s->at == '-';
    const char *const from = s->at;
    while (at_digit(s))
        s->at++;
    if (s->at == from || (*from == '0' && s->at - from > 1))
        return false;
    s->doubtful |= s->at - from > DIGITS_MAX;
    while (s->at < s->end && *s->at && strchr("0123456789.+-eE", *s->at)) {
        s->doubtful = true;
        s->at++;
    }
    return true;
}

static bool scan_word(struct scan *s, struct str word)
{
    if (!str_starts(str_n(s->at, (size_t)(s->end - s->at)), word))
        return false;
    s->at += word.n;
    return true;
}

/* ---- containers ---- */

static unsigned add_node(struct scan *s, struct str name)
{
    if (s->count == s->room) {
        const struct json_node *const old = s->nodes;
        s->room = s->room ? 2 * s->room : FIRST_ROOM;
        s->nodes = arena_alloc(s->arena, s->room * sizeof *s->nodes);
        if (old)
            memcpy(s->nodes, old, s->count * sizeof *old);
    }
    s->nodes[s->count].name = name;
    return s->count++;
}

/* A value with its node. */
static bool scan_noted(struct scan *s, struct str name)
{
    scan_space(s);
    const unsigned i = add_node(s, name);
    const char *const from = s->at;
    if (!scan_value(s))
        return false;
    s->nodes[i].text = str_n(from, (size_t)(s->at - from));
    s->nodes[i].nodes = s->count - i;
    return true;
}

/* The name with its quotes; it may still be no JSON. */
static bool decode_string(struct str quoted, struct arena *a, struct str *ret)
{
    json_t *value;
    if (json_read(quoted, &value))
        return false;
    *ret = arena_str(a, str_n(json_string_value(value), json_string_length(value)));
    json_decref(value);
    return true;
}

static bool scan_name(struct scan *s, struct str *ret)
{
    bool escaped;
    if (!scan_char(s, '"'))
        return false;
    const char *const quote = --s->at;
    if (!scan_string(s, &escaped, ret))
        return false;
    s->doubtful |= escaped;
    return !escaped || decode_string(str_n(quote, (size_t)(s->at - quote)), s->arena, ret);
}

static bool scan_members(struct scan *s)
{
    struct str names[NAMES_MAX];
    unsigned count = 0;
    do {
        struct str name;
        if (!scan_name(s, &name) || !scan_char(s, ':'))
            return false;
        for (unsigned i = 0; i < count; i++)
            if (str_eq(names[i], name))
                return false;
        if (count < NAMES_MAX)
            names[count++] = name;
        else
            s->doubtful = true;
        scan_space(s);
        if (s->arrays ? !scan_value(s) : !scan_noted(s, name))
            return false;
    } while (scan_char(s, ','));
    return scan_char(s, '}');
}

static bool scan_items(struct scan *s)
{
    do {
        scan_space(s);
        if (!scan_value(s))
            return false;
    } while (scan_char(s, ','));
    return scan_char(s, ']');
}

static bool scan_container(struct scan *s)
{
    const bool is_array = *s->at++ == '[';
    if (s->depth == JSON_MAX_DEPTH)
        return false;
    if (scan_char(s, is_array ? ']' : '}'))
        return true;
    s->depth++;
    s->arrays += is_array;
    const bool whole = is_array ? scan_items(s) : scan_members(s);
    s->arrays -= is_array;
    s->depth--;
    return whole;
}

static bool scan_value(struct scan *s)
{
    struct str text;
    bool escaped;
    switch (s->at < s->end ? *s->at : '\0') {
    case '{':
    case '[':
        return scan_container(s);
    case '"':
        return scan_string(s, &escaped, &text);
    case 't':
        return scan_word(s, STR("true"));
    case 'f':
        return scan_word(s, STR("false"));
    case 'n':
        return scan_word(s, STR("null"));
    default:
        return scan_number(s);
    }
}

enum err json_nodes_read(struct str text, struct arena *a, const struct json_node **ret)
{
    if (!text.n)
        return ERR_INVALID_JSON;
    struct scan s = {.at = text.p, .end = text.p + text.n, .arena = a};
    if (!scan_noted(&s, STR_NONE))
        return ERR_INVALID_JSON;
    scan_space(&s);
    if (s.at != s.end)
        return ERR_INVALID_JSON;
    json_t *value = NULL;
    const enum err e = s.doubtful ? json_read(text, &value) : ERR_NONE;
    json_decref(value);
    if (!e)
        *ret = s.nodes;
    return e;
}

/* ---- looking ---- */

const struct json_node *json_node_after(const struct json_node *of, const struct json_node *member)
{
    const struct json_node *const next = member + member->nodes;
    return next < of + of->nodes ? next : NULL;
}

const struct json_node *json_node_first(const struct json_node *of)
{
    return of && of->nodes > 1 ? of + 1 : NULL;
}

const struct json_node *json_node_member(const struct json_node *of, struct str name)
{
    const struct json_node *m = json_node_first(of);
    while (m && !str_eq(m->name, name))
        m = json_node_after(of, m);
    return m;
}

struct str json_node_string(const struct json_node *n, struct arena *a)
{
    struct str decoded;
    if (!json_node_is_string(n))
        return STR_NONE;
    const struct str inner = str_n(n->text.p + 1, n->text.n - 2);
    if (!memchr(inner.p, '\\', inner.n))
        return inner;
    return decode_string(n->text, a, &decoded) ? decoded : STR_NONE;
}
