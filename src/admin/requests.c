/* Finds an error response by its request ID. */
#include "admin/routes.h"
#include "api/journal.h"

struct request_query {
    struct val request_id;
};
struct request_reply {
    struct val request_id, at, duration_us, method, path, status, code, message, account_id, building_id, key_id, peer;
};

static const struct field query_fields[] = {
    FIELD(struct request_query, request_id, T_STRING, .flags = F_REQUIRED, .max = 64, .doc = "req_…"),
};
static const struct shape query_shape = SHAPE(struct request_query, "AdminRequestQuery", query_fields);

static const struct field reply_fields[] = {
    FIELD(struct request_reply, request_id, T_STRING, .flags = F_REQUIRED),
    FIELD(struct request_reply, at, T_TIME, .flags = F_REQUIRED),
    FIELD(struct request_reply, duration_us, T_INT, .flags = F_REQUIRED),
    FIELD(struct request_reply, method, T_STRING, .flags = F_REQUIRED),
    FIELD(struct request_reply, path, T_STRING, .flags = F_REQUIRED, .doc = "pattern of the route"),
    FIELD(struct request_reply, status, T_INT, .flags = F_REQUIRED),
    FIELD(struct request_reply, code, T_STRING, .flags = F_REQUIRED),
    FIELD(struct request_reply, message, T_STRING, .flags = F_REQUIRED, .doc = "as sent to the client"),
    FIELD(struct request_reply, account_id, T_STRING, .doc = "if the request was authenticated"),
    FIELD(struct request_reply, building_id, T_STRING),
    FIELD(struct request_reply, key_id, T_STRING),
    FIELD(struct request_reply, peer, T_STRING, .flags = F_REQUIRED, .doc = "address of the client"),
};
static const struct shape reply_shape = SHAPE(struct request_reply, "AdminRequest", reply_fields);

static struct val text_of(struct request *q, const char *text)
{
    return *text ? v_str(arena_str(q->tx.arena, str_z(text))) : (struct val){0};
}

static enum err show_request(struct request *q, struct reply *p)
{
    const struct request_query *query = q->query;
    struct journal_record r;
    if (!q->journal)
        return tx_fail(&q->tx, ERR_NOT_FOUND, "request log is off: log.keep_requests_h is 0");
    enum err e = journal_find(q->journal, query->request_id.s, &r);
    if (e)
        return tx_fail(&q->tx, e, "no error response with this request ID, or it has expired");
    q->subject = arena_printf(q->tx.arena, "found=%s", r.request_id);
    return reply_copy(q, p, 200, &reply_shape,
                      &(struct request_reply){
                          .request_id = text_of(q, r.request_id),
                          .at = v_time(r.at_us),
                          .duration_us = v_int(r.duration_us),
                          .method = text_of(q, r.method),
                          .path = text_of(q, r.path),
                          .status = v_int(r.status),
                          .code = text_of(q, r.code),
                          .message = text_of(q, r.message),
                          .account_id = text_of(q, r.account_id),
                          .building_id = text_of(q, r.building_id),
                          .key_id = text_of(q, r.key_id),
                          .peer = text_of(q, r.peer),
                      });
}

static const struct route rows[] = {
    ROUTE("adminShowRequest", GET, "/admin/requests", .credential = CRED_CONTROL, .personal = true, .run = RUN_BLOCKING,
          .query = &query_shape, .handler = show_request, .reply = &reply_shape,
          .doc = ROUTE_DOC("Requests", 200, "Show an error response by its request ID")),
};
const struct route_set admin_request_routes = ROUTE_SET(rows);
