#include "privacy/personal.h"

#include <glib.h>
#include <inttypes.h>

#include "base/crypto.h"
#include "base/json.h"
#include "domain/call_message.h"
#include "store/sql_table.h"

#define PAGE_ROWS  500
#define PAGE_AUDIO 2 /* rows with audio: up to half a megabyte each */

#define NOTHING(table, reason)                                                                                         \
    {                                                                                                                  \
        .name = #table, .why = (reason)                                                                                \
    }
#define ROWS(table, of, sql, n)                                                                                        \
    {                                                                                                                  \
        .name = #table, .owner = PERSONAL_##of, .statement = SQL_EXPORT_##sql, .keys = (n)                             \
    }

const struct personal_table personal_tables[] = {
    ROWS(account, ACCOUNT, ACCOUNT, 0),
    ROWS(building, ACCOUNT, BUILDING, 1),
    ROWS(number, ACCOUNT, NUMBER, 0),
    ROWS(member, BUILDING, MEMBER, 1),
    ROWS(memberships, EMAIL, MEMBERSHIP, 0),
    ROWS(challenge, EMAIL, CHALLENGE, 0),
    ROWS(api_key, ACCOUNT, KEY, 1),
    ROWS(oauth_grant, ACCOUNT, OAUTH_GRANT, 1),
    ROWS(oauth_code, ACCOUNT, OAUTH_CODE, 0),
    ROWS(browser, ACCOUNT, BROWSER, 1),
    ROWS(push, ACCOUNT, PUSH, 2),
    ROWS(notice_mail, BUILDING, NOTICE_MAIL, 0),
    ROWS(access_grant, BUILDING, GRANT, 2),
    ROWS(pass, BUILDING, PASS, 2),
    ROWS(guest_link, BUILDING, GUEST_LINK, 1),
    ROWS(activity, BUILDING, ACTIVITY, 2),
    ROWS(call_record, BUILDING, CALL, 1),
    ROWS(visit, BUILDING, VISIT, 1),
    ROWS(feed, BUILDING, FEED, 1),
    {.name = "call_message",
     .owner = PERSONAL_BUILDING,
     .statement = SQL_EXPORT_MESSAGE,
     .keys = 1,
     .purpose = MESSAGE_PURPOSE},
    ROWS(recording, BUILDING, RECORDING, 0),
    ROWS(door_caller, BUILDING, CALLER, 1),
    ROWS(door_guard, BUILDING, GUARD, 0),
    ROWS(webhook, ACCOUNT, WEBHOOK, 1),
    ROWS(building_webhook, ACCOUNT, BUILDING_WEBHOOK, 1),
    ROWS(event, ACCOUNT, EVENT, 1),
    ROWS(delivery, WEBHOOK, DELIVERY, 1),
    ROWS(checkout, ACCOUNT, CHECKOUT, 1),
    ROWS(checkout_alias, ACCOUNT, ALIAS, 1),
    ROWS(building_operation, ACCOUNT, OPERATION, 1),
    ROWS(phone_code, ACCOUNT, PHONE_CODE, 1),
    ROWS(phone_change, ACCOUNT, PHONE_CHANGE, 1),
    ROWS(sandbox_message, EMAIL, SENT, 1),
    NOTHING(activity_kind, "the texts of activity, which has them"),
    NOTHING(grant_building, "the number of a building in access_grant"),
    NOTHING(feed_counter, "the number of the last event in feed"),
    NOTHING(grant_count, "a count of access_grant"),
    NOTHING(delivery_lane, "the time of the next delivery"),
    NOTHING(notice, "moments of which messages are made within seconds"),
    NOTHING(push_message, "messages to browsers that wait, for a day at most"),
    NOTHING(push_key, "the service's own"),
    NOTHING(job, "work that waits; a queued mail is sealed and gone within a day"),
    NOTHING(twilio_call, "calls in progress; gone three hours later"),
    NOTHING(billing_event, "IDs of the billing provider's events"),
    NOTHING(number_purchase, "numbers that are being bought, by their building"),
    NOTHING(box, "the operator's call boxes"),
    NOTHING(node, "processes of the service"),
    NOTHING(commit_mark, "marks of transactions"),
    NOTHING(setting, "the service's own"),
    NOTHING(schema_version, "the service's own"),
    NOTHING(sandbox_customer, "the built-in billing provider's"),
    NOTHING(sandbox_session, "the built-in billing provider's"),
    NOTHING(sandbox_subscription, "the built-in billing provider's"),
    NOTHING(sandbox_quantity, "the built-in billing provider's"),
    NOTHING(sandbox_number, "the built-in numbers provider's"),
};
const size_t personal_table_count = sizeof personal_tables / sizeof *personal_tables;

/* The statement's columns are the members of an object. */
static const struct sql_field *columns_of(const struct personal_table *t)
{
    return sql_table[t->statement].columns;
}

void personal_base64(struct str bytes, struct buf *out)
{
    gchar *text = g_base64_encode((const guchar *)(bytes.p ? bytes.p : ""), bytes.n);
    json_put_str(out, str_z(text));
    g_free(text);
}

static void put_moment(int64_t at_us, struct buf *out)
{
    if (at_us > 0 && at_us < INT64_MAX)
        json_put_time(out, at_us);
    else
        buf_lit(out, "null");
}

static enum err put_blob(struct tx *tx, const struct personal_table *t, enum sql_kind kind, struct str bytes,
                         struct buf *out)
{
    if (kind == SQL_KIND_IDBYTES) {
        const struct id id = bytes.n == ID_BYTES_LEN ? id_from_bytes((const unsigned char *)bytes.p) : (struct id){{0}};
        json_put_str(out, id_str(&id));
        return ERR_NONE;
    }
    if (t->purpose && !crypto_open(t->purpose, bytes, tx->arena, &bytes))
        return ERR_SECRET_DECRYPT_FAILED;
    personal_base64(bytes, out);
    return ERR_NONE;
}

static enum err put_column(struct tx *tx, const struct personal_table *t, const struct cursor *c, int i,
                           struct buf *out)
{
    const enum sql_kind kind = columns_of(t)[i].kind;
    const struct val v = db_column(c, i, NULL);
    if (v.kind == VAL_NULL)
        buf_lit(out, "null");
    else if (v.kind == VAL_BOOL)
        buf_str(out, v.b ? STR("true") : STR("false"));
    else if (v.kind == VAL_INT)
        buf_printf(out, "%" PRId64, v.i);
    else if (v.kind == VAL_TIME)
        put_moment(v.i, out);
    else if (v.kind == VAL_BLOB)
        return put_blob(tx, t, kind, v.s, out);
    else if (kind == SQL_KIND_JSON)
        buf_str(out, v.s);
    else
        json_put_str(out, v.s);
    return out->full ? ERR_INTERNAL_ERROR : ERR_NONE;
}

enum err personal_row(struct tx *tx, const struct personal_table *t, const struct cursor *c, struct buf *out)
{
    enum err e = ERR_NONE;
    for (int i = 0; !e && i < sql_table[t->statement].column_count; i++) {
        buf_str(out, i ? STR(",") : STR("{"));
        json_put_str(out, str_z(columns_of(t)[i].name));
        buf_char(out, ':');
        e = put_column(tx, t, c, i, out);
    }
    buf_char(out, '}');
    return e;
}

/* ---- pages ---- */

struct val personal_key(struct tx *tx, const struct personal_table *t, int i, const struct cursor *row)
{
    const enum sql_kind kind = columns_of(t)[i].kind;
    if (row)
        return db_column(row, i, tx->arena);
    if (kind == SQL_KIND_TEXT || kind == SQL_KIND_ID)
        return v_str(STR(""));
    return kind == SQL_KIND_IDBYTES ? v_blob("", 0) : v_int(INT64_MIN);
}

static bool has_audio(const struct personal_table *t)
{
    for (int i = 0; i < sql_table[t->statement].column_count; i++)
        if (columns_of(t)[i].kind == SQL_KIND_BLOB)
            return true;
    return false;
}

static enum err query_page(struct tx *tx, const struct personal_place *place, int64_t limit, struct cursor *ret)
{
    const struct personal_table *t = place->table;
    switch (t->keys) {
    case 0:
        return db_query(tx->db, SQL_AS(t->statement, export_account, .owner = place->owner, .limit = limit), ret);
    case 1:
        return db_query(
            tx->db,
            SQL_AS(t->statement, export_building, .owner = place->owner, .limit = limit, .after = place->after[0]),
            ret);
    default:
        return db_query(tx->db,
                        SQL_AS(t->statement, export_grant, .owner = place->owner, .limit = limit,
                               .after = place->after[0], .then_after = place->after[1]),
                        ret);
    }
}

enum err personal_page(struct tx *tx, struct personal_place *place, struct buf *out, bool *empty)
{
    const struct personal_table *t = place->table;
    const int64_t limit = t->keys && has_audio(t) ? PAGE_AUDIO : PAGE_ROWS;
    int64_t n = 0;
    bool more = true;
    CURSOR c;
    for (int i = 0; !place->begun && i < t->keys; i++)
        place->after[i] = personal_key(tx, t, i, NULL);
    place->begun = true;
    enum err e = query_page(tx, place, limit, &c);
    while (!e && !(e = db_next(&c, &more)) && more) {
        buf_str(out, *empty ? STR("\n") : STR(",\n"));
        *empty = false;
        e = personal_row(tx, t, &c, out);
        for (int i = 0; i < t->keys; i++)
            place->after[i] = personal_key(tx, t, i, &c);
        n++;
    }
    place->more = !e && t->keys && n == limit;
    return e;
}
