#include "sandbox/routes.h"

#include "api/parts.h"
#include "domain/work.h"
#include "jobs/queue.h"

#define LIMIT_MAX     100
#define LIMIT_DEFAULT 50

struct messages_query {
    struct val to, channel, limit;
};

struct message {
    struct val id, channel, to, subject, text, code, created_at;
};

struct messages {
    struct val data;
};

static const char *const channels[] = {"email", "sms", NULL};

static const struct field query_fields[] = {
    FIELD(struct messages_query, to, T_STRING, .flags = F_LOWER, .max = 254,
          .doc = "only messages to this number or address (case-insensitive)", .error = ERR_INVALID_FILTER),
    FIELD(struct messages_query, channel, T_STRING, .values = channels, .error = ERR_INVALID_FILTER,
          .doc = "only messages of this channel"),
    FIELD(struct messages_query, limit, T_INT, .min = 1, .max = LIMIT_MAX, .error = ERR_INVALID_LIMIT,
          .doc = "default 50"),
};
static const struct shape query_shape = SHAPE(struct messages_query, "SandboxMessagesQuery", query_fields);

static const struct field message_fields[] = {
    FIELD(struct message, id, T_STRING, .flags = F_REQUIRED),
    FIELD(struct message, channel, T_STRING, .flags = F_REQUIRED, .values = channels),
    FIELD(struct message, to, T_STRING, .flags = F_REQUIRED),
    FIELD(struct message, subject, T_STRING, .flags = F_REQUIRED, .doc = "empty for a text message"),
    FIELD(struct message, text, T_STRING, .flags = F_REQUIRED),
    FIELD(struct message, code, T_STRING, .doc = "the one-time code of the text"),
    FIELD(struct message, created_at, T_TIME, .flags = F_REQUIRED),
};
static const struct shape message_shape = SHAPE(struct message, "SandboxMessage", message_fields);
static const struct field messages_fields[] = {
    FIELD(struct messages, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &message_shape, .doc = "newest first"),
};
static const struct shape messages_shape = SHAPE(struct messages, "SandboxMessages", messages_fields);

struct page {
    const struct messages_query *query;
    struct message rows[LIMIT_MAX];
    size_t count;
};

static void take_row(const struct cursor *c, struct arena *a, struct message *ret)
{
    const struct row_sandbox_message row = row_sandbox_message(c, a);
    *ret = (struct message){
        .id = v_str(row.id),
        .channel = v_str(row.channel),
        .to = v_str(row.recipient),
        .subject = v_str(row.subject),
        .text = v_str(row.text),
        .created_at = v_time(row.created_at),
    };
    if (row.code.p)
        ret->code = v_str(row.code);
}

/* In a query an unencoded + means a space. Recipients contain no spaces, so it was meant as +. */
static struct str recipient(struct arena *a, struct str to)
{
    const struct str text = arena_str(a, to);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == ' ')
            ((char *)text.p)[i] = '+';
    return text;
}

static enum err read_messages(struct tx *tx, void *arg)
{
    struct page *page = arg;
    const struct messages_query *q = page->query;
    const struct str channel = v_set(q->channel) ? q->channel.s : STR_NONE;
    const int64_t limit = v_set(q->limit) ? q->limit.i : LIMIT_DEFAULT;
    CURSOR c;
    bool more;
    enum err e = db_query(tx->db,
                          v_set(q->to) ? SQL(sandbox_message_list_to, .channel = channel, .limit = limit,
                                             .recipient = recipient(tx->arena, q->to.s))
                                       : SQL(sandbox_message_list, .channel = channel, .limit = limit),
                          &c);
    for (page->count = 0; !e && !(e = db_next(&c, &more)) && more && page->count < LIMIT_MAX; page->count++)
        take_row(&c, tx->arena, &page->rows[page->count]);
    return e;
}

/* Sends due messages before listing them, so that clients do not have to poll. */
static enum err list_messages(struct request *q, struct reply *p)
{
    struct page *page = arena_new(q->tx.arena, struct page);
    struct messages *body = arena_new(q->tx.arena, struct messages);
    page->query = q->query;
    jobs_drain(q->parts->jobs);
    enum err e = work_read(&q->work, read_messages, page);
    if (e)
        return e;
    body->data = v_list(page->rows, page->count);
    return reply_ok(p, 200, &messages_shape, body);
}

static const struct route rows[] = {
    ROUTE("listSandboxMessages", GET, "/sandbox/messages", .credential = CRED_LOOPBACK, .query = &query_shape,
          .run = RUN_BLOCKING, .handler = list_messages, .reply = &messages_shape,
          .doc = ROUTE_DOC("Sandbox", 200, "List the e-mails and text messages that were sent",
                           .description =
                               "Due messages are sent before the list is read. `code` contains only the one-time code.",
                           .errors = ROUTE_ERRORS(ERR_INVALID_FILTER, ERR_INVALID_LIMIT))),
};
const struct route_set sandbox_messages_routes = ROUTE_SET(rows);
