#include "api/door_site.h"
#include "api/service_private.h"

/* Requests within a request: a tool call, the data of a page. */

void service_become(struct request *q, const struct route *row)
{
    q->route = row;
    q->operation = GPOINTER_TO_UINT(g_hash_table_lookup(q->service->operations, row));
}

/* A part of q is a request of its own, so that nothing of its route, building or query stays in q. */
static struct request *part_of(struct request *q, const struct route *row)
{
    struct request *part = arena_new(q->tx.arena, struct request);
    *part = *q;
    part->route = row;
    part->query = NULL;
    return part;
}

static enum err run_part(struct request *q, struct request *part, struct reply *ret)
{
    enum err e = gate_check_part(part);
    if (!e)
        e = part->route->handler(part, ret);
    if (!e && ret->status != 200)
        e = ERR_INTERNAL_ERROR;
    q->tx.why = part->tx.why;
    q->tx.retry_after_s = part->tx.retry_after_s;
    return e;
}

enum err service_read(struct request *q, const struct route *row, struct reply *ret)
{
    struct request *part = part_of(q, row);
    *ret = (struct reply){0};
    return row->run == RUN_READ ? run_part(q, part, ret) : ERR_INTERNAL_ERROR;
}

enum err service_embed(struct request *q, struct str path, struct buf *out)
{
    struct str params[ROUTE_PARAMS] = {STR_NONE}, allow, part_query;
    path = str_cut(path, '?', &part_query);
    const struct route *route =
        router_find(q->service->router, &door_site, HTTP_GET, path, q->tx.arena, params, &allow);
    if (!route || route->run != RUN_READ)
        return ERR_INTERNAL_ERROR;
    if (principal_visits(&q->who) && !gate_admits(route, &q->who)) {
        buf_lit(out, "null"); /* the owner's alone */
        return ERR_NONE;
    }
    struct http_request *http = q->http;
    const struct str query = http->query;
    struct request *part = part_of(q, route);
    struct reply reply = {0};
    part->path_text = params[0];
    part->item_text = params[1];
    http->query = part_query;
    enum err e = run_part(q, part, &reply);
    http->query = query;
    if (!e && reply.shape)
        schema_write(reply.shape, reply.body, out);
    return e || reply.shape ? e : ERR_INTERNAL_ERROR;
}
