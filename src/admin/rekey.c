/* Seals the secrets of the store with the current master key, while the service runs. */
#include "admin/routes.h"
#include "domain/master.h"

struct rekey_reply {
    struct val sealed, unreadable;
};
static const struct field reply_fields[] = {
    FIELD(struct rekey_reply, sealed, T_INT, .flags = F_REQUIRED,
          .doc = "number of secrets sealed with the current key by this request"),
    FIELD(struct rekey_reply, unreadable, T_INT, .flags = F_REQUIRED,
          .doc = "number of secrets that no configured key opens"),
};
static const struct shape reply_shape = SHAPE(struct rekey_reply, "AdminRekeyed", reply_fields);

static enum err rekey(struct request *q, struct reply *p)
{
    struct master_rekeyed done;
    enum err e = master_rekey(&q->work, &done);
    if (e)
        return e;
    return reply_copy(q, p, 200, &reply_shape,
                      &(struct rekey_reply){.sealed = v_int(done.sealed), .unreadable = v_int(done.unreadable)});
}

static const struct route rows[] = {
    ROUTE("adminRekey", POST, "/admin/rekey", .credential = CRED_CONTROL, .run = RUN_BLOCKING, .handler = rekey,
          .reply = &reply_shape, .doc = ROUTE_DOC("Keys", 200, "Seal every secret with the current master key")),
};
const struct route_set admin_rekey_routes = ROUTE_SET(rows);
