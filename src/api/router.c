#include "api/router.h"

#include <stdlib.h>

/* A path split around its one parameter; without one, `before` is all of it. */
struct pattern {
    const struct route *route;
    struct str before, after;
    bool parameter;
};

struct router {
    size_t count;
    struct pattern patterns[];
};

static struct pattern pattern_of(const struct route *route)
{
    struct str rest, path = str_z(route->path);
    struct pattern p = {.route = route, .before = str_cut(path, '{', &rest)};
    p.parameter = rest.p != NULL;
    if (p.parameter)
        str_cut(rest, '}', &p.after);
    return p;
}

struct router *router_new(const struct route_set *const *sets, size_t count)
{
    size_t rows = 0;
    for (size_t i = 0; i < count; i++)
        rows += sets[i]->count;
    struct router *r = calloc(1, sizeof *r + rows * sizeof *r->patterns);
    if (!r)
        return NULL;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sets[i]->count; k++)
            r->patterns[r->count++] = pattern_of(&sets[i]->rows[k]);
    return r;
}

void router_free(struct router *r)
{
    free(r);
}

static bool matches(const struct pattern *p, struct str path, struct str *ret_param)
{
    if (!p->parameter)
        return str_eq(p->before, path);
    if (path.n <= p->before.n + p->after.n || !str_starts(path, p->before))
        return false;
    size_t n = path.n - p->before.n - p->after.n;
    if (!str_eq(str_from(path, p->before.n + n), p->after) || memchr(path.p + p->before.n, '/', n))
        return false;
    *ret_param = str_n(path.p + p->before.n, n);
    return true;
}

static const char *const method_names[] = {[HTTP_GET] = "GET, HEAD",
                                           [HTTP_POST] = "POST",
                                           [HTTP_PUT] = "PUT",
                                           [HTTP_PATCH] = "PATCH",
                                           [HTTP_DELETE] = "DELETE"};

const struct route *router_find(const struct router *r, bool control, enum http_method method, struct str path,
                                struct arena *a, struct str *ret_param, struct str *ret_allow)
{
    if (method == HTTP_HEAD)
        method = HTTP_GET;
    struct str allow = STR_NONE, param = STR_NONE;
    for (size_t i = 0; i < r->count; i++) {
        const struct pattern *p = &r->patterns[i];
        if ((p->route->credential == CRED_CONTROL) != control || !matches(p, path, &param))
            continue;
        if (p->route->method == method) {
            *ret_param = param;
            return p->route;
        }
        const char *name = method_names[p->route->method];
        allow = allow.p ? arena_printf(a, "%.*s, %s", STR_ARG(allow), name) : str_z(name);
    }
    *ret_allow = allow;
    return NULL;
}
