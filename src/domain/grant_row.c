#include "domain/grant_row.h"

struct schedule grant_row_schedule(const struct row_schedule *r, struct str windows)
{
    if (windows.p) {
        struct schedule s = {.timezone = r->timezone};
        schedule_windows_parse(windows, &s);
        return s;
    }
    return (struct schedule){
        .count = 1,
        .windows = {{.days = (unsigned)r->days,
                     .start_minute = (int)r->start_minute,
                     .end_minute = (int)r->end_minute}},
        .timezone = r->timezone,
    };
}

/* A program that does not know max_uses may have set remaining_uses. */
static int max_uses_of(const struct row_grant *r, int remaining_uses)
{
    const int stored = (int)v_int_or(r->max_uses, GRANT_UNLIMITED);
    return remaining_uses == GRANT_UNLIMITED || remaining_uses > stored ? remaining_uses : stored;
}

/* A grant that has lost its label gets the one of a grant that was made without. */
static struct str label_of(const struct row_grant *r)
{
    return r->label.n ? r->label : r->windows.p ? STR(PASS_LABEL) : str_z(grant_type_names[r->type]);
}

struct grant grant_row(const struct row_grant *r)
{
    struct grant g = {
        .id = r->id,
        .type = (enum grant_type)r->type,
        .enabled = r->enabled,
        .revoked = r->revoked,
        .voice = r->voice,
        .remaining_uses = (int)v_int_or(r->remaining_uses, GRANT_UNLIMITED),
        .version = r->version,
        .created_us = r->created_at,
        .updated_us = v_int_or(r->updated_at, 0),
        .starts_us = r->starts_at,
        .ends_us = r->ends_at,
        .label = label_of(r),
        .request_id = r->request_id,
        .created_by = r->created_by,
        .member_id = r->member_id,
    };
    g.max_uses = max_uses_of(r, g.remaining_uses);
    g.pass = r->windows.p;
    g.note = r->note;
    const struct str code = r->access_code; /* NULL also where retention has taken it */
    if (g.type == GRANT_PASSCODE && code.n && code.n <= GRANT_CODE_MAX)
        memcpy(g.code, code.p, code.n);
    if (g.pass || g.type == GRANT_ROUTINE)
        g.schedule = grant_row_schedule(&r->schedule, r->windows);
    return g;
}

static struct val uses_or_null(int uses)
{
    return uses == GRANT_UNLIMITED ? v_null() : v_int(uses);
}

/* STR_NONE for a passcode that has lost its code. */
static struct str code_of(const struct grant *g)
{
    return g->code[0] ? str_z(g->code) : STR_NONE;
}

static struct val of_routine(const struct grant *g, int64_t i)
{
    return g->type == GRANT_ROUTINE ? v_int(i) : v_null();
}

static const struct id_bytes *id_or_null(const struct id *id, struct id_bytes *bytes)
{
    if (!id_given(id))
        return NULL;
    *bytes = id_to_bytes(id);
    return bytes;
}

static struct str windows_of(const struct grant *g, char text[static SCHEDULE_WINDOWS_TEXT_MAX])
{
    schedule_windows_format(&g->schedule, text);
    return str_z(text);
}

static enum err grant_row_try_insert(struct tx *tx, const struct id *building, const struct grant *g,
                                     const unsigned char request_hash[static SHA256_LEN], bool *ret_inserted)
{
    int64_t changed;
    struct id_bytes key, member;
    const struct id_bytes id = id_to_bytes(&g->id);
    enum err e =
        db_exec(tx->db,
                SQL(grant_insert, .building_id = building, .id = &id, .type = g->type, .label = g->label,
                    .enabled = g->enabled, .created_at = g->created_us, .starts_at = g->starts_us,
                    .ends_at = g->ends_us, .remaining_uses = uses_or_null(g->remaining_uses), .access_code = code_of(g),
                    .voice = g->voice, .days = of_routine(g, g->schedule.windows[0].days),
                    .start_minute = of_routine(g, g->schedule.windows[0].start_minute),
                    .end_minute = of_routine(g, g->schedule.windows[0].end_minute), .timezone = g->schedule.timezone,
                    .request_id = g->request_id, .request_key = crypto_hash64(g->request_id),
                    .request_hash = str_bytes(request_hash, GRANT_REQUEST_HASH_LEN),
                    .created_by = id_or_null(&g->created_by, &key), .member_id = id_or_null(&g->member_id, &member)),
                &changed);
    if (!e)
        *ret_inserted = changed == 1;
    return e;
}

static enum err insert_pass(struct tx *tx, const struct id *building, const struct grant *g,
                            const unsigned char request_hash[static SHA256_LEN], bool *ret_inserted)
{
    int64_t changed;
    struct id_bytes key, member;
    char windows[SCHEDULE_WINDOWS_TEXT_MAX];
    const struct id_bytes id = id_to_bytes(&g->id);
    enum err e =
        db_exec(tx->db,
                SQL(pass_insert, .building_id = building, .id = &id, .type = g->type, .label = g->label,
                    .enabled = g->enabled, .created_at = g->created_us, .starts_at = g->starts_us,
                    .ends_at = g->ends_us, .remaining_uses = uses_or_null(g->remaining_uses), .access_code = code_of(g),
                    .voice = g->voice, .timezone = g->schedule.timezone, .windows = windows_of(g, windows),
                    .note = g->note, .request_id = g->request_id, .request_key = crypto_hash64(g->request_id),
                    .request_hash = str_bytes(request_hash, GRANT_REQUEST_HASH_LEN),
                    .created_by = id_or_null(&g->created_by, &key), .member_id = id_or_null(&g->member_id, &member)),
                &changed);
    if (!e)
        *ret_inserted = changed == 1;
    return e;
}

enum err grant_row_insert(struct tx *tx, const struct id *building, const struct grant *g,
                          const unsigned char request_hash[static SHA256_LEN], bool *ret_inserted)
{
    int64_t numbered;
    if (g->pass)
        return insert_pass(tx, building, g, request_hash, ret_inserted);
    enum err e = grant_row_try_insert(tx, building, g, request_hash, ret_inserted);
    if (e || *ret_inserted)
        return e;
    e = db_exec(tx->db, SQL(grant_building_add, .id = building), &numbered);
    return e || !numbered ? e : grant_row_try_insert(tx, building, g, request_hash, ret_inserted);
}

static enum err write_pass(struct tx *tx, const struct id *building, const struct grant *g, int64_t *ret_changed)
{
    char windows[SCHEDULE_WINDOWS_TEXT_MAX];
    const struct id_bytes id = id_to_bytes(&g->id);
    return db_exec(tx->db,
                   SQL(pass_update, .building_id = building, .id = &id, .version = g->version, .type = g->type,
                       .label = g->label, .enabled = g->enabled, .starts_at = g->starts_us, .ends_at = g->ends_us,
                       .remaining_uses = uses_or_null(g->remaining_uses), .access_code = code_of(g), .voice = g->voice,
                       .timezone = g->schedule.timezone, .windows = windows_of(g, windows), .note = g->note,
                       .updated_at = tx->now_us, .max_uses = uses_or_null(g->max_uses)),
                   ret_changed);
}

static enum err write_grant(struct tx *tx, const struct id *building, const struct grant *g, int64_t *ret_changed)
{
    const struct id_bytes id = id_to_bytes(&g->id);
    return db_exec(tx->db,
                   SQL(grant_update, .building_id = building, .id = &id, .version = g->version, .label = g->label,
                       .enabled = g->enabled, .starts_at = g->starts_us, .ends_at = g->ends_us,
                       .remaining_uses = uses_or_null(g->remaining_uses), .access_code = code_of(g), .voice = g->voice,
                       .days = of_routine(g, g->schedule.windows[0].days),
                       .start_minute = of_routine(g, g->schedule.windows[0].start_minute),
                       .end_minute = of_routine(g, g->schedule.windows[0].end_minute), .timezone = g->schedule.timezone,
                       .updated_at = tx->now_us, .max_uses = uses_or_null(g->max_uses)),
                   ret_changed);
}

enum err grant_row_update(struct tx *tx, const struct id *building, const struct grant *g, bool *ret_updated)
{
    int64_t changed;
    enum err e = g->pass ? write_pass(tx, building, g, &changed) : write_grant(tx, building, g, &changed);
    if (!e)
        *ret_updated = changed == 1;
    return e;
}

enum err grant_forget(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    int64_t grants = 0, passes = 0;
    enum err e = db_exec(tx->db, SQL(grant_forget, .before = before_us, .limit = limit), &grants);
    if (!e && grants < limit)
        e = db_exec(tx->db, SQL(pass_forget, .before = before_us, .limit = limit - grants), &passes);
    if (!e)
        *ret_count = grants + passes;
    return e;
}
