/* The trunks of the telephone and their state. */
#include "admin/routes.h"
#include "api/parts.h"
#include "domain/trunk_board.h"

struct trunk_row {
    struct val name, server, transport, state, since, last_error, calls_in, calls_out;
};
struct trunks_reply {
    struct val data;
};

static const struct field row_fields[] = {
    FIELD(struct trunk_row, name, T_STRING, .flags = F_REQUIRED, .doc = "as in the configuration, voice.peer"),
    FIELD(struct trunk_row, server, T_STRING, .flags = F_REQUIRED),
    FIELD(struct trunk_row, transport, T_STRING, .flags = F_REQUIRED, .doc = "auto until its name was looked up"),
    FIELD(struct trunk_row, state, T_STRING, .flags = F_REQUIRED,
          .doc = "trying, up, registered, failing (its last call failed) or down"),
    FIELD(struct trunk_row, since, T_TIME, .flags = F_REQUIRED),
    FIELD(struct trunk_row, calls_in, T_INT, .flags = F_REQUIRED),
    FIELD(struct trunk_row, calls_out, T_INT, .flags = F_REQUIRED),
    FIELD(struct trunk_row, last_error, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
};
static const struct shape row_shape = SHAPE(struct trunk_row, "AdminTrunk", row_fields);
static const struct field trunks_fields[] = {
    FIELD(struct trunks_reply, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &row_shape),
};
static const struct shape trunks_shape = SHAPE(struct trunks_reply, "AdminTrunks", trunks_fields);

static struct val text_value(struct arena *a, const char *s)
{
    return v_str(arena_str(a, str_z(s)));
}

static enum err list_trunks(struct request *q, struct reply *p)
{
    struct trunk_status *list = arena_array(q->tx.arena, struct trunk_status, TRUNK_BOARD_MAX);
    const size_t count = trunk_board_list(q->parts->trunks, list);
    struct trunk_row *rows = arena_array(q->tx.arena, struct trunk_row, count + 1);
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct trunk_row){
            .name = text_value(q->tx.arena, list[i].name),
            .server = text_value(q->tx.arena, list[i].server),
            .transport = text_value(q->tx.arena, list[i].transport),
            .state = text_value(q->tx.arena, list[i].state),
            .since = v_time(list[i].since_us),
            .calls_in = v_int(list[i].calls_in),
            .calls_out = v_int(list[i].calls_out),
            .last_error = *list[i].error ? text_value(q->tx.arena, list[i].error) : v_null(),
        };
    return reply_copy(q, p, 200, &trunks_shape, &(struct trunks_reply){.data = v_list(rows, count)});
}

static const struct route rows[] = {
    ROUTE("adminListTrunks", GET, "/admin/trunks", .credential = CRED_CONTROL, .run = RUN_HERE, .handler = list_trunks,
          .reply = &trunks_shape, .doc = ROUTE_DOC("Trunks", 200, "List the trunks and their state")),
};
const struct route_set admin_trunk_routes = ROUTE_SET(rows);
