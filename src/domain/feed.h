/* The feed of a building: what happened at its door and to its grants and settings, in the order of the commits and
 * without a gap in its numbers. It feeds the stream of events (api/hub.h). Kept for FEED_KEPT_S. No event has a code,
 * or a key that a visitor pressed. */
#pragma once
#include "base/val.h"
#include "domain/access.h"
#include "domain/call_record.h"

#define FEED_KEPT_S 86400

enum feed_type {
#define V(symbol, text, fields, doc) FEED_##symbol,
#include "tbl/feed.def"
#undef V
    FEED_TYPE_COUNT
};

/* "call.ring" …, NULL-terminated. */
extern const char *const feed_type_names[];

/* The data of every type; an event has the members of its type's shape. */
struct feed_data {
    struct val call_id;
    struct val caller, quiet, number, reason, ended_by, outcome;
    struct val key_id;
    struct val unlock_id, label, version, remaining_uses;
};

/* ---- writing, in the transaction of the cause ---- */

/* Gives the grant's newest events, at most 500, its label. */
enum err feed_relabel(struct tx *tx, const struct id *building, const struct id *grant, struct str label) CHECKED;
/* Adds an event, with the members of `data` that belong to its type, and has the listener of the store told
 * (db_fed). */
enum err feed_add(struct tx *tx, const struct id *building, enum feed_type type, int64_t at_us,
                  const struct feed_data *data) CHECKED;
/* The same for a building that had an event before, and perhaps exists no more: then nothing is added. */
enum err feed_add_again(struct tx *tx, const struct id *building, enum feed_type type, int64_t at_us,
                        const struct feed_data *data) CHECKED;
/* A grant was created, changed or revoked. */
enum err feed_grant(struct tx *tx, const struct id *building, enum feed_type type, const struct id *grant,
                    int64_t version) CHECKED;
enum err feed_settings(struct tx *tx, const struct id *building) CHECKED;

/* ---- calls ---- */

enum feed_decision { FEED_ARRIVAL, FEED_CODE, FEED_FORWARDING };

/* A decision about a call, in its transaction. `reason` belongs to a forwarding. */
enum err feed_decided(struct tx *tx, const struct call_arrival *call, enum feed_decision what,
                      const struct access_decision *d, enum access_reason reason) CHECKED;
/* The events of some steps, as call_step_write() writes them: the steps that no decision has told. */
enum err feed_steps(struct tx *tx, const struct call_arrival *call, const struct id *building,
                    struct str steps) CHECKED;
/* Whether feed_steps would write an event. */
bool feed_tells(struct str steps);
/* The call has ended and its record is written. */
enum err feed_ended(struct tx *tx, const struct call_arrival *call, const struct call_end *end) CHECKED;

/* ---- reading ---- */

struct feed_event {
    int64_t seq, at_us;
    struct str type, data; /* in the arena; data is JSON */
};

/* The last number that was taken; 0: none. */
enum err feed_newest(struct tx *tx, const struct id *building, int64_t *ret) CHECKED;
/* At most `limit` events after `after`, in order, in the arena. */
enum err feed_read(struct tx *tx, const struct id *building, int64_t after, int64_t limit,
                   const struct feed_event **ret, size_t *ret_count) CHECKED;

/* The events of calls that have not ended, among the newest FEED_RECENT ones up to `newest`, in order, in the arena. A
 * call whose process died has no end: the reader must judge by the time. */
#define FEED_RECENT 40
enum err feed_calls_now(struct tx *tx, const struct id *building, int64_t newest, const struct feed_event **ret,
                        size_t *ret_count) CHECKED;
/* Writes an event as JSON: {"seq", "type", "at", and the members of its shape}. */
void feed_put(struct buf *out, const struct feed_event *e);

/* Deletes the oldest events from before before_us, at most `limit`. */
enum err feed_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
