/* Paths and query strings: any bytes for the router and the query reader. The first byte chooses the method, the rest
 * is a request target, split at '?'. */
#include "api/query.h"
#include "api/router.h"

struct params {
    struct val limit, enabled, since, q, id;
};
static const struct field fields[] = {
    FIELD(struct params, limit, T_INT, .min = 1, .max = 100, .error = ERR_INVALID_LIMIT),
    FIELD(struct params, enabled, T_BOOL, .error = ERR_INVALID_FILTER),
    FIELD(struct params, since, T_TIME, .error = ERR_INVALID_DATE),
    FIELD(struct params, q, T_STRING, .flags = F_TRIM | F_NONBLANK, .max = 100, .error = ERR_INVALID_QUERY),
    FIELD(struct params, id, T_ID, .error = ERR_INVALID_ID),
};
static const struct shape shape = SHAPE(struct params, "Params", fields);

static const struct route rows[] = {
    {.method = HTTP_GET, .path = "/v1/unlock"},
    {.method = HTTP_PATCH, .path = "/v1/unlock/{id}"},
    {.method = HTTP_GET, .path = "/v1/buildings/{buildingId}/setup"},
    {.method = HTTP_POST, .path = "/v1/webhooks/{id}/deliveries/{delivery_id}/replay"},
};
static const struct route_set set = ROUTE_SET(rows);
static const struct route_set *const sets[] = {&set};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct router *router;
    if (!router)
        router = router_new(sets, 1);
    if (size == 0)
        return 0;
    struct arena a;
    arena_init(&a, NULL, 0);
    struct str query, params[ROUTE_PARAMS] = {STR_NONE}, allow = STR_NONE;
    struct str path = str_cut(str_n((const char *)data + 1, size - 1), '?', &query);
    const struct route *found =
        router_find(router, &door_api, (enum http_method)(data[0] % (HTTP_OTHER + 1)), path, &a, params, &allow);
    for (size_t i = 0; found && i < ROUTE_PARAMS; i++)
        if (params[i].p && (params[i].n == 0 || memchr(params[i].p, '/', params[i].n)))
            __builtin_trap();
    struct params p;
    struct schema_fault fault = {0};
    bool read = query_read(&shape, query, &a, &p, &fault);
    if (read ? v_set(p.limit) && (p.limit.i < 1 || p.limit.i > 100) : fault.error == ERR_NONE || !fault.message.n)
        __builtin_trap();
    arena_done(&a);
    return 0;
}
