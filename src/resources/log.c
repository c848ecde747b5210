#include "resources/routes.h"

#include "domain/activity.h"
#include "resources/page.h"

#define FILTER(member, type, ...) FIELD(struct activity_filter, member, type, __VA_ARGS__)
static const struct field query_fields[] = {
    FILTER(limit, T_INT, .min = 1, .max = ACTIVITY_PAGE_MAX, .error = ERR_INVALID_LIMIT, .doc = "default 50"),
    FILTER(since, T_TIME, .error = ERR_INVALID_DATE, .doc = "inclusive"),
    FILTER(until, T_TIME, .error = ERR_INVALID_DATE, .doc = "inclusive"),
    FILTER(type, T_STRING, .values = activity_type_names, .error = ERR_INVALID_TYPE,
           .doc = "unlock: attempts to open the door; call: forwarded calls"),
    FILTER(unlock_id, T_ID, .error = ERR_INVALID_ID, .doc = "entries of this grant"),
    FILTER(q, T_STRING, .flags = F_TRIM | F_NONBLANK, .min = 1, .max = ACTIVITY_QUERY_MAX, .error = ERR_INVALID_QUERY,
           .doc = "part of an entry's name, case-insensitive"),
    FILTER(succeeded, T_BOOL, .error = ERR_INVALID_SUCCEEDED, .doc = "value of the entry's succeeded"),
    FILTER(cursor, T_STRING, .error = ERR_INVALID_CURSOR, .doc = "pagination.cursor of the previous page"),
};
static const struct shape query_shape = SHAPE(struct activity_filter, "LogQuery", query_fields);

struct log_entry {
    struct val building_id, id, call_id, unlock_id, type, unlock_type, name, succeeded, created_at;
};

#define OUT(member, type, ...) FIELD(struct log_entry, member, type, __VA_ARGS__)
static const struct field entry_fields[] = {
    OUT(building_id, T_ID, .flags = F_REQUIRED),
    OUT(id, T_ID, .flags = F_REQUIRED),
    OUT(call_id, T_ID, .doc = "the call that made the entry, and its visit; absent where it is not known"),
    OUT(unlock_id, T_ID, .doc = "the grant that was used"),
    OUT(type, T_STRING, .flags = F_REQUIRED, .values = activity_type_names),
    OUT(unlock_type, T_STRING, .doc = "timer, passcode, routine, or unknown(N) for legacy values"),
    OUT(name, T_STRING, .flags = F_REQUIRED, .doc = "e.g. the grant's label"),
    OUT(succeeded, T_BOOL, .flags = F_REQUIRED, .doc = "unlock: the door was released; call: always true"),
    OUT(created_at, T_TIME, .flags = F_REQUIRED),
};
static const struct shape entry_shape = SHAPE(struct log_entry, "LogEntry", entry_fields);

struct log_page {
    struct val building_id, data, pagination;
};
static const struct field page_fields[] = {
    FIELD(struct log_page, building_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct log_page, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &entry_shape,
          .doc = "by created_at, newest first, then by id"),
    FIELD(struct log_page, pagination, T_OBJECT, .flags = F_REQUIRED, .sub = &pagination_shape),
};
static const struct shape page_shape = SHAPE(struct log_page, "LogPage", page_fields);

static struct val id_val(const struct id *id)
{
    return v_str(str_n(id->text, ID_LEN));
}

static void fill_log_entry(const struct id *building, const struct activity *entry, struct log_entry *ret)
{
    *ret = (struct log_entry){
        .building_id = id_val(building),
        .id = id_val(&entry->id),
        .type = v_str(str_z(activity_type_names[entry->type])),
        .name = v_str(entry->name),
        .succeeded = v_bool(entry->succeeded),
        .created_at = v_time(entry->created_us),
    };
    if (id_given(&entry->call_id))
        ret->call_id = id_val(&entry->call_id);
    if (id_given(&entry->unlock_id))
        ret->unlock_id = id_val(&entry->unlock_id);
    if (entry->unlock_type.p)
        ret->unlock_type = v_str(entry->unlock_type);
}

static enum err list_logs(struct request *q, struct reply *p)
{
    struct arena *a = q->tx.arena;
    struct activity_page page;
    enum err e = activity_list(&q->tx, &q->building_id, q->query, &page);
    if (e)
        return e;
    struct log_entry *items = arena_alloc(a, page.count * sizeof *items);
    for (size_t i = 0; i < page.count; i++)
        fill_log_entry(&q->building_id, &page.items[i], &items[i]);
    struct log_page *body = arena_alloc(a, sizeof *body);
    *body = (struct log_page){id_val(&q->building_id), v_list(items, page.count), pagination_of(a, page.cursor)};
    return reply_ok(p, 200, &page_shape, body);
}

/* A page without filters, or of one grant, is one range of an index; other filters may scan many rows. */
static bool searches(const void *query)
{
    const struct activity_filter *f = query;
    return v_set(f->q) || v_set(f->type) || v_set(f->succeeded);
}

static const struct route rows[] = {
    ROUTE("listLogs", GET, "/v1/logs", .credential = CRED_KEY, .people = PEOPLE_ALL, .scopes = SCOPE(LOGS_READ),
          .limit = LIMIT_KEY, .building = BUILDING_HEADER, .query = &query_shape, .run = RUN_READ, .lengthy = searches,
          .handler = list_logs, .reply = &page_shape, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(
              "Activity logs", 200, "List the activity at the door",
              .description =
                  "Newest first. `type=unlock` are attempts to enter, including failed ones; `type=call` are forwarded "
                  "calls. Codes are never shown. An entry shows that the release tone was sent, not that a person "
                  "entered. To stay up to date, read from shortly before the last known entry and skip known `id`s.")),
};

const struct route_set log_routes = ROUTE_SET(rows);
