/* Events, which webhook deliveries carry, written in the transaction of their cause (contract, Events). */
#pragma once
#include "domain/tx.h"
#include "event/data.h"

/* The types of the earlier revision (EARLIER-26); those before the test can be listed by an endpoint. */
enum earlier_event {
#define V(symbol, text) EARLIER_##symbol,
#include "tbl/earlier_events.def"
#undef V
    EARLIER_EVENT_COUNT,
    EARLIER_LISTED = EARLIER_WEBHOOK_TEST,
    EARLIER_NONE = EARLIER_EVENT_COUNT
};

/* A trace as an event keeps it: the trace ID, "-", the flags, in lower-case hex (W3C Trace Context, section 3.2.2). */
#define TRACE_LEN 35

/* "unlock.created" …, in the order of the enum, NULL-terminated. */
extern const char *const earlier_event_names[];

/* The bits of a list of types, a VAL_LIST of VAL_STR, by their place among the first `count` of `names`. Fails with
 * `error` for an empty list, an unknown type or a duplicate. */
enum err event_bits(struct tx *tx, struct val texts, const char *const *names, unsigned count, enum err error,
                    uint32_t *ret) CHECKED;

/* Writes an event at a building, with the members of `data` that belong to its type, and a delivery to each endpoint of
 * the account that listens to the type; and the event of the earlier revision that stands for it, with deliveries to
 * the building's endpoints (domain/building_webhook.h). Writes nothing for which no endpoint listens. *ret_id is the
 * first one's, or empty; ret_id may be NULL, as `building` for an event without one. */
enum err event_write(struct tx *tx, enum event_type type, const struct id *account, const struct id *building,
                     const struct event_data *data, struct event_id *ret_id) CHECKED;
/* Writes an event that the earlier revision alone has. */
enum err event_write_earlier(struct tx *tx, enum earlier_event type, const struct id *account,
                             const struct id *building, const struct event_data *data) CHECKED;
/* Writes an event for one endpoint alone, whether or not it listens to the type. */
enum err event_write_to(struct tx *tx, enum event_type type, const struct id *account, const struct id *webhook,
                        const struct event_data *data, struct id *ret_delivery) CHECKED;
/* Writes a webhook.test event of the earlier revision for one endpoint of the building. */
enum err event_write_earlier_test(struct tx *tx, const struct id *account, const struct id *building,
                                  const struct id *webhook, struct id *ret_delivery) CHECKED;
/* Queues a delivery of a stored event to an endpoint of the account, due at once. */
enum err event_deliver(struct tx *tx, const struct id *account, const struct id *webhook, struct str event,
                       struct id *ret_delivery) CHECKED;

/* Deletes at most `limit` events from before before_us that have no delivery any more. *ret_count is their number. */
enum err event_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
