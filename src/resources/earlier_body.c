#include "resources/earlier_body.h"

#include <glib.h>

#include "base/forms.h"
#include "resources/grant_body.h"
#include "resources/page.h"

#define DURATION_MAX     1440
#define PASSCODE_USES    1
#define PASSCODE_MINUTES 60

/* ---- requests ---- */

struct earlier_input {
    struct grant_input in;
    struct val duration_minutes; /* a timer's name of expires_in_minutes */
};

#define IN(member, text, type, ...) FIELD_NAMED(struct earlier_input, in.member, text, type, __VA_ARGS__)
#define COMMON                                                                                                         \
    IN(label, "label", T_STRING, .max = GRANT_LABEL_MAX), IN(enabled, "active", T_BOOL),                               \
        IN(remaining_uses, "max_uses", T_INT, .flags = F_NULLABLE, .min = 1, .max = GRANT_USES_MAX),                   \
        IN(access_code, "code", T_STRING, .flags = F_SECRET, CODE_FORM),                                               \
        IN(enter_code_with_voice, "voice_enabled", T_BOOL),                                                            \
        FIELD(struct earlier_input, duration_minutes, T_INT, .min = 1, .max = DURATION_MAX),                           \
        IN(expires_in_minutes, "expires_in_minutes", T_INT, .min = 1, .max = GRANT_MINUTES_MAX),                       \
        IN(days, "days", T_STRINGS, .flags = F_LOWER, .min = 1, .max = 7, .values = schedule_day_names),               \
        IN(start, "start", T_STRING, TIME_OF_DAY_FORM), IN(end, "end", T_STRING, TIME_OF_DAY_FORM),                    \
        IN(timezone, "timezone", T_STRING, .flags = F_NONBLANK)

static const struct field create_fields[] = {
    IN(type, "type", T_STRING, .flags = F_REQUIRED | F_TAG, .values = grant_type_names, .error = ERR_INVALID_TYPE),
    COMMON,
};
const struct shape earlier_create_shape = SHAPE(struct earlier_input, "EarlierUnlockCreate", create_fields);

static const struct field update_fields[] = {COMMON, IN(ends_at, "expires_at", T_TIME, .flags = F_NULLABLE)};
const struct shape earlier_update_shape = SHAPE(struct earlier_input, "EarlierUnlockUpdate", update_fields);

static const char *const listed_statuses[] = {"active", "inactive", "expired", "exhausted", NULL};

#define FILTER(member, text, type, ...) FIELD_NAMED(struct grant_filter, member, text, type, __VA_ARGS__)
static const struct field query_fields[] = {
    FILTER(enabled, "active", T_BOOL, .error = ERR_INVALID_ACTIVE),
    FILTER(status, "status", T_STRING, .values = listed_statuses, .error = ERR_INVALID_FILTER),
    FILTER(type, "type", T_STRING, .values = grant_type_names, .error = ERR_INVALID_TYPE),
    FILTER(limit, "limit", T_INT, .min = 1, .max = GRANT_PAGE_MAX, .error = ERR_INVALID_LIMIT),
    FILTER(cursor, "cursor", T_ID, .error = ERR_INVALID_CURSOR),
};
const struct shape earlier_query_shape = SHAPE(struct grant_filter, "EarlierUnlockQuery", query_fields);

enum err earlier_check_minutes(struct tx *tx, const void *body, enum grant_type type)
{
    const struct earlier_input *b = body;
    if (type != GRANT_TIMER && v_given(b->duration_minutes)) {
        tx->why = arena_printf(tx->arena, "duration_minutes is not a field of a %s", grant_type_names[type]);
        return ERR_INVALID_UNLOCK;
    }
    if (type == GRANT_TIMER && v_given(b->in.expires_in_minutes))
        return tx_fail(tx, ERR_INVALID_UNLOCK, "expires_in_minutes is not a field of a timer");
    return ERR_NONE;
}

struct grant_input earlier_update_input(const void *body)
{
    const struct earlier_input *b = body;
    struct grant_input in = b->in;
    if (v_given(b->duration_minutes))
        in.expires_in_minutes = b->duration_minutes;
    return in;
}

enum err earlier_create_input(struct tx *tx, const void *body, struct grant_input *ret)
{
    struct grant_input in = earlier_update_input(body);
    const enum grant_type type = (enum grant_type)str_index(in.type.s, grant_type_names);
    enum err e = earlier_check_minutes(tx, body, type);
    if (e)
        return e;
    if (type == GRANT_PASSCODE && !v_given(in.remaining_uses))
        in.remaining_uses = v_int(PASSCODE_USES);
    if (type == GRANT_PASSCODE && !v_given(in.expires_in_minutes))
        in.expires_in_minutes = v_int(PASSCODE_MINUTES);
    *ret = in;
    return ERR_NONE;
}

/* The names that messages of the rules have, and the earlier ones. */
static const char *const renamed[][2] = {
    {"enabled", "active"},     {"remaining_uses", "max_uses"},
    {"access_code", "code"},   {"enter_code_with_voice", "voice_enabled"},
    {"ends_at", "expires_at"}, {"needs expires_in_minutes or expires_at", "needs duration_minutes"},
};

void earlier_why(struct tx *tx)
{
    if (!tx->why.n)
        return;
    GString *text = g_string_new_len(tx->why.p, (gssize)tx->why.n);
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        g_string_replace(text, renamed[i][0], renamed[i][1], 0);
    tx->why = arena_str(tx->arena, str_n(text->str, text->len));
    g_string_free(text, TRUE);
}

/* ---- replies ---- */

struct earlier_unlock {
    struct unlock u;
    struct val max_uses;
};

static const char *const statuses[] = {"active", "inactive", "expired", "exhausted", "revoked", NULL};

#define OUT(member, text, type, ...) FIELD_NAMED(struct earlier_unlock, u.member, text, type, __VA_ARGS__)
static const struct field unlock_fields[] = {
    OUT(building_id, "building_id", T_ID, .flags = F_REQUIRED),
    OUT(id, "id", T_ID, .flags = F_REQUIRED),
    OUT(type, "type", T_STRING, .flags = F_REQUIRED, .values = grant_type_names),
    OUT(label, "label", T_STRING, .flags = F_REQUIRED),
    OUT(enabled, "active", T_BOOL, .flags = F_REQUIRED),
    OUT(version, "version", T_INT, .flags = F_REQUIRED),
    OUT(status, "status", T_STRING, .flags = F_REQUIRED, .values = statuses),
    OUT(request_id, "request_id", T_STRING),
    OUT(created_at, "created_at", T_TIME, .flags = F_REQUIRED),
    OUT(updated_at, "updated_at", T_TIME),
    OUT(starts_at, "starts_at", T_TIME),
    OUT(ends_at, "expires_at", T_TIME),
    OUT(access_code, "code", T_STRING, .flags = F_SECRET),
    FIELD(struct earlier_unlock, max_uses, T_INT, .flags = F_NULLABLE),
    OUT(remaining_uses, "remaining_uses", T_INT, .flags = F_NULLABLE),
    OUT(enter_code_with_voice, "voice_enabled", T_BOOL),
    OUT(days, "days", T_STRINGS, .values = schedule_day_names),
    OUT(start, "start", T_STRING),
    OUT(end, "end", T_STRING),
    OUT(timezone, "timezone", T_STRING),
};
const struct shape earlier_unlock_shape = SHAPE(struct earlier_unlock, "EarlierUnlock", unlock_fields);

struct earlier_page {
    struct val data, pagination;
};
static const struct field page_fields[] = {
    FIELD(struct earlier_page, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &earlier_unlock_shape),
    FIELD(struct earlier_page, pagination, T_OBJECT, .flags = F_REQUIRED, .sub = &pagination_shape),
};
const struct shape earlier_page_shape = SHAPE(struct earlier_page, "EarlierUnlockPage", page_fields);

/* A timer that has not begun does not open the door, for which the earlier revision has one word only. */
static void fill_earlier(struct tx *tx, const struct id *building, const struct grant *g, struct earlier_unlock *u)
{
    *u = (struct earlier_unlock){0};
    unlock_fill(tx, building, g, &u->u);
    if (grant_status(g, tx->now_us) == GRANT_SCHEDULED)
        u->u.status = v_str(str_z(grant_status_names[GRANT_INACTIVE]));
    if (g->type != GRANT_ROUTINE)
        u->max_uses = g->max_uses == GRANT_UNLIMITED ? v_null() : v_int(g->max_uses);
}

const void *earlier_unlock_body(struct tx *tx, const struct id *building, const struct grant *g)
{
    struct earlier_unlock *u = arena_new(tx->arena, struct earlier_unlock);
    fill_earlier(tx, building, g, u);
    return u;
}

const void *earlier_page_body(struct tx *tx, const struct id *building, const struct grant_page *page)
{
    struct earlier_unlock *items = arena_array(tx->arena, struct earlier_unlock, page->count + 1);
    for (size_t i = 0; i < page->count; i++)
        fill_earlier(tx, building, &page->items[i], &items[i]);
    struct earlier_page *body = arena_new(tx->arena, struct earlier_page);
    body->data = v_list(items, page->count);
    body->pagination = pagination_of(tx->arena, page->more ? arena_str(tx->arena, id_str(&page->end)) : STR_NONE);
    return body;
}
