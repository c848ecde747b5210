#include "domain/settings.h"

#include <assert.h>

#include "base/buf.h"
#include "base/config_table.h"
#include "base/crypto.h"
#include "base/schedule.h"
#include "domain/feed.h"
#include "domain/phone.h"

#define STORED_MAX 8192 /* bytes hashed: an ID, a number, a tone and four greetings */

/* The stored row. */
struct stored {
    struct str number, tone, greetings[GREETING_COUNT], label, call_box_name, timezone, phone;
    struct building_address address;
    struct release release;
    struct ring ring;
    struct callers callers;
    bool say_opening;
    struct str known[CALLERS_KNOWN_MAX];
    size_t known_count;
    int64_t version;
};

#define MESSAGE_DAYS 30 /* in the default of greetings.message */

static const char *message_default(const struct config *config)
{
    const struct config_row *row = config_rows;
    while (row->offset != offsetof(struct config, greetings_message))
        row++;
    return config->retention_calls_days == MESSAGE_DAYS || strcmp(config->greetings_message, row->dflt) != 0
               ? config->greetings_message
               : "Nobody answers. Please leave a message after the tone. It is recorded, sent to the resident and "
                 "kept.";
}

struct str greeting_or_default(const struct config *config, enum greeting which, struct str stored)
{
    assert(which < GREETING_COUNT);
    const char *const defaults[] = {
        [GREETING_WELCOME] = config->greetings_welcome, [GREETING_GRANTED] = config->greetings_granted,
        [GREETING_DENIED] = config->greetings_denied,   [GREETING_FORWARDING] = config->greetings_forwarding,
        [GREETING_MESSAGE] = message_default(config),
    };
    return stored.p ? stored : str_z(defaults[which]);
}

static enum err read_known(struct tx *tx, const struct id *building, struct stored *ret)
{
    CURSOR c;
    bool more;
    ret->known_count = 0;
    enum err e = db_query(tx->db, SQL(access_callers, .building_id = building, .limit = CALLERS_KNOWN_MAX), &c);
    while (!e && ret->known_count < CALLERS_KNOWN_MAX && !(e = db_next(&c, &more)) && more)
        ret->known[ret->known_count++] = row_access_callers(&c, tx->arena).number;
    return e;
}

static enum err read_stored(struct tx *tx, const struct id *account, const struct id *building, struct stored *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_settings, .account_id = account, .id = building), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
    const struct row_building_settings row = row_building_settings(&c, tx->arena);
    ret->number = row.virtual_number;
    ret->tone = row.unlock_tone;
    ret->greetings[GREETING_WELCOME] = row.greeting_welcome;
    ret->greetings[GREETING_GRANTED] = row.greeting_granted;
    ret->greetings[GREETING_DENIED] = row.greeting_denied;
    ret->greetings[GREETING_FORWARDING] = row.greeting_forwarding;
    ret->greetings[GREETING_MESSAGE] = row.greeting_message;
    ret->version = row.settings_version;
    ret->label = row.label;
    ret->address = (struct building_address){row.street, row.city, row.state, row.zip, row.country};
    ret->call_box_name = row.call_box_name;
    ret->timezone = row.timezone;
    ret->phone = row.forward_phone;
    ret->release = release_read(&row.release, tx->config);
    ret->ring = ring_read(&row.ring, (row.phone.p != NULL) + (size_t)row.members);
    ret->callers = callers_read(&row.callers);
    ret->say_opening = v_bool_or(row.say_opening, false);
    return ERR_NONE;
}

static enum err settings_load(struct tx *tx, const struct id *account, const struct id *building, struct stored *ret)
{
    enum err e = read_stored(tx, account, building, ret);
    return e ? e : read_known(tx, building, ret);
}

/* Writes a length before each part, -1 for STR_NONE, so that different settings give different texts. */
static void settings_put_part(struct buf *b, struct str s)
{
    if (!s.p) {
        buf_lit(b, "-1:");
        return;
    }
    buf_i64(b, (int64_t)s.n);
    buf_char(b, ':');
    buf_str(b, s);
}

static struct str version_of(struct arena *a, const struct id *building, const struct stored *s)
{
    struct buf b = BUF(STORED_MAX);
    unsigned char hash[SHA256_LEN];
    settings_put_part(&b, id_str(building));
    buf_i64(&b, s->version);
    settings_put_part(&b, s->tone);
    for (int i = 0; i <= GREETING_FORWARDING; i++) /* the row's version tells of the others */
        settings_put_part(&b, s->greetings[i]);
    crypto_sha256(buf_view(&b), hash);
    buf_done(&b);
    char *text = arena_alloc(a, SETTINGS_VERSION_LEN + 1);
    hex_encode(hash, sizeof hash, text);
    return str_n(text, SETTINGS_VERSION_LEN);
}

static struct settings settings_view(const struct tx *tx, const struct id *building, const struct stored *s)
{
    struct settings v = {.number = s->number,
                         .label = s->label,
                         .address = s->address,
                         .call_box_name = s->call_box_name,
                         .timezone = s->timezone,
                         .release = s->release,
                         .ring = s->ring,
                         .callers = s->callers,
                         .say_opening = s->say_opening,
                         .known_count = s->known_count};
    memcpy(v.known, s->known, sizeof v.known);
    if (s->number.p) {
        v.unlock_tone = s->tone;
        v.phone = s->phone;
        v.version = version_of(tx->arena, building, s);
    }
    for (enum greeting i = 0; i < GREETING_COUNT; i++)
        v.greetings[i] = greeting_or_default(tx->config, i, s->number.p ? s->greetings[i] : STR_NONE);
    return v;
}

enum err settings_get(struct tx *tx, const struct id *account, const struct id *building, struct settings *ret)
{
    struct stored s;
    enum err e = settings_load(tx, account, building, &s);
    if (!e)
        *ret = settings_view(tx, building, &s);
    return e;
}

static struct val changed_or_null(int64_t value)
{
    return value < 0 ? v_null() : v_int(value);
}

static enum err settings_store(struct tx *tx, const struct id *account, const struct id *building,
                               const struct stored *s, const struct settings_patch *patch)
{
    const struct door_patch *d = &patch->door;
    int64_t changed;
    enum err e =
        db_exec(tx->db,
                SQL(building_settings_put, .account_id = account, .id = building, .settings_version = s->version,
                    .unlock_tone = s->tone, .greeting_welcome = s->greetings[0], .greeting_granted = s->greetings[1],
                    .greeting_denied = s->greetings[2], .greeting_forwarding = s->greetings[3],
                    .greeting_message = s->greetings[4], .release_length_ms = changed_or_null(d->length_ms),
                    .release_gap_ms = changed_or_null(d->gap_ms), .release_delay_ms = changed_or_null(d->delay_ms),
                    .release_repeat = changed_or_null(d->repeat), .release_mode = changed_or_null(d->mode),
                    .release_before_greeting = changed_or_null(d->before_greeting), .ring_numbers = d->numbers,
                    .ring_strategy = changed_or_null(d->strategy), .ring_seconds = changed_or_null(d->seconds),
                    .ring_accept = changed_or_null(d->accept), .ring_message = changed_or_null(d->message),
                    .timezone = patch->timezone, .callers_mode = changed_or_null(d->callers_mode),
                    .callers_numbers = d->callers_numbers, .callers_others = changed_or_null(d->callers_others),
                    .say_opening = changed_or_null(d->say_opening), .phone_given = v_given(patch->phone),
                    .forward_phone = v_set(patch->phone) ? patch->phone.s : STR_NONE),
                &changed);
    db_doors(tx->db, account);
    return e ? e : changed ? ERR_NONE : ERR_SETTINGS_VERSION_CONFLICT;
}

/* Stores the label, the address and the name on the call box, if one of them is given. */
static enum err store_place(struct tx *tx, const struct id *account, const struct id *building, const struct stored *s,
                            const struct settings_patch *patch)
{
    const struct building_address *at = patch->address ? patch->address : &s->address;
    struct str name = s->call_box_name;
    if (!patch->label.p && !patch->address && !v_given(patch->call_box_name))
        return ERR_NONE;
    if (v_given(patch->call_box_name))
        name = v_set(patch->call_box_name) ? patch->call_box_name.s : STR_NONE;
    return db_exec(tx->db,
                   SQL(building_put_place, .account_id = account, .id = building,
                       .label = patch->label.p ? patch->label : s->label, .street = at->street, .city = at->city,
                       .state = at->state, .zip = at->zip, .country = at->country, .call_box_name = name,
                       .timezone = patch->timezone_else),
                   NULL);
}

static bool rings_itself(const struct stored *s)
{
    for (size_t i = 0; i < s->ring.count; i++) {
        if (str_eq(s->ring.numbers[i], s->number))
            return true;
    }
    return false;
}

static enum err check_phone(struct tx *tx, const struct id *account, struct val phone)
{
    bool verified = true;
    enum err e = v_set(phone) ? phone_verified_before(tx, account, phone.s, &verified) : ERR_NONE;
    return e || verified ? e : ERR_FORWARDING_PHONE_NOT_VERIFIED;
}

enum err settings_patch(struct tx *tx, const struct principal *who, const struct id *building, bool linked,
                        struct str version, const struct settings_patch *patch, struct settings *ret)
{
    if (id_given(&who->member_id))
        return ERR_NUMBER_OWNER_REQUIRED;
    if (linked && !who->subscribed)
        return ERR_MULTI_BUILDING_REQUIRED;
    struct stored s;
    enum err e = settings_load(tx, &who->account_id, building, &s);
    if (e)
        return e;
    if (!s.number.p)
        return ERR_NUMBER_NOT_FOUND;
    if (!str_eq(version, version_of(tx->arena, building, &s)))
        return ERR_SETTINGS_VERSION_CONFLICT;
    if (patch->timezone.p && !schedule_zone_known(patch->timezone))
        return tx_fail(tx, ERR_INVALID_SETTINGS, "timezone must be a known IANA name");
    if (patch->unlock_tone.p)
        s.tone = patch->unlock_tone;
    for (int i = 0; i < GREETING_COUNT; i++)
        if (patch->greetings[i].p)
            s.greetings[i] = patch->greetings[i];
    e = check_phone(tx, &who->account_id, patch->phone);
    if (!e)
        e = settings_store(tx, &who->account_id, building, &s, patch);
    if (!e)
        e = store_place(tx, &who->account_id, building, &s, patch);
    if (!e)
        e = settings_load(tx, &who->account_id, building, &s);
    if (e)
        return e;
    if (rings_itself(&s))
        return tx_fail(tx, ERR_INVALID_SETTINGS, "ring.numbers must not contain the building's own number");
    if (s.callers.mode == CALLERS_LISTED && !s.callers.count)
        return tx_fail(tx, ERR_INVALID_SETTINGS, "callers.numbers must name a caller if the mode is listed");
    e = feed_settings(tx, building);
    if (e)
        return e;
    *ret = settings_view(tx, building, &s);
    return ERR_NONE;
}

enum err settings_first_zone(struct tx *tx, const struct id *account, struct str timezone)
{
    if (!schedule_zone_known(timezone))
        return ERR_NONE;
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_first_zone, .account_id = account, .timezone = timezone), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    const struct id building = row_building_first_zone(&c, NULL).id;
    db_doors(tx->db, account);
    return feed_settings(tx, &building);
}
