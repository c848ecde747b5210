#include "base/form.h"

#include <glib.h>

static int form_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool form_decode(struct str s, struct arena *a, struct str *ret)
{
    char *out = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '%') {
            out[n++] = s.p[i] == '+' ? ' ' : s.p[i];
            continue;
        }
        int high = i + 2 < s.n ? form_hex_digit(s.p[i + 1]) : -1;
        int low = i + 2 < s.n ? form_hex_digit(s.p[i + 2]) : -1;
        if (high < 0 || low < 0 || (high == 0 && low == 0))
            return false;
        out[n++] = (char)(high * 16 + low);
        i += 2;
    }
    out[n] = '\0';
    *ret = str_n(out, n);
    return true;
}

static bool form_is_escaped(struct str body)
{
    for (size_t i = 0; i < body.n; i++)
        if (body.p[i] <= ' ' || body.p[i] > '~')
            return false;
    return true;
}

static bool form_decode_text(struct str s, struct arena *a, struct str *ret)
{
    return form_decode(s, a, ret) && g_utf8_validate(ret->p, (gssize)ret->n, NULL);
}

static size_t form_count(struct str body)
{
    size_t n = body.n ? 1 : 0;
    for (size_t i = 0; i < body.n; i++)
        n += body.p[i] == '&';
    return n;
}

bool form_read(struct str body, size_t max, struct arena *a, struct form *ret)
{
    const size_t count = form_count(body);
    if (count > max || !form_is_escaped(body))
        return false;
    struct form_field *fields = arena_array(a, struct form_field, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct str value, name = str_cut(str_cut(body, '&', &body), '=', &value);
        if (!name.n || !value.p || !form_decode_text(name, a, &fields[i].name) ||
            !form_decode_text(value, a, &fields[i].value))
            return false;
    }
    *ret = (struct form){fields, count};
    return true;
}

struct str form_value(const struct form *f, const char *name)
{
    struct str found = STR_NONE;
    for (size_t i = 0; i < f->count; i++) {
        if (!str_eq(f->fields[i].name, str_z(name)))
            continue;
        if (found.p)
            return STR_NONE;
        found = f->fields[i].value;
    }
    return found;
}
