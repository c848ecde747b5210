/* The processes that share the store. */
#include "admin/routes.h"
#include "jobs/node.h"

#define LIST_MAX 1000

struct node_item {
    struct val id, version, schema_version, host, address, state, started_at, heartbeat_at, ended_at, clock_ahead_ms;
};
struct nodes_reply {
    struct val data;
};

static const struct field item_fields[] = {
    FIELD(struct node_item, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct node_item, version, T_STRING, .flags = F_REQUIRED),
    FIELD(struct node_item, schema_version, T_INT, .flags = F_REQUIRED, .doc = "the newest that the program knows"),
    FIELD(struct node_item, host, T_STRING, .flags = F_REQUIRED),
    FIELD(struct node_item, address, T_STRING, .flags = F_REQUIRED),
    FIELD(struct node_item, state, T_STRING, .flags = F_REQUIRED, .doc = "running, silent (for 10 s) or ended"),
    FIELD(struct node_item, started_at, T_TIME, .flags = F_REQUIRED),
    FIELD(struct node_item, heartbeat_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE, .doc = "SQLite: null"),
    FIELD(struct node_item, ended_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct node_item, clock_ahead_ms, T_INT, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "its clock's lead over the database server's; SQLite: null"),
};
static const struct shape item_shape = SHAPE(struct node_item, "AdminNode", item_fields);
static const struct field nodes_fields[] = {
    FIELD(struct nodes_reply, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &item_shape),
};
static const struct shape nodes_shape = SHAPE(struct nodes_reply, "AdminNodes", nodes_fields);

static struct node_item item_of(const struct node *n, bool alone)
{
    const char *state = n->ended_us ? "ended" : n->alive || alone ? "running" : "silent";
    return (struct node_item){.id = admin_id_val(&n->id),
                              .version = v_str(n->version),
                              .schema_version = v_int(n->schema_version),
                              .host = v_str(n->host),
                              .address = v_str(n->address),
                              .state = v_str(str_z(state)),
                              .started_at = v_time(n->started_us),
                              .heartbeat_at = alone ? v_null() : v_time(n->heartbeat_us),
                              .ended_at = v_time_or_null(n->ended_us),
                              .clock_ahead_ms = alone ? v_null() : v_int(n->ahead_us / 1000)};
}

static enum err list_nodes(struct request *q, struct reply *p)
{
    const bool alone = q->tx.config->engine == ENGINE_SQLITE;
    const struct node *list;
    size_t count;
    enum err e = node_list(&q->tx, LIST_MAX, &list, &count);
    if (e)
        return e;
    struct node_item *items = arena_array(q->tx.arena, struct node_item, count + 1);
    for (size_t i = 0; i < count; i++)
        items[i] = item_of(&list[i], alone);
    return reply_copy(q, p, 200, &nodes_shape, &(struct nodes_reply){.data = v_list(items, count)});
}

static const struct route rows[] = {
    ROUTE("adminListNodes", GET, "/admin/nodes", .credential = CRED_CONTROL, .run = RUN_READ, .handler = list_nodes,
          .reply = &nodes_shape, .doc = ROUTE_DOC("Nodes", 200, "List the processes that share the store")),
};
const struct route_set admin_node_routes = ROUTE_SET(rows);
