#include "domain/phone.h"

#include <stdio.h>

#include "base/crypto.h"
#include "domain/account.h"
#include "domain/destination.h"
#include "domain/door_settings.h"
#include "domain/minutes.h"

#define CODES         1000000
#define MAC_INPUT_MAX (ID_LEN + 1 + PHONE_CODE_LEN)
#define MAC_PURPOSE   "phone"

/* ---- the person ---- */

struct owner {
    struct id account_id;
    struct id member_id; /* empty: the account's owner */
    struct str phone;    /* STR_NONE: not verified */
    int64_t verified_us;
    struct str email;
    bool subscribed;   /* the account */
    struct str number; /* of the member's building, or of one of the account's; STR_NONE: none has one */
};

static enum err query_owner(struct tx *tx, const struct id *account, const struct id *member, struct cursor *ret)
{
    return id_given(member) ? db_one(tx->db, SQL(phone_member, .account_id = account, .member_id = member), ret)
                            : db_one(tx->db, SQL(phone_account, .account_id = account), ret);
}

static enum err owner_get(struct tx *tx, const struct id *account, const struct id *member, struct owner *ret)
{
    CURSOR c;
    enum err e = query_owner(tx, account, member, &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_ACCOUNT_NOT_FOUND : e;
    struct str active = str_z(subscription_status_text(SUBSCRIPTION_ACTIVE));
    const struct row_phone_account row = row_phone_account(&c, tx->arena);
    *ret = (struct owner){.account_id = *account,
                          .member_id = *member,
                          .phone = row.phone,
                          .email = row.email,
                          .verified_us = row.phone_verified_at,
                          .subscribed = str_eq(row.subscription_status, active),
                          .number = row.number};
    return ERR_NONE;
}

/* As owner_get, for a person who may verify a phone. */
static enum err owner_entitled(struct tx *tx, const struct id *account, const struct id *member, struct owner *ret)
{
    enum err e = owner_get(tx, account, member, ret);
    if (e)
        return e;
    if (!ret->subscribed)
        return ERR_SUBSCRIPTION_REQUIRED;
    return ret->number.p ? ERR_NONE : ERR_NUMBER_NOT_PROVISIONED;
}

static enum err check_in_use(struct tx *tx, const struct owner *o, struct str number)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(phone_of_another, .email = o->email, .phone = number), &c);
    return e == ERR_NOT_FOUND ? ERR_NONE : e ? e : ERR_PHONE_IN_USE;
}

static enum err check_ring(struct tx *tx, const struct owner *o)
{
    if (!id_given(&o->member_id))
        return ERR_NONE;
    CURSOR c;
    enum err e = db_one(tx->db, SQL(phone_members, .member_id = &o->member_id), &c);
    if (e || row_phone_members(&c, NULL).phones < RING_MEMBERS_MAX)
        return e;
    return tx_fail(tx, ERR_MEMBER_LIMIT, "The phones of five members ring already.");
}

/* ---- limits ---- */

struct window {
    enum sql nth; /* the creation time of the row before the n newest ones */
    int64_t max, length_s;
    enum err error;
};

/* Of the owner, and of a member. */
static const struct window codes_windows[] = {
    {SQL_PHONE_CODE_NTH, PHONE_CODES_MAX, PHONE_CODES_WINDOW_S, ERR_PHONE_CODE_RATE_LIMIT},
    {SQL_PHONE_CODE_MEMBERS_NTH, PHONE_CODES_MAX, PHONE_CODES_WINDOW_S, ERR_PHONE_CODE_RATE_LIMIT}};
static const struct window changes_windows[] = {
    {SQL_PHONE_CHANGE_NTH, PHONE_CHANGES_MAX, PHONE_CHANGES_WINDOW_S, ERR_PHONE_CHANGE_LIMIT},
    {SQL_PHONE_CODE_USED_NTH, PHONE_CHANGES_MAX, PHONE_CHANGES_WINDOW_S, ERR_PHONE_CHANGE_LIMIT}};

static void set_retry_after(struct tx *tx, int64_t at_us)
{
    tx->retry_after_s = (at_us - tx->now_us + US_PER_S - 1) / US_PER_S;
}

/* The window slides: it is full until its oldest row is out of it. */
static enum err phone_check_window(struct tx *tx, const struct owner *o, const struct window windows[static 2])
{
    const struct window *w = &windows[id_given(&o->member_id)];
    int64_t length_us = w->length_s * US_PER_S;
    CURSOR c;
    enum err e = db_one(tx->db,
                        SQL_AS(w->nth, phone_code_nth, .account_id = &o->account_id, .member_id = &o->member_id,
                               .after = tx->now_us - length_us, .skip = w->max - 1),
                        &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    set_retry_after(tx, row_phone_nth(&c, NULL).created_at + length_us);
    return w->error;
}

/* ---- codes ---- */

/* Binds a code to its row, so that equal codes have different MACs. */
static struct str mac_input(const struct id *code, struct str text, char ret[static MAC_INPUT_MAX + 1])
{
    int n = snprintf(ret, MAC_INPUT_MAX + 1, "%s:%.*s", code->text, STR_ARG(text));
    return str_n(ret, n <= MAC_INPUT_MAX ? (size_t)n : MAC_INPUT_MAX);
}

/* The pending code: the newest one that was sent. */
struct waiting {
    struct id id;
    struct str number;
    unsigned char mac[SHA256_LEN];
    int64_t attempts, expires_us;
};

/* Fails with ERR_NOT_FOUND if no code is pending: not sent, used or expired. */
static enum err waiting_get(struct tx *tx, const struct owner *o, struct waiting *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(phone_code_newest, .account_id = &o->account_id, .member_id = &o->member_id), &c);
    if (e)
        return e;
    const struct row_phone_code_newest row = row_phone_code_newest(&c, tx->arena);
    if (v_set(row.used_at) || row.expires_at <= tx->now_us)
        return ERR_NOT_FOUND;
    struct str mac = row.code_mac;
    if (mac.n != sizeof ret->mac)
        return ERR_INTERNAL_ERROR;
    *ret = (struct waiting){.id = row.id, .number = row.phone, .attempts = row.attempts, .expires_us = row.expires_at};
    memcpy(ret->mac, mac.p, mac.n);
    return ERR_NONE;
}

/* A code that is told in a call takes a minute of the account. */
static enum err phone_check_minutes(struct tx *tx, const struct id *account)
{
    int64_t minutes;
    if (strcmp(tx->config->sms_provider, "call") != 0)
        return ERR_NONE;
    enum err e = minutes_left(tx, account, &minutes);
    if (e || minutes)
        return e;
    return tx_fail(tx, ERR_INVALID_PHONE_NUMBER,
                   "no number can be called: the account has no minutes of calls left "
                   "(voice.account_minutes_per_day)");
}

static enum err check_request(struct tx *tx, const struct id *account, const struct id *member, struct str number,
                              struct owner *ret)
{
    enum err e = owner_entitled(tx, account, member, ret);
    if (e)
        return e;
    if (ret->phone.p && str_eq(ret->phone, number))
        return ERR_ALREADY_VERIFIED;
    if (!destination_allowed(tx->config, number))
        return tx_fail(tx, ERR_INVALID_PHONE_NUMBER, DESTINATION_REFUSED);
    e = check_in_use(tx, ret, number);
    if (!e)
        e = check_ring(tx, ret);
    if (!e)
        e = phone_check_window(tx, ret, changes_windows);
    if (!e)
        e = phone_check_window(tx, ret, codes_windows);
    return e ? e : phone_check_minutes(tx, account);
}

enum err phone_code_new(struct tx *tx, const struct id *account, const struct id *member, struct str number,
                        struct phone_code *ret)
{
    struct owner owner = {0};
    enum err e = check_request(tx, account, member, number, &owner);
    if (e)
        return e;
    struct phone_code code = {
        .id = id_new(tx->now_us), .expires_us = tx->now_us + PHONE_CODE_TTL_S * US_PER_S, .as = owner.number};
    unsigned char mac[SHA256_LEN];
    char input[MAC_INPUT_MAX + 1];
    snprintf(code.text, sizeof code.text, "%06u", crypto_uniform(CODES) % CODES);
    crypto_derived_mac(MAC_PURPOSE, mac_input(&code.id, str_z(code.text), input), mac);
    crypto_wipe(input, sizeof input);
    e = db_exec(tx->db,
                SQL(phone_code_insert, .account_id = account, .id = &code.id, .member_id = member, .phone = number,
                    .code_mac = str_bytes(mac, sizeof mac), .created_at = tx->now_us, .expires_at = code.expires_us),
                NULL);
    if (!e)
        *ret = code;
    crypto_wipe(&code, sizeof code);
    return e;
}

enum err phone_code_sent(struct tx *tx, const struct id *account, const struct id *code)
{
    return db_exec(tx->db, SQL(phone_code_sent, .account_id = account, .id = code, .sent_at = tx->now_us), NULL);
}

/* ---- confirming ---- */

static enum err check_code(struct tx *tx, const struct owner *o, struct str text, struct waiting *ret)
{
    enum err e = waiting_get(tx, o, ret);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_PHONE_CODE_EXPIRED : e;
    if (ret->attempts >= PHONE_CODE_ATTEMPTS)
        return ERR_PHONE_CODE_ATTEMPTS;
    char input[MAC_INPUT_MAX + 1];
    const bool right = crypto_is_derived_mac(MAC_PURPOSE, mac_input(&ret->id, text, input), ret->mac, sizeof ret->mac);
    crypto_wipe(input, sizeof input);
    if (text.n == PHONE_CODE_LEN && right)
        return ERR_NONE;
    e = db_exec(tx->db, SQL(phone_code_attempt, .account_id = &o->account_id, .id = &ret->id), NULL);
    return e ? e : ERR_INVALID_PHONE_CODE;
}

static enum err store_owners(struct tx *tx, const struct owner *o, struct str number)
{
    const struct id change = id_new(tx->now_us), *account = &o->account_id;
    enum err e = db_exec(
        tx->db,
        SQL(phone_change_insert, .account_id = account, .id = &change, .phone = number, .created_at = tx->now_us),
        NULL);
    if (!e)
        e = db_exec(tx->db, SQL(phone_set, .id = account, .phone = number, .phone_verified_at = tx->now_us), NULL);
    return e ? e : db_exec(tx->db, SQL(phone_take_from_others, .account_id = account, .forward_phone = number), NULL);
}

static enum err set_phone(struct tx *tx, const struct owner *o, struct str number)
{
    db_doors(tx->db, NULL); /* it is taken from others */
    enum err e = !id_given(&o->member_id)
                     ? store_owners(tx, o, number)
                     : db_exec(tx->db,
                               SQL(phone_member_set, .account_id = &o->account_id, .member_id = &o->member_id,
                                   .phone = number, .phone_verified_at = tx->now_us),
                               NULL);
    return e ? e : db_exec(tx->db, SQL(phone_take_from_members, .phone = number, .email = o->email), NULL);
}

static enum err take_over(struct tx *tx, const struct owner *o, const struct waiting *w)
{
    enum err e =
        db_exec(tx->db, SQL(phone_code_use, .account_id = &o->account_id, .id = &w->id, .used_at = tx->now_us), NULL);
    return e ? e : set_phone(tx, o, w->number);
}

enum err phone_confirm(struct tx *tx, const struct id *account, const struct id *member, struct str text,
                       struct phone_status *ret)
{
    struct owner owner = {0};
    struct waiting waiting = {0};
    enum err e = owner_entitled(tx, account, member, &owner);
    if (!e)
        e = check_code(tx, &owner, text, &waiting);
    if (!e)
        e = check_in_use(tx, &owner, waiting.number);
    if (!e)
        e = check_ring(tx, &owner);
    if (!e)
        e = phone_check_window(tx, &owner, changes_windows);
    if (!e)
        e = take_over(tx, &owner, &waiting);
    return e ? e : phone_status(tx, account, member, ret);
}

enum err phone_give_up(struct tx *tx, const struct id *account, const struct id *member)
{
    int64_t given_up = 0;
    db_doors(tx->db, account);
    enum err e = db_exec(tx->db, SQL(phone_member_clear, .account_id = account, .member_id = member), &given_up);
    return e || given_up ? e : ERR_NOT_FOUND;
}

enum err phone_vouch(struct tx *tx, const struct id *account, struct str number)
{
    const struct id no_member = {.text = ""};
    struct owner owner = {0};
    enum err e = owner_get(tx, account, &no_member, &owner);
    if (!e && !destination_allowed(tx->config, number))
        e = tx_fail(tx, ERR_INVALID_PHONE_NUMBER, DESTINATION_REFUSED);
    if (!e)
        e = check_in_use(tx, &owner, number);
    if (e || (owner.phone.p && str_eq(owner.phone, number)))
        return e;
    return set_phone(tx, &owner, number);
}

/* ---- reading ---- */

enum err phone_status(struct tx *tx, const struct id *account, const struct id *member, struct phone_status *ret)
{
    struct owner owner = {0};
    struct waiting waiting = {0};
    enum err e = owner_get(tx, account, member, &owner);
    if (e)
        return e;
    struct phone_status status = {.number = owner.phone, .verified_us = owner.verified_us};
    e = waiting_get(tx, &owner, &waiting);
    if (e && e != ERR_NOT_FOUND)
        return e;
    if (!e) {
        status.pending.number = waiting.number;
        status.pending.expires_us = waiting.expires_us;
        status.pending.attempts_left =
            waiting.attempts < PHONE_CODE_ATTEMPTS ? PHONE_CODE_ATTEMPTS - waiting.attempts : 0;
    }
    *ret = status;
    return ERR_NONE;
}

enum err phone_verified_before(struct tx *tx, const struct id *account, struct str number, bool *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(phone_verified, .id = account, .phone = number), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    *ret = !e;
    return ERR_NONE;
}

enum err phone_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL(phone_code_purge, .before = before_us, .limit = limit), ret_count);
}
