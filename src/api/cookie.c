#include "api/cookie.h"

#include <ctype.h>

#include "domain/browser.h"

#define ATTRIBUTES "; Path=/; Secure; HttpOnly; SameSite=Lax"

static bool value_valid(struct str s)
{
    if (s.n != BROWSER_COOKIE_LEN)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]))
            return false;
    return true;
}

/* The value of the cookie of that name; STR_NONE if there is none, or more than one. */
static struct str value_of(struct str field, struct str name)
{
    struct str found = STR_NONE;
    for (struct str rest = field; rest.p;) {
        struct str value, pair = str_trim(str_cut(rest, ';', &rest));
        if (!str_eq(str_cut(pair, '=', &value), name))
            continue;
        if (found.p || !value.p)
            return STR_NONE;
        found = value;
    }
    return found;
}

bool cookie_parse(struct str field, struct str *ret)
{
    const struct str found = value_of(field, STR(COOKIE_NAME));
    if (!value_valid(found))
        return false;
    *ret = found;
    return true;
}

bool cookie_of(const struct http_request *r, struct str *ret)
{
    size_t count;
    struct str field = http_header(r, STR("Cookie"), &count);
    return count == 1 && cookie_parse(field, ret);
}

bool cookie_building(const struct http_request *r, struct id *ret)
{
    size_t count;
    struct str field = http_header(r, STR("Cookie"), &count);
    return count == 1 && id_parse(value_of(field, STR(COOKIE_BUILDING)), ret);
}

struct str cookie_set(struct arena *a, struct str value, bool remember)
{
    struct str age = remember ? arena_printf(a, "; Max-Age=%d", KEY_REMEMBERED_S) : STR("");
    return arena_printf(a, COOKIE_NAME "=%.*s" ATTRIBUTES "%.*s", STR_ARG(value), STR_ARG(age));
}

struct str cookie_clear(void)
{
    return STR(COOKIE_NAME "=" ATTRIBUTES "; Max-Age=0");
}
