#include "domain/guest_link.h"

#include "domain/master.h"
#include "domain/ready.h"

#define HASH_TEXT_LEN (2 * SHA256_LEN)

static void hash_token(struct str token, char ret[static HASH_TEXT_LEN + 1])
{
    unsigned char hash[SHA256_LEN];
    crypto_sha256(token, hash);
    hex_encode(hash, sizeof hash, ret);
}

/* Reads the stored link, if there is one. */
static enum err guest_link_read(struct tx *tx, const struct id *building, const struct id_bytes *grant, bool *ret_found,
                                struct guest_link *ret)
{
    CURSOR c;
    *ret_found = false;
    enum err e = db_one(tx->db, SQL(guest_link_get, .building_id = building, .grant_id = grant), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    const struct row_guest_link_get row = row_guest_link_get(&c, tx->arena);
    if (!crypto_open(GUEST_LINK_PURPOSE, row.token, tx->arena, &ret->token))
        return ERR_SECRET_DECRYPT_FAILED;
    ret->timezone = row.timezone;
    ret->created_us = row.created_at;
    *ret_found = true;
    return ERR_NONE;
}

static enum err guest_link_add(struct tx *tx, const struct id *building, const struct id_bytes *grant,
                               struct str timezone, struct guest_link *ret)
{
    char token[GUEST_TOKEN_LEN + 1], hash[HASH_TEXT_LEN + 1];
    struct str sealed;
    crypto_base62(token, GUEST_TOKEN_LEN);
    hash_token(str_z(token), hash);
    ret->token = arena_str(tx->arena, str_z(token));
    ret->timezone = timezone;
    ret->created_us = tx->now_us;
    crypto_wipe(token, sizeof token);
    enum err e = master_seal(tx, GUEST_LINK_PURPOSE, ret->token, &sealed);
    int64_t added;
    if (!e)
        e = db_exec(tx->db,
                    SQL(guest_link_add, .building_id = building, .grant_id = grant, .hash = str_z(hash),
                        .token = sealed, .timezone = timezone, .created_at = tx->now_us),
                    &added);
    if (e)
        return e;
    return added ? ERR_NONE : ERR_RETRY; /* a lost race */
}

static enum err set_zone(struct tx *tx, const struct id *building, const struct id_bytes *grant, struct str timezone,
                         struct guest_link *link)
{
    if (!timezone.p || str_eq(timezone, link->timezone))
        return ERR_NONE;
    link->timezone = timezone;
    return db_exec(tx->db, SQL(guest_link_zone, .building_id = building, .grant_id = grant, .timezone = timezone),
                   NULL);
}

static enum err refuse_ended(const struct grant *g, int64_t now_us)
{
    const enum grant_status status = grant_status(g, now_us);
    if (status == GRANT_REVOKED)
        return ERR_GRANT_REVOKED;
    return status == GRANT_EXPIRED ? ERR_GRANT_EXPIRED : ERR_NONE;
}

enum err guest_link_make(struct tx *tx, const struct grant_place *place, const struct id *grant, struct str timezone,
                         struct guest_link *ret, bool *ret_made)
{
    struct grant g;
    struct guest_link link = {.token = STR_NONE};
    bool found;
    const struct id_bytes bytes = id_to_bytes(grant);
    if (timezone.p && !schedule_zone_known(timezone))
        return tx_fail(tx, ERR_INVALID_UNLOCK, "timezone must be an IANA time zone name such as America/New_York");
    enum err e = grant_check_place(tx, place);
    if (!e)
        e = grant_get(tx, place, grant, &g);
    if (!e)
        e = refuse_ended(&g, tx->now_us);
    if (!e)
        e = guest_link_read(tx, place->building, &bytes, &found, &link);
    if (!e)
        e = found ? set_zone(tx, place->building, &bytes, timezone, &link)
                  : guest_link_add(tx, place->building, &bytes, timezone, &link);
    if (e)
        return e;
    link.ends_us = g.ends_us;
    *ret = link;
    *ret_made = !found;
    return ERR_NONE;
}

enum err guest_link_get(struct tx *tx, const struct grant_place *place, const struct id *grant, struct guest_link *ret)
{
    struct grant g;
    struct guest_link link = {.token = STR_NONE};
    bool found;
    const struct id_bytes bytes = id_to_bytes(grant);
    enum err e = grant_get(tx, place, grant, &g);
    if (!e && !refuse_ended(&g, tx->now_us))
        e = guest_link_read(tx, place->building, &bytes, &found, &link);
    if (e)
        return e;
    link.ends_us = g.ends_us;
    *ret = link;
    return ERR_NONE;
}

enum err guest_link_end(struct tx *tx, const struct grant_place *place, const struct id *grant)
{
    struct grant g;
    const struct id_bytes bytes = id_to_bytes(grant);
    enum err e = grant_get(tx, place, grant, &g);
    return e ? e : db_exec(tx->db, SQL(guest_link_delete, .building_id = place->building, .grant_id = &bytes), NULL);
}

/* ---- for the guest ---- */

static enum err guest_link_find(struct tx *tx, struct str token, struct id *ret_building, struct id *ret_grant,
                                struct guest_view *ret)
{
    CURSOR c;
    char hash[HASH_TEXT_LEN + 1];
    hash_token(token, hash);
    enum err e = db_one(tx->db, SQL(guest_link_find, .hash = str_z(hash)), &c);
    if (e)
        return e;
    const struct row_guest_link_find row = row_guest_link_find(&c, tx->arena);
    *ret_building = row.building_id;
    *ret_grant = row.grant_id;
    ret->building = row.label;
    ret->street = row.street;
    ret->city = row.city;
    ret->call_box_name = row.call_box_name;
    ret->timezone = row.timezone;
    if (!ret->timezone.p)
        ret->timezone = row.given_timezone;
    const struct ready facts = {
        .subscription = row.subscription_status, .number = row.virtual_number, .tone = row.unlock_tone};
    ret->works = !(ready_lacks(&facts) & READY_DOOR);
    return ERR_NONE;
}

enum err guest_link_open(struct tx *tx, struct str token, struct guest_view *ret)
{
    struct id building, grant;
    struct guest_view view;
    if (token.n != GUEST_TOKEN_LEN)
        return ERR_NOT_FOUND;
    enum err e = guest_link_find(tx, token, &building, &grant, &view);
    if (!e)
        e = grant_get(tx, &(struct grant_place){.building = &building}, &grant, &view.grant);
    if (e)
        return e;
    if (refuse_ended(&view.grant, tx->now_us))
        return ERR_NOT_FOUND;
    int64_t next_us;
    view.works = view.works && grant_opens_next(&view.grant, tx->now_us, &next_us);
    view.grant.label = view.grant.request_id = STR_NONE;
    view.token = token;
    *ret = view;
    return ERR_NONE;
}
