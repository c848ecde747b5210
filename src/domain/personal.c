#include "domain/personal.h"

#include <glib.h>
#include <inttypes.h>

#include "base/crypto.h"
#include "base/json.h"
#include "domain/call_message.h"
#include "domain/row.h"

#define PAGE_ROWS  500
#define PAGE_AUDIO 2 /* rows with audio: up to half a megabyte each */

/* Columns are `name:kind`, in the order of the statement. Kinds: s text, n number, b boolean, t time, x ID in bytes, j
 * JSON, a audio, m sealed audio. */
#define NOTHING(table, reason)                                                                                         \
    {                                                                                                                  \
        .name = #table, .why = (reason)                                                                                \
    }
#define ROWS(table, of, sql, n, text)                                                                                  \
    {                                                                                                                  \
        .name = #table, .owner = PERSONAL_##of, .statement = SQL_EXPORT_##sql, .keys = (n), .columns = (text)          \
    }

const struct personal_table personal_tables[] = {
    ROWS(account, ACCOUNT, ACCOUNT, 0,
         "id:s email:s created_at:t plan:s subscription_status:s subscription_ended_at:t phone:s phone_verified_at:t "
         "customer_id:s subscription_id:s billed_status:s billed_plan:s earlier_revision:b "
         "exported_at:t minutes_mailed_at:t"),
    ROWS(building, ACCOUNT, BUILDING, 1,
         "id:s created_at:t is_primary:b label:s street:s city:s state:s zip:s country:s virtual_number:s "
         "forward_phone:s unlock_tone:s greeting_welcome:s greeting_granted:s greeting_denied:s greeting_forwarding:s "
         "last_buzz_at:t unlock_count:n timezone:s release_length_ms:n release_gap_ms:n release_delay_ms:n "
         "release_repeat:n "
         "release_mode:n release_before_greeting:b ring_numbers:s ring_strategy:n ring_seconds:n ring_accept:b "
         "ring_message:b callers_mode:n callers_numbers:s callers_others:n"),
    ROWS(number, ACCOUNT, NUMBER, 0, "number:s country:s building_id:s held_since:t"),
    ROWS(member, BUILDING, MEMBER, 1, "id:s building_id:s name:s email:s phone:s created_at:t"),
    ROWS(memberships, EMAIL, MEMBERSHIP, 0, "id:s building_id:s name:s email:s phone:s created_at:t"),
    ROWS(challenge, EMAIL, CHALLENGE, 0, "id:s email:s attempts:n expires_at:t used_at:t"),
    ROWS(api_key, ACCOUNT, KEY, 1,
         "id:s building_id:s member_id:s kind:s name:s prefix:s scopes:n created_at:t expires_at:t last_used_at:t "
         "revoked_at:t"),
    ROWS(oauth_grant, ACCOUNT, OAUTH_GRANT, 1, "key_id:s scopes:n resource:n created_at:t expires_at:t"),
    ROWS(oauth_code, ACCOUNT, OAUTH_CODE, 0, "scopes:n resource:n expires_at:t used:b key_id:s client_name:s"),
    ROWS(browser, ACCOUNT, BROWSER, 1, "id:s program:s system:s remembered:b created_at:t"),
    ROWS(push, ACCOUNT, PUSH, 2, "building_id:s browser_id:s notices:n language:s created_at:t"),
    ROWS(notice_mail, BUILDING, NOTICE_MAIL, 0, "building_id:s notices:n language:s"),
    ROWS(access_grant, BUILDING, GRANT, 2,
         "revoked:n id:x type:s label:s enabled:b version:n created_at:t updated_at:t starts_at:t ends_at:t "
         "remaining_uses:n max_uses:n access_code:s voice:b days:n start_minute:n end_minute:n timezone:s request_id:s "
         "created_by:x member_id:x"),
    ROWS(guest_link, BUILDING, GUEST_LINK, 1, "grant_id:x building_id:s timezone:s created_at:t"),
    ROWS(activity, BUILDING, ACTIVITY, 2,
         "created_at:t id:s building_id:s type:s unlock_type:s unlock_id:s name:s succeeded:b"),
    ROWS(call_record, BUILDING, CALL, 1,
         "id:s building_id:s started_at:t ended_at:t front_end:s source:s dialled:s caller:s outcome:s reason:s "
         "grant_id:s resident_opened:b ended_by:s steps:s minutes:n"),
    ROWS(feed, BUILDING, FEED, 1, "seq:n building_id:s at:t type:s data:j"),
    ROWS(call_message, BUILDING, MESSAGE, 1, "call_id:s building_id:s seconds:n audio:m"),
    ROWS(recording, BUILDING, RECORDING, 0, "id:s building_id:s which:n created_at:t length:n audio:a"),
    ROWS(door_caller, BUILDING, CALLER, 1, "number:s building_id:s released_at:t"),
    ROWS(door_guard, BUILDING, GUARD, 0,
         "building_id:s known:b failed_1:t failed_2:t failed_3:t failed_4:t closed_until:t closings:n mailed_at:t "
         "failed_day:s"),
    ROWS(webhook, ACCOUNT, WEBHOOK, 1,
         "id:s created_at:t url:s events:n active:n request_id:s previous_until:t rotation_id:s deleted_at:t"),
    ROWS(building_webhook, ACCOUNT, BUILDING_WEBHOOK, 1,
         "id:s building_id:s created_at:t url:s events:n description:s active:b failures:n request_id:s deleted_at:t"),
    ROWS(event, ACCOUNT, EVENT, 1, "id:s building_id:s type:s created_at:t data:j"),
    ROWS(delivery, WEBHOOK, DELIVERY, 1,
         "id:s webhook_id:s event_id:s created_at:t status:s attempts:n due_at:t attempted_at:t status_code:n "
         "failure:s took_ms:n"),
    ROWS(checkout, ACCOUNT, CHECKOUT, 1,
         "id:s request_id:s status:s created_at:t checked_at:t plan:s quantity:n email:s customer_id:s return_url:s "
         "session_id:s subscription_id:s canceled_at:t"),
    ROWS(checkout_alias, ACCOUNT, ALIAS, 1, "request_id:s checkout_id:s"),
    ROWS(building_operation, ACCOUNT, OPERATION, 1,
         "id:s action:s status:s created_at:t expires_at:t building_id:s label:s street:s city:s state:s zip:s "
         "country:s unlock_tone:s phone_number:s virtual_number:s subscription_id:s currency:s next_invoice_minor:n "
         "request_id:s step:s error:s result_number:s"),
    ROWS(phone_code, ACCOUNT, PHONE_CODE, 1, "id:s phone:s created_at:t expires_at:t attempts:n sent_at:t used_at:t"),
    ROWS(phone_change, ACCOUNT, PHONE_CHANGE, 1, "id:s phone:s created_at:t"),
    ROWS(sandbox_message, EMAIL, SENT, 1, "id:s channel:s recipient:s subject:s created_at:t"),
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

static void put_base64(struct str bytes, struct buf *out)
{
    gchar *text = g_base64_encode((const guchar *)(bytes.p ? bytes.p : ""), bytes.n);
    json_put_str(out, str_z(text));
    g_free(text);
}

static enum err put_column(struct tx *tx, const struct cursor *c, int i, char kind, struct buf *out)
{
    struct str plain;
    struct id id;
    if (col_null(c, i)) {
        buf_lit(out, "null");
        return ERR_NONE;
    }
    switch (kind) {
    case 'n':
        buf_printf(out, "%" PRId64, col_int(c, i));
        break;
    case 'b':
        buf_str(out, col_int(c, i) ? STR("true") : STR("false"));
        break;
    case 't':
        if (col_int(c, i) > 0 && col_int(c, i) < INT64_MAX)
            json_put_time(out, col_int(c, i));
        else
            buf_lit(out, "null");
        break;
    case 'x':
        id = col_id_bytes(c, i);
        json_put_str(out, id_str(&id));
        break;
    case 'j':
        buf_str(out, col_str(c, i));
        break;
    case 'a':
        put_base64(col_blob(c, i), out);
        break;
    case 'm':
        if (!crypto_open(MESSAGE_PURPOSE, col_blob(c, i), tx->arena, &plain))
            return ERR_SECRET_DECRYPT_FAILED;
        put_base64(plain, out);
        break;
    default:
        json_put_str(out, col_str(c, i));
    }
    return out->full ? ERR_INTERNAL_ERROR : ERR_NONE;
}

static enum err put_object(struct tx *tx, const struct personal_table *t, const struct cursor *c, struct buf *out)
{
    struct str rest = str_z(t->columns);
    enum err e = ERR_NONE;
    for (int i = 0; !e && rest.p; i++) {
        const struct str word = str_cut(rest, ' ', &rest);
        buf_str(out, i ? STR(",") : STR("{"));
        json_put_str(out, str_n(word.p, word.n - 2));
        buf_char(out, ':');
        e = put_column(tx, c, i, word.p[word.n - 1], out);
    }
    buf_char(out, '}');
    return e;
}

/* ---- pages ---- */

/* The kind of the i-th column. */
static char kind_of(const struct personal_table *t, int i)
{
    struct str rest = str_z(t->columns), word = STR_NONE;
    for (int n = 0; n <= i && rest.p; n++)
        word = str_cut(rest, ' ', &rest);
    return word.p[word.n - 1];
}

/* A value below all of the column, or that of the row. */
static struct val key_at(struct tx *tx, const struct personal_table *t, int i, const struct cursor *row)
{
    const char kind = kind_of(t, i);
    if (kind == 's')
        return v_str(row ? col_copy(row, i, tx->arena) : STR(""));
    if (kind != 'x')
        return v_int(row ? col_int(row, i) : INT64_MIN);
    const struct str bytes = row ? arena_str(tx->arena, col_blob(row, i)) : STR("");
    return v_blob(bytes.p, bytes.n);
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
    const bool audio = strstr(t->columns, "audio:") != NULL;
    const int64_t limit = audio && t->keys ? PAGE_AUDIO : PAGE_ROWS;
    int64_t n = 0;
    bool more = true;
    CURSOR c;
    for (int i = 0; !place->begun && i < t->keys; i++)
        place->after[i] = key_at(tx, t, i, NULL);
    place->begun = true;
    enum err e = query_page(tx, place, limit, &c);
    while (!e && !(e = db_next(&c, &more)) && more) {
        buf_str(out, *empty ? STR("\n") : STR(",\n"));
        *empty = false;
        e = put_object(tx, t, &c, out);
        for (int i = 0; i < t->keys; i++)
            place->after[i] = key_at(tx, t, i, &c);
        n++;
    }
    place->more = !e && t->keys && n == limit;
    return e;
}
