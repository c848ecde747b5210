#include "privacy/personal_document.h"

#include <inttypes.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"

/* A part ends after the page that reaches one of these. */
#define PART_BYTES (256U << 10)
#define PART_STEPS 64
#define PURPOSE    "personal"

/* ---- the document ---- */

static void next_table(struct personal_mark *mark)
{
    *mark = (struct personal_mark){.table = mark->table + 1};
}

static void put_reasons(struct buf *out)
{
    bool first = true;
    buf_lit(out, ",\n\"not_included\": {");
    for (size_t i = 0; i < personal_table_count; i++)
        if (personal_tables[i].owner == PERSONAL_NOTHING) {
            buf_printf(out, "%s\n\"%s\": \"%s\"", first ? "" : ",", personal_tables[i].name, personal_tables[i].why);
            first = false;
        }
    buf_lit(out, "}}\n");
}

/* The owner whose rows come next: *ret is empty behind the last. A page that continues begins with the same owner,
 * unless that is gone, and only with an owner of the account. */
static enum err next_owner(struct tx *tx, const struct id *account, const struct personal_table *t,
                           const struct personal_mark *mark, struct id *ret)
{
    const enum sql sql = t->owner == PERSONAL_WEBHOOK ? SQL_EXPORT_NEXT_WEBHOOK : SQL_EXPORT_NEXT_BUILDING;
    const struct str from = id_given(&mark->owner) ? id_str(&mark->owner) : STR("");
    bool more = false;
    CURSOR c;
    enum err e = db_query(
        tx->db, SQL_AS(sql, export_next_building, .account_id = account, .from = from, .inside = mark->inside), &c);
    if (!e)
        e = db_next(&c, &more);
    if (!e)
        *ret = more ? row_export_next_building(&c, NULL).id : (struct id){{0}};
    return e;
}

/* Reads a page of the owner's rows. */
static enum err put_page(struct tx *tx, const struct personal_table *t, struct str owner, struct personal_mark *mark,
                         struct buf *out)
{
    struct personal_place place = {.table = t, .owner = owner, .begun = mark->inside};
    bool empty = !mark->filled;
    memcpy(place.after, mark->after, sizeof place.after);
    enum err e = personal_page(tx, &place, out, &empty);
    if (e)
        return e;
    mark->filled = !empty;
    mark->inside = place.more;
    memcpy(mark->after, place.after, sizeof mark->after);
    return ERR_NONE;
}

/* Reads a page of the mark's table, or ends the table. */
static enum err put_step(struct tx *tx, const struct id *account, struct str email, struct personal_mark *mark,
                         struct buf *out)
{
    const struct personal_table *t = &personal_tables[mark->table];
    const bool one = t->owner == PERSONAL_ACCOUNT || t->owner == PERSONAL_EMAIL;
    struct id owner = *account;
    enum err e = one ? ERR_NONE : next_owner(tx, account, t, mark, &owner);
    if (!e && id_given(&owner)) {
        if (!id_equal(&owner, &mark->owner))
            mark->inside = false;
        mark->owner = owner;
        e = put_page(tx, t, t->owner == PERSONAL_EMAIL ? email : id_str(&owner), mark, out);
        if (e || mark->inside || !one)
            return e;
    }
    if (!e) {
        buf_char(out, ']');
        next_table(mark);
    }
    return e;
}

enum err personal_part(struct tx *tx, const struct id *account, struct str email, struct personal_mark *mark,
                       struct buf *out)
{
    const size_t before = out->n;
    enum err e = ERR_NONE;
    for (int n = 0; !e && n < PART_STEPS && out->n - before < PART_BYTES && !personal_ended(mark); n++) {
        const struct personal_table *t = &personal_tables[mark->table];
        if (t->owner == PERSONAL_NOTHING) {
            next_table(mark);
        } else {
            if (!mark->opened)
                buf_printf(out, "%s\n\"%s\": [", mark->table ? "," : "{", t->name);
            mark->opened = true;
            e = put_step(tx, account, email, mark, out);
        }
        if (!e && personal_ended(mark))
            put_reasons(out);
    }
    return e || !out->full ? e : ERR_INTERNAL_ERROR;
}

/* ---- the mark as a text ---- */

/* Words: the account, the table, the owner or "-", opened, filled, inside, and the two values. A table is written by
 * its name, because another program may read the text. */
static struct str val_text(struct arena *a, struct val v)
{
    if (v.kind == VAL_INT || v.kind == VAL_TIME)
        return arena_printf(a, "i%" PRIu64, (uint64_t)v.i);
    if (v.kind != VAL_STR && v.kind != VAL_BLOB)
        return STR("-");
    const struct str text = base64url_encode(a, v.s);
    return arena_printf(a, "%c%.*s", v.kind == VAL_STR ? 's' : 'b', (int)text.n, text.p);
}

static bool val_read(struct arena *a, struct str text, struct val *ret)
{
    struct str bytes;
    uint64_t number;
    if (text.n < 2)
        return str_eq(text, STR("-"));
    const struct str rest = str_n(text.p + 1, text.n - 1);
    if (*text.p == 'i') {
        if (!str_to_u64(rest, UINT64_MAX, &number))
            return false;
        *ret = v_int((int64_t)number);
        return true;
    }
    if (!base64url_decode(a, rest, &bytes))
        return false;
    *ret = *text.p == 's' ? v_str(bytes) : v_blob(bytes.p, bytes.n);
    return true;
}

struct str personal_mark_write(struct arena *a, const struct id *account, const struct personal_mark *mark)
{
    const struct str first = val_text(a, mark->after[0]), second = val_text(a, mark->after[1]);
    const struct str plain =
        arena_printf(a, "%s %s %s %d %d %d %.*s %.*s", account->text, personal_tables[mark->table].name,
                     id_given(&mark->owner) ? mark->owner.text : "-", mark->opened, mark->filled, mark->inside,
                     (int)first.n, first.p, (int)second.n, second.p);
    return base64url_encode(a, crypto_seal(MASTER_CURRENT, PURPOSE, plain, a));
}

static bool table_read(struct str name, size_t *ret)
{
    for (size_t i = 0; i < personal_table_count; i++)
        if (str_eq(name, str_z(personal_tables[i].name))) {
            *ret = i;
            return true;
        }
    return false;
}

bool personal_mark_read(struct arena *a, const struct id *account, struct str text, struct personal_mark *ret)
{
    enum { ACCOUNT, TABLE, OWNER, OPENED, FILLED, INSIDE, FIRST, SECOND, WORDS };
    struct personal_mark mark = {.table = 0};
    struct str sealed, rest, words[WORDS];
    if (!base64url_decode(a, text, &sealed) || !crypto_open(PURPOSE, sealed, a, &rest))
        return false;
    for (int i = 0; i < WORDS; i++) {
        if (!rest.p)
            return false;
        words[i] = str_cut(rest, ' ', &rest);
    }
    if (!str_eq(words[ACCOUNT], id_str(account)) || !table_read(words[TABLE], &mark.table))
        return false;
    if (!str_eq(words[OWNER], STR("-")) && !id_parse(words[OWNER], &mark.owner))
        return false;
    mark.opened = str_eq(words[OPENED], STR("1"));
    mark.filled = str_eq(words[FILLED], STR("1"));
    mark.inside = str_eq(words[INSIDE], STR("1"));
    if (!val_read(a, words[FIRST], &mark.after[0]) || !val_read(a, words[SECOND], &mark.after[1]))
        return false;
    *ret = mark;
    return true;
}
