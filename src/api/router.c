#include "api/router.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

/* A path pattern split at its parameters: a piece before each, and one after the last. */
struct pattern {
    const struct route *route;
    struct str pieces[ROUTE_PARAMS + 1];
    size_t params;
};

struct router {
    size_t count;
    struct pattern patterns[];
};

static struct pattern pattern_of(const struct route *route)
{
    struct pattern p = {.route = route};
    assert(!route->body || route->idempotency == NEED_NOT || route->receipt);
    struct str rest = str_z(route->path);
    for (;;) {
        p.pieces[p.params] = str_cut(rest, '{', &rest);
        if (!rest.p)
            return p;
        assert(p.params < ROUTE_PARAMS);
        str_cut(rest, '}', &rest);
        p.params++;
    }
}

struct router *router_new(const struct route_set *const *sets, size_t count)
{
    size_t rows = 0;
    for (size_t i = 0; i < count; i++)
        rows += sets[i]->count;
    struct router *r = mem_new_with(struct router, rows * sizeof *r->patterns);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sets[i]->count; k++)
            r->patterns[r->count++] = pattern_of(&sets[i]->rows[k]);
    return r;
}

void router_free(struct router *r)
{
    free(r);
}

/* A parameter extends to the next slash and is not empty. */
static bool pattern_matches(const struct pattern *p, struct str path, struct str ret_params[static ROUTE_PARAMS])
{
    for (size_t i = 0; i < p->params; i++) {
        if (!str_starts(path, p->pieces[i]))
            return false;
        path = str_from(path, p->pieces[i].n);
        const char *slash = path.n ? memchr(path.p, '/', path.n) : NULL;
        ret_params[i] = str_n(path.p, slash ? (size_t)(slash - path.p) : path.n);
        if (ret_params[i].n == 0)
            return false;
        path = str_from(path, ret_params[i].n);
    }
    return str_eq(path, p->pieces[p->params]);
}

static const char *const method_names[] = {
    [HTTP_GET] = "GET, HEAD", [HTTP_POST] = "POST",     [HTTP_PUT] = "PUT",
    [HTTP_PATCH] = "PATCH",   [HTTP_DELETE] = "DELETE", [HTTP_OPTIONS] = "OPTIONS"};

const struct route *router_find(const struct router *r, const struct door *door, enum http_method method,
                                struct str path, struct arena *a, struct str ret_params[static ROUTE_PARAMS],
                                struct str *ret_allow)
{
    if (method == HTTP_HEAD)
        method = HTTP_GET;
    struct str allow = STR_NONE;
    for (size_t i = 0; i < r->count; i++) {
        const struct pattern *p = &r->patterns[i];
        struct str params[ROUTE_PARAMS] = {STR_NONE};
        if (!pattern_matches(p, path, params) || !door->opens(p->route))
            continue;
        if (p->route->method == method) {
            memcpy(ret_params, params, sizeof params);
            return p->route;
        }
        if (p->route->flags & ROUTE_EARLIER)
            continue; /* most accounts do not have it, so that it must not make a 404 a 405 */
        const char *name = method_names[p->route->method];
        if (allow.p && memmem(allow.p, allow.n, name, strlen(name)))
            continue;
        allow = allow.p ? arena_printf(a, "%.*s, %s", STR_ARG(allow), name) : str_z(name);
    }
    *ret_allow = allow;
    return NULL;
}
