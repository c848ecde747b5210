#include "resources/routes.h"

#include "base/forms.h"
#include "base/schedule.h"
#include "domain/quiet.h"

#define TAG "People"

struct quiet_body {
    struct val from, until;
};
static const struct field quiet_fields[] = {
    FIELD(struct quiet_body, from, T_STRING, .flags = F_REQUIRED | F_NULLABLE, TIME_OF_DAY_FORM,
          .doc = "HH:MM, inclusive, in the time zone of the building; null: no quiet hours"),
    FIELD(struct quiet_body, until, T_STRING, .flags = F_REQUIRED | F_NULLABLE, TIME_OF_DAY_FORM,
          .doc = "HH:MM, exclusive; on the next day, if it is before from"),
};
static const struct shape quiet_shape = SHAPE(struct quiet_body, "QuietHours", quiet_fields);

static struct val minute_of(struct arena *a, const struct quiet *quiet, int minute)
{
    char *text = arena_alloc(a, SCHEDULE_MINUTE_TEXT_MAX);
    schedule_minute_format(minute, text);
    return quiet->from == quiet->until ? v_null() : v_str(str_z(text));
}

static enum err get_quiet(struct request *q, struct reply *p)
{
    struct arena *a = q->tx.arena;
    struct quiet quiet = {0};
    enum err e = quiet_get(&q->tx, &q->who.account_id, &q->who.member_id, &quiet);
    if (e)
        return e;
    const struct quiet_body body = {minute_of(a, &quiet, quiet.from), minute_of(a, &quiet, quiet.until)};
    return reply_copy(q, p, 200, &quiet_shape, &body);
}

static enum err put_quiet(struct request *q, struct reply *p)
{
    const struct quiet_body *in = q->body;
    struct quiet quiet = {0};
    const bool given = v_set(in->from);
    if (given != v_set(in->until))
        return tx_fail(&q->tx, ERR_INVALID_NOTICES, "Send from and until, or null for both.");
    if (given && (!schedule_minute_parse(in->from.s, &quiet.from) || !schedule_minute_parse(in->until.s, &quiet.until)))
        return ERR_INVALID_NOTICES;
    if (given && quiet.from == quiet.until)
        return tx_fail(&q->tx, ERR_INVALID_NOTICES, "from and until must differ.");
    enum err e = quiet_set(&q->tx, &q->who.account_id, &q->who.member_id, &quiet);
    return e ? e : get_quiet(q, p);
}

#define ROW                                                                                                            \
    .credential = CRED_WEB_SESSION, .people = PEOPLE_RESIDENT, .scopes = SCOPE(ACCOUNT_READ) | SCOPE(ACCESS_WRITE),    \
    .limit = LIMIT_KEY, .reply = &quiet_shape

static const struct route rows[] = {
    ROUTE("getQuietHours", GET, "/v1/person/quiet_hours", ROW, .run = RUN_READ, .handler = get_quiet,
          .flags = ROUTE_SITE_ONLY, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "The calling person's quiet hours", .flags = DOC_EXTENSION,
                           .errors = ROUTE_ERRORS(ERR_ACCOUNT_NOT_FOUND))),
    ROUTE("setQuietHours", PUT, "/v1/person/quiet_hours", ROW, .body = &quiet_shape, .body_error = ERR_INVALID_NOTICES,
          .run = RUN_WRITE, .handler = put_quiet, .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY,
          .store_error = ERR_UPDATE_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Set the calling person's quiet hours",
                           .description = "In them, the person's phone and browsers do not ring for a visitor, unless "
                                          "nobody else's do. Of the owner, at all buildings.",
                           .body_example = "{\"from\": \"22:00\", \"until\": \"07:00\"}", .flags = DOC_EXTENSION,
                           .errors = ROUTE_ERRORS(ERR_ACCOUNT_NOT_FOUND))),
};
const struct route_set quiet_routes = ROUTE_SET(rows);
