#include "domain/node.h"

#include "domain/row.h"

enum err node_clock(struct tx *tx, int64_t *ret_us)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(node_clock), &c);
    if (!e)
        *ret_us = col_int(&c, COL_NODE_CLOCK_NOW);
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
    (void)str_to_u64(col_str(&c, COL_NODE_BEAT_CLOCK_OFFSET_S), INT64_MAX, &offset_s);
    *ret = (struct node_beat){
        .at_us = col_int(&c, COL_NODE_BEAT_HEARTBEAT_AT),
        .others = col_int(&c, COL_NODE_BEAT_OTHERS),
        .dead = col_id(&c, COL_NODE_BEAT_DEAD),
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
    *ret_jobs = col_int(&c, COL_NODE_END_JOBS);
    *ret_deliveries = col_int(&c, COL_NODE_END_DELIVERIES);
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
        list[count++] = (struct node){
            .id = col_id(&c, COL_NODE_ID),
            .version = col_copy(&c, COL_NODE_VERSION, tx->arena),
            .schema_version = col_int(&c, COL_NODE_SCHEMA_VERSION),
            .host = col_copy(&c, COL_NODE_HOST, tx->arena),
            .address = col_copy(&c, COL_NODE_ADDRESS, tx->arena),
            .started_us = col_int(&c, COL_NODE_STARTED_AT),
            .heartbeat_us = col_int(&c, COL_NODE_HEARTBEAT_AT),
            .ended_us = col_int(&c, COL_NODE_ENDED_AT),
            .ahead_us = col_int(&c, COL_NODE_AHEAD_US),
            .alive = col_int(&c, COL_NODE_LIST_ALIVE) != 0,
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
