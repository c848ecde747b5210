#include "jobs/node.h"

#include "domain/list.h"

enum err node_clock(struct tx *tx, int64_t *ret_us)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(node_clock), &c);
    if (!e)
        *ret_us = row_node_clock(&c, NULL).now;
    return e;
}

enum err node_join(struct tx *tx, const struct node *node, bool alone)
{
    enum err e = alone ? db_exec(tx->db, SQL(node_clear), NULL) : ERR_NONE;
    return e ? e
             : db_exec(tx->db,
                       SQL(node_join, .id = &node->id, .version = node->version, .schema_version = node->schema_version,
                           .host = node->host, .address = node->address, .ahead_us = node->ahead_us),
                       NULL);
}

enum err node_beat(struct tx *tx, const struct id *id, int64_t ahead_us, struct node_beat *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(node_beat, .id = id, .ahead_us = ahead_us), &c);
    if (e)
        return e;
    uint64_t offset_s = 0;
    const struct row_node_beat row = row_node_beat(&c, NULL);
    (void)str_to_u64(row.clock_offset_s, INT64_MAX, &offset_s);
    *ret = (struct node_beat){
        .at_us = row.heartbeat_at,
        .others = row.others,
        .dead = row.dead,
        .clock_offset_s = (int64_t)offset_s,
    };
    return ERR_NONE;
}

enum err node_end(struct tx *tx, const struct id *id, int64_t silent_us, int64_t *ret_jobs, int64_t *ret_deliveries)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(node_end, .id = id, .silent = silent_us, .now = tx->now_us), &c);
    if (e)
        return e;
    const struct row_node_end row = row_node_end(&c, NULL);
    *ret_jobs = row.jobs;
    *ret_deliveries = row.deliveries;
    return ERR_NONE;
}

enum err node_list(struct tx *tx, int64_t limit, const struct node **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, SQL(node_list, .limit = limit), &c);
    if (e)
        return e;
    struct node *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        const struct row_node_list row = row_node_list(&c, tx->arena);
        list[count++] = (struct node){
            .id = row.node.id,
            .version = row.node.version,
            .schema_version = row.node.schema_version,
            .host = row.node.host,
            .address = row.node.address,
            .started_us = row.node.started_at,
            .heartbeat_us = row.node.heartbeat_at,
            .ended_us = row.node.ended_at,
            .ahead_us = row.node.ahead_us,
            .alive = row.alive,
        };
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

enum err node_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    const int64_t real_us = before_us - clock_offset_s() * US_PER_S;
    return db_exec(tx->db, SQL(node_purge, .before = real_us, .limit = limit), ret_count);
}
