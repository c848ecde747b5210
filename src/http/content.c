#include "http/content.h"

#include <ctype.h>

#define QUALITY_FULL  1000
#define QUALITY_UNSET (-1)

const char *http_coding_name(enum http_coding coding)
{
    static const char *const names[HTTP_CODINGS] = {[HTTP_CODING_BR] = "br", [HTTP_CODING_GZIP] = "gzip"};
    return names[coding];
}

/* ---- weighted lists ---- */

/* A qvalue (RFC 9110 section 12.4.2) in thousandths; 0 if it is malformed. */
static int quality(struct str s)
{
    int q = 0, scale = QUALITY_FULL;
    if (s.n == 0 || s.n > 5 || (s.p[0] != '0' && s.p[0] != '1') || (s.n > 1 && s.p[1] != '.'))
        return 0;
    for (size_t i = 0; i < s.n; i++) {
        if (i == 1)
            continue;
        if (!isdigit((unsigned char)s.p[i]))
            return 0;
        q += (s.p[i] - '0') * scale;
        scale /= 10;
    }
    return q <= QUALITY_FULL ? q : 0;
}

/* One list member, such as "gzip;q=0.5". */
static struct str read_weighted(struct str member, int *ret_quality)
{
    struct str weight, name = str_trim(str_cut(member, ';', &weight));
    weight = str_trim(weight);
    *ret_quality = QUALITY_FULL;
    if (weight.n >= 2 && (weight.p[0] == 'q' || weight.p[0] == 'Q') && weight.p[1] == '=')
        *ret_quality = quality(str_from(weight, 2));
    else if (weight.n)
        *ret_quality = 0;
    return name;
}

/* Calls `each` for the members of all fields of that name: several fields form one list. */
static void each_list_member(const struct http_header *headers, size_t count, struct str field,
                             void (*each)(void *arg, struct str name, int quality), void *arg)
{
    for (size_t i = 0; i < count; i++) {
        if (headers[i].name.n != field.n || !str_eqi(headers[i].name, field))
            continue;
        struct str list = headers[i].value;
        while (list.p) {
            int q;
            const struct str name = read_weighted(str_cut(list, ',', &list), &q);
            each(arg, name, q);
        }
    }
}

/* ---- codings ---- */

struct codings {
    int quality[HTTP_CODINGS], any;
};

static void take_coding(void *arg, struct str name, int q)
{
    struct codings *c = arg;
    if (str_eqi(name, STR("gzip")) || str_eqi(name, STR("x-gzip")))
        c->quality[HTTP_CODING_GZIP] = q;
    else if (str_eqi(name, STR("br")))
        c->quality[HTTP_CODING_BR] = q;
    else if (str_eqi(name, STR("identity")))
        c->quality[HTTP_CODING_NONE] = q;
    else if (str_eq(name, STR("*")))
        c->any = q;
}

enum http_coding http_content_choose(const struct http_content *content, const struct http_header *headers,
                                     size_t count)
{
    struct codings c = {{QUALITY_UNSET, QUALITY_UNSET, QUALITY_UNSET}, QUALITY_UNSET};
    each_list_member(headers, count, STR("Accept-Encoding"), take_coding, &c);
    if (c.quality[HTTP_CODING_GZIP] == QUALITY_UNSET)
        c.quality[HTTP_CODING_GZIP] = c.any;
    enum http_coding best = HTTP_CODING_NONE; /* without a weight it is acceptable but least preferred */
    int most = c.quality[HTTP_CODING_NONE] > 0 ? c.quality[HTTP_CODING_NONE] : 1;
    for (unsigned i = HTTP_CODING_NONE; i-- > 0;)
        if (content->body[i].p && c.quality[i] >= most) {
            best = (enum http_coding)i;
            most = c.quality[i];
        }
    return best;
}

/* ---- languages ---- */

struct languages {
    const char *const *names;
    size_t best;
    int most;
};

/* Of several that the client likes equally, the first counts. */
static void take_language(void *arg, struct str name, int q)
{
    struct languages *l = arg;
    struct str rest, primary = str_cut(name, '-', &rest);
    if (q <= l->most)
        return;
    for (size_t i = 0; l->names[i]; i++)
        if (str_eqi(primary, str_z(l->names[i]))) {
            l->best = i;
            l->most = q;
        }
}

size_t http_language(const struct http_header *headers, size_t count, const char *const *languages)
{
    struct languages l = {.names = languages};
    each_list_member(headers, count, STR("Accept-Language"), take_language, &l);
    return l.best;
}

/* ---- conditional requests ---- */

/* The next entity tag of the list, including its quotes; STR_NONE at the end of the list or if it is malformed. */
static struct str next_tag(struct str *list)
{
    struct str s = *list;
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t' || s.p[0] == ','))
        s = str_from(s, 1);
    if (str_starts(s, STR("W/")))
        s = str_from(s, 2);
    const char *end = s.n > 1 && s.p[0] == '"' ? memchr(s.p + 1, '"', s.n - 1) : NULL;
    if (!end)
        return STR_NONE;
    size_t n = (size_t)(end - s.p) + 1;
    *list = str_from(s, n);
    return str_n(s.p, n);
}

bool http_has_tag(const struct http_header *headers, size_t count, struct str tag)
{
    for (size_t i = 0; i < count; i++) {
        if (headers[i].name.n != 13 || !str_eqi(headers[i].name, STR("If-None-Match")))
            continue;
        struct str list = headers[i].value, one;
        if (str_eq(list, STR("*")))
            return true;
        while ((one = next_tag(&list)).p)
            if (str_eq(one, tag))
                return true;
    }
    return false;
}
