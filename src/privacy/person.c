#include "privacy/person.h"

#include <inttypes.h>

#include "domain/call_message.h"
#include "domain/call_record.h"
#include "domain/job.h"
#include "domain/mail.h"
#include "domain/member.h"
#include "privacy/person_text.h"
#include "privacy/personal.h"
#include "store/sql_table.h"

#define TEXTS        3
#define AUDIO_WINDOW 10 /* rows of a window that may have audio */

/* A row that names the person: its keys, and its texts without the person. */
struct hit {
    struct val key[PERSON_KEYS];
    struct str text[TEXTS];
};

static enum err end_building(struct tx *tx, const struct hit *h)
{
    db_doors(tx->db, NULL);
    return db_exec(tx->db,
                   SQL(person_building_end, .id = h->key[0], .forward_phone = h->text[0], .ring_numbers = h->text[1],
                       .callers_numbers = h->text[2]),
                   NULL);
}

static enum err end_member(struct tx *tx, const struct hit *h)
{
    struct member member = {0};
    struct id id;
    if (!id_parse(h->key[0].s, &id))
        return ERR_INTERNAL_ERROR;
    enum err e = member_get(tx, &id, &member);
    if (!e)
        e = member_remove(tx, &id);
    return e ? e : db_exec(tx->db, SQL(erasure_member_keys, .account_id = &member.account_id, .member_id = &id), NULL);
}

static enum err end_challenge(struct tx *tx, const struct hit *h)
{
    return db_exec(tx->db, SQL(person_challenge_end, .id = h->key[0]), NULL);
}

static enum err end_grant(struct tx *tx, const struct hit *h)
{
    return db_exec(tx->db,
                   SQL(person_grant_end, .building = h->key[0], .revoked = h->key[1], .id = h->key[2],
                       .label = h->text[0], .note = h->text[1]),
                   NULL);
}

static enum err end_pass(struct tx *tx, const struct hit *h)
{
    return db_exec(tx->db,
                   SQL(person_pass_end, .building_id = h->key[0], .revoked = h->key[1], .id = h->key[2],
                       .label = h->text[0], .note = h->text[1]),
                   NULL);
}

static enum err end_kind(struct tx *tx, const struct hit *h)
{
    return db_exec(tx->db, SQL(person_kind_end, .building_id = h->key[0], .kind = h->key[1]), NULL);
}

static enum err end_message(struct tx *tx, const struct hit *h)
{
    return db_exec(tx->db, SQL(person_message_end, .call_id = h->key[0]), NULL);
}

static enum err end_call(struct tx *tx, const struct hit *h)
{
    return db_exec(
        tx->db,
        SQL(person_call_end, .building_id = h->key[0], .id = h->key[1], .caller = h->text[0], .steps = h->text[1]),
        NULL);
}

static enum err end_visit(struct tx *tx, const struct hit *h)
{
    return db_exec(tx->db,
                   SQL(person_visit_end, .building_id = h->key[0], .id = h->key[1], .grant_name = h->text[0],
                       .opener = h->text[1], .person = h->text[2]),
                   NULL);
}

static enum err end_caller(struct tx *tx, const struct hit *h)
{
    return db_exec(tx->db, SQL(person_caller_end, .building_id = h->key[0], .number = h->key[1]), NULL);
}

static enum err end_feed(struct tx *tx, const struct hit *h)
{
    return db_exec(tx->db, SQL(person_feed_end, .building_id = h->key[0], .seq = h->key[1], .data = h->text[0]), NULL);
}

static enum err end_event(struct tx *tx, const struct hit *h)
{
    return db_exec(tx->db, SQL(person_event_end, .account_id = h->key[0], .id = h->key[1], .data = h->text[0]), NULL);
}

static enum err end_mail(struct tx *tx, const struct hit *h)
{
    return job_done(tx, h->key[0].s);
}

static enum err end_sent(struct tx *tx, const struct hit *h)
{
    return db_exec(tx->db, SQL(person_sent_end, .id = h->key[0]), NULL);
}

/* ---- the tables ---- */

#define ROWS(table, sql, n)                                                                                            \
    {                                                                                                                  \
        .name = #table, .statement = SQL_PERSON_##sql, .keys = (n)                                                     \
    }

/* A message goes before the record of its call, which says who left it. */
static const struct person_table {
    struct personal_table rows;
    int texts;                                             /* columns after the keys that are searched */
    enum err (*end)(struct tx *tx, const struct hit *hit); /* NULL: the rows are kept */
    enum person_manner manner[TEXTS];                      /* of a row that is changed; others are deleted */
} tables[PERSON_TABLES] = {
    {ROWS(account, ACCOUNT, 1), 2, NULL, {PERSON_BLANK}},
    {ROWS(building, BUILDING, 1), 3, end_building, {PERSON_BLANK, PERSON_LISTED, PERSON_LISTED}},
    {ROWS(member, MEMBER, 1), 3, end_member, {PERSON_BLANK}},
    {ROWS(challenge, CHALLENGE, 1), 1, end_challenge, {PERSON_BLANK}},
    {ROWS(access_grant, GRANT, 3), 2, end_grant, {PERSON_WHOLE, PERSON_BLANK}},
    {ROWS(pass, PASS, 3), 2, end_pass, {PERSON_WHOLE, PERSON_BLANK}},
    {ROWS(activity_kind, KIND, 2), 2, end_kind, {PERSON_BLANK}},
    {ROWS(call_message, MESSAGE, 1), 1, end_message, {PERSON_BLANK}},
    {ROWS(call_record, CALL, 2), 2, end_call, {PERSON_EMPTY, PERSON_EACH}},
    {ROWS(visit, VISIT, 2), 3, end_visit, {PERSON_WHOLE, PERSON_WHOLE, PERSON_WHOLE}},
    {ROWS(door_caller, CALLER, 2), 1, end_caller, {PERSON_BLANK}},
    {ROWS(feed, FEED, 2), 1, end_feed, {PERSON_IN_JSON}},
    {ROWS(event, EVENT, 2), 1, end_event, {PERSON_IN_JSON}},
    {ROWS(job, MAIL, 1), 0, end_mail, {PERSON_BLANK}},
    {ROWS(sandbox_message, SENT, 1), 3, end_sent, {PERSON_BLANK}},
};

const char *person_table_name(size_t table)
{
    return tables[table].rows.name;
}

bool person_keeps(size_t table)
{
    return !tables[table].end;
}

/* ---- the walk ---- */

static bool is_message(const struct person_table *t)
{
    return t->end == end_message;
}

static enum err query_window(struct tx *tx, const struct person_table *t, const struct person_mark *m, int64_t limit,
                             struct cursor *ret)
{
    struct val after[PERSON_KEYS];
    for (int i = 0; i < t->rows.keys; i++)
        after[i] = m->begun ? m->after[i] : personal_key(tx, &t->rows, i, NULL);
    switch (t->rows.keys) {
    case 1:
        return db_query(tx->db, SQL_AS(t->rows.statement, person_message, .after = after[0], .limit = limit), ret);
    case 2:
        return db_query(
            tx->db, SQL_AS(t->rows.statement, person_call, .after = after[0], .then_after = after[1], .limit = limit),
            ret);
    default:
        return db_query(tx->db,
                        SQL_AS(t->rows.statement, person_grant, .after = after[0], .then_after = after[1],
                               .last_after = after[2], .limit = limit),
                        ret);
    }
}

/* The texts of the row without the person. Returns whether one of them names the person. */
static bool read_texts(struct tx *tx, const struct person_table *t, struct str word, const struct cursor *c,
                       struct str ret[static TEXTS])
{
    bool named = false;
    for (int i = 0; i < t->texts; i++)
        named |= person_named(db_column(c, t->rows.keys + i, NULL).s, word);
    for (int i = 0; named && i < t->texts; i++)
        ret[i] = person_erase(db_column(c, t->rows.keys + i, tx->arena).s, word, t->manner[i], tx->arena);
    return named;
}

static bool mail_names(struct tx *tx, struct str word, const struct cursor *c)
{
    struct mail_intent mail;
    const struct val sealed = db_column(c, 1, tx->arena);
    return !mail_read(sealed.s, tx->arena, &mail) &&
           (person_named(mail.to, word) || person_named(mail.subject, word) || person_named(mail.text, word));
}

static bool row_names(struct tx *tx, const struct person_table *t, struct str word, const struct cursor *c,
                      struct hit *ret)
{
    return t->texts ? read_texts(tx, t, word, c, ret->text) : mail_names(tx, word, c);
}

static enum err put_row(struct tx *tx, const struct person_table *t, const struct cursor *c, struct buf *out)
{
    buf_str(out, out->n ? STR(",\n{\"table\":\"") : STR("{\"table\":\""));
    buf_str(out, str_z(t->rows.name));
    buf_lit(out, "\",\"row\":");
    enum err e = personal_row(tx, &t->rows, c, out);
    buf_char(out, '}');
    return e;
}

/* The rows of a window that name the person. */
struct window {
    struct hit *hits;
    size_t count;
    struct person_mark next;
};

static enum err read_window(struct tx *tx, struct person_walk *w, const struct person_table *t, struct window *ret)
{
    const int64_t limit = is_message(t) ? AUDIO_WINDOW : PERSON_WINDOW;
    int64_t n = 0;
    bool more = true;
    CURSOR c;
    enum err e = query_window(tx, t, &w->mark, limit, &c);
    while (!e && !(e = db_next(&c, &more)) && more && n < limit) {
        struct hit *h = &ret->hits[ret->count];
        const bool named = row_names(tx, t, w->word, &c, h);
        n++;
        for (int i = 0; (named || n == limit) && i < t->rows.keys; i++) {
            h->key[i] = personal_key(tx, &t->rows, i, &c);
            ret->next.after[i] = h->key[i];
        }
        ret->count += named;
        if (named && w->out)
            e = put_row(tx, t, &c, w->out);
    }
    ret->next.begun = n == limit;
    ret->next.table = w->mark.table + (n < limit);
    return e;
}

/* The voices of the messages, as WAV files. */
static enum err put_voices(struct tx *tx, const struct window *found, struct buf *out)
{
    struct recorded_call call;
    struct str wav;
    struct id id;
    enum err e = ERR_NONE;
    for (size_t i = 0; !e && i < found->count; i++) {
        if (!id_parse(found->hits[i].key[0].s, &id))
            return ERR_INTERNAL_ERROR;
        e = call_record_find(tx, &id, &call);
        if (!e)
            e = call_message_get(tx, &call.building_id, &id, &wav);
        if (e)
            return e;
        buf_printf(out, ",\n{\"table\":\"call_message\",\"row\":{\"call_id\":\"%s\",\"audio\":", id.text);
        personal_base64(wav, out);
        buf_lit(out, "}}");
    }
    return e;
}

enum err person_step(struct tx *tx, struct person_walk *w)
{
    const struct person_table *t = &tables[w->mark.table];
    struct window found = {.hits = arena_array(tx->arena, struct hit, PERSON_WINDOW + 1)};
    enum err e = read_window(tx, w, t, &found);
    if (!e && w->out && is_message(t))
        e = put_voices(tx, &found, w->out);
    for (size_t i = 0; !e && w->erase && t->end && i < found.count; i++)
        e = t->end(tx, &found.hits[i]);
    if (!e && w->out && w->out->full)
        e = ERR_INTERNAL_ERROR;
    if (e)
        return e;
    w->found[w->mark.table] += (int64_t)found.count;
    w->mark = found.next;
    return ERR_NONE;
}

/* ---- marks as text: the table, and the keys separated by spaces ---- */

struct str person_mark_write(const struct person_mark *mark, struct arena *a)
{
    struct buf b = BUF(512);
    buf_printf(&b, "%zu", mark->table);
    for (int i = 0; mark->begun && i < tables[mark->table].rows.keys; i++) {
        const struct val v = mark->after[i];
        if (v.kind == VAL_BLOB && v.s.n == ID_BYTES_LEN)
            buf_printf(&b, " %s", id_from_bytes((const unsigned char *)v.s.p).text);
        else if (v.kind == VAL_STR)
            buf_printf(&b, " %.*s", STR_ARG(v.s));
        else
            buf_printf(&b, " %" PRId64, v.i);
    }
    const struct str text = arena_str(a, buf_view(&b));
    buf_done(&b);
    return text;
}

static bool read_key(const struct personal_table *t, int i, struct str text, struct arena *a, struct val *ret)
{
    const enum sql_kind kind = sql_table[t->statement].columns[i].kind;
    struct id id;
    uint64_t number;
    if (kind == SQL_KIND_TEXT || kind == SQL_KIND_ID) {
        *ret = v_str(arena_str(a, text));
        return true;
    }
    if (kind == SQL_KIND_IDBYTES) {
        struct id_bytes *bytes = arena_new(a, struct id_bytes);
        if (!id_parse(text, &id))
            return false;
        *bytes = id_to_bytes(&id);
        *ret = v_blob(bytes, sizeof *bytes);
        return true;
    }
    if (!str_to_u64(text, INT64_MAX, &number))
        return false;
    *ret = v_int((int64_t)number);
    return true;
}

bool person_mark_read(struct str text, struct arena *a, struct person_mark *ret)
{
    struct str rest;
    uint64_t table;
    if (!str_to_u64(str_cut(text, ' ', &rest), PERSON_TABLES - 1, &table))
        return false;
    *ret = (struct person_mark){.table = table, .begun = rest.p != NULL};
    for (int i = 0; ret->begun && i < tables[table].rows.keys; i++)
        if (!rest.p || !read_key(&tables[table].rows, i, str_cut(rest, ' ', &rest), a, &ret->after[i]))
            return false;
    return true;
}
