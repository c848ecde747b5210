#include "sandbox/routes.h"

#include "providers/receiver.h"

struct webhook_seen {
    struct val received_at, url, status, signature, traceparent, genuine, body;
};

struct webhooks_seen {
    struct val data;
};

static const struct field seen_fields[] = {
    FIELD(struct webhook_seen, received_at, T_TIME, .flags = F_REQUIRED),
    FIELD(struct webhook_seen, url, T_STRING, .flags = F_REQUIRED),
    FIELD(struct webhook_seen, status, T_INT, .flags = F_REQUIRED, .doc = "the status that the receiver answered"),
    FIELD(struct webhook_seen, signature, T_STRING, .flags = F_REQUIRED,
          .doc = "the header `Service-Signature`, or `X-Service-Signature` of the earlier revision"),
    FIELD(struct webhook_seen, traceparent, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct webhook_seen, genuine, T_BOOL, .flags = F_REQUIRED,
          .doc = "whether the signature is that of the endpoint's secret"),
    FIELD(struct webhook_seen, body, T_STRING, .flags = F_REQUIRED,
          .doc = "as it was sent: the signature is of its bytes"),
};
static const struct shape seen_shape = SHAPE(struct webhook_seen, "SandboxWebhook", seen_fields);
static const struct field list_fields[] = {
    FIELD(struct webhooks_seen, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &seen_shape, .doc = "newest first"),
};
static const struct shape list_shape = SHAPE(struct webhooks_seen, "SandboxWebhooks", list_fields);

/* The value of a line "Name: value". */
static struct val header_value(struct str line)
{
    struct str value;
    (void)str_cut(line, ':', &value);
    return line.n ? v_str(str_trim(value)) : v_null();
}

static enum err list_seen_webhooks(struct request *q, struct reply *p)
{
    struct received *list = arena_array(q->tx.arena, struct received, RECEIVED_MAX);
    struct webhooks_seen *body = arena_new(q->tx.arena, struct webhooks_seen);
    const size_t count = receiver_list(q->tx.arena, list, RECEIVED_MAX);
    struct webhook_seen *rows = arena_array(q->tx.arena, struct webhook_seen, RECEIVED_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct received *r = &list[i];
        rows[i] = (struct webhook_seen){.received_at = v_time(r->at_us),
                                        .url = v_str(r->url),
                                        .status = v_int(r->status),
                                        .signature = header_value(r->signature),
                                        .traceparent = header_value(r->trace),
                                        .genuine = v_bool(r->genuine),
                                        .body = v_str(r->body)};
    }
    body->data = v_list(rows, count);
    return reply_ok(p, 200, &list_shape, body);
}

static const struct route rows[] = {
    ROUTE("listSandboxWebhooks", GET, "/sandbox/webhooks", .credential = CRED_LOOPBACK, .run = RUN_HERE,
          .handler = list_seen_webhooks, .reply = &list_shape,
          .doc = ROUTE_DOC("Sandbox", 200, "List the deliveries to https://receiver.test/",
                           .description = "The newest 50. `https://receiver.test/` answers 200, "
                                          "`https://receiver.test/503` answers 503, and so on.")),
};
const struct route_set sandbox_webhooks_routes = ROUTE_SET(rows);
