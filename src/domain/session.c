#include "domain/session.h"

#include <stdio.h>

#include "domain/account.h"
#include "domain/session_mail.h"

#define OTP_LEN       6
#define OTP_PURPOSE   "otp"
#define OTP_CODES     1000000
#define OTP_INPUT_MAX (CHALLENGE_LEN + 1 + OTP_LEN)

/* Binds a code to its challenge, so that equal codes have different MACs. */
static struct str otp_input(struct str challenge, struct str otp, char ret[static OTP_INPUT_MAX + 1])
{
    int n = snprintf(ret, OTP_INPUT_MAX + 1, "%.*s:%.*s", STR_ARG(challenge), STR_ARG(otp));
    return str_n(ret, n <= OTP_INPUT_MAX ? (size_t)n : OTP_INPUT_MAX);
}

static enum err check_linked(struct tx *tx, struct str email)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(challenge_linked, .email = email, .now = tx->now_us), &c);
    return e == ERR_NOT_FOUND ? ERR_NONE : e ? e : ERR_LINKED_ACCOUNT;
}

static enum err session_check_count(struct tx *tx, struct str email)
{
    const int64_t ttl_us = CHALLENGE_TTL_S * US_PER_S;
    CURSOR c;
    enum err e = db_one(tx->db,
                        SQL(challenge_count, .email = email, .now = tx->now_us,
                            .since = tx->now_us - CHALLENGE_DAY_S * US_PER_S + ttl_us),
                        &c);
    if (e)
        return e;
    const struct row_challenge_count row = row_challenge_count(&c, NULL);
    if (row.pending >= CHALLENGES_MAX)
        return ERR_OTP_RATE_LIMIT;
    if (row.unused < tx->config->limits_otp_per_email)
        return ERR_NONE;
    const int64_t next_us = row.newest - ttl_us + CHALLENGE_PAUSE_S * US_PER_S;
    if (next_us <= tx->now_us)
        return ERR_NONE;
    tx->retry_after_s = (next_us - tx->now_us + US_PER_S - 1) / US_PER_S;
    return ERR_OTP_RATE_LIMIT;
}

static struct challenge challenge_new(void)
{
    unsigned char random[16];
    struct challenge c = {.id = "chl_"};
    crypto_random(random, sizeof random);
    hex_encode(random, sizeof random, c.id + 4);
    return c;
}

/* With accounts.signup listed, only addresses that have an account, or, with `members`, a membership. */
static enum err may_sign_in(struct tx *tx, struct str email, bool members, bool *ret)
{
    struct id unused;
    struct member membership;
    enum err e = tx->config->listed ? account_find(tx, email, &unused) : ERR_NONE;
    if (e == ERR_ACCOUNT_NOT_FOUND)
        e = members ? member_first(tx, email, &membership) : ERR_NOT_FOUND;
    *ret = !e;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static enum err make_challenge(struct tx *tx, struct str email, bool members, struct challenge *ret)
{
    bool mailed;
    enum err e = session_check_count(tx, email);
    if (!e)
        e = may_sign_in(tx, email, members, &mailed);
    if (e)
        return e;
    struct challenge c = challenge_new();
    c.mailed = mailed;
    struct str otp = arena_printf(tx->arena, "%06u", crypto_uniform(OTP_CODES));
    unsigned char mac[SHA256_LEN];
    char input[OTP_INPUT_MAX + 1];
    crypto_derived_mac(OTP_PURPOSE, otp_input(str_z(c.id), otp, input), mac);
    crypto_wipe(input, sizeof input);
    int64_t expires_us = tx->now_us + CHALLENGE_TTL_S * US_PER_S;
    e = db_exec(tx->db,
                SQL(challenge_insert, .id = str_z(c.id), .email = email, .otp_mac = str_bytes(mac, sizeof mac),
                    .expires_at = expires_us),
                NULL);
    if (e)
        return e;
    const struct mail_intent mail = session_mail(tx, email, otp, expires_us);
    e = mailed ? mail_queue(tx, &mail) : ERR_NONE;
    if (!e)
        *ret = c;
    return e;
}

enum err session_challenge(struct tx *tx, struct str email, struct challenge *ret)
{
    enum err e = check_linked(tx, email);
    return e ? e : make_challenge(tx, email, false, ret);
}

enum err session_challenge_site(struct tx *tx, struct str email, struct challenge *ret)
{
    return make_challenge(tx, email, true, ret);
}

/* Uses the challenge if the code is correct, else an attempt. */
static enum err challenge_redeem(struct tx *tx, struct str email, struct str challenge, struct str otp)
{
    unsigned char stored[SHA256_LEN] = {0};
    char input[OTP_INPUT_MAX + 1];
    bool alive = false;
    {
        CURSOR c;
        enum err e = db_one(tx->db, SQL(challenge_get, .id = challenge, .email = email, .now = tx->now_us), &c);
        if (e)
            return e == ERR_NOT_FOUND ? ERR_INVALID_OTP : e;
        const struct row_challenge_get row = row_challenge_get(&c, NULL);
        struct str found = row.otp_mac;
        if (found.n == sizeof stored)
            memcpy(stored, found.p, sizeof stored);
        alive = row.attempts < CHALLENGE_ATTEMPTS;
    }
    if (!alive)
        return ERR_INVALID_OTP;
    const bool right = crypto_is_derived_mac(OTP_PURPOSE, otp_input(challenge, otp, input), stored, sizeof stored);
    crypto_wipe(input, sizeof input);
    if (otp.n == OTP_LEN && right)
        return db_exec(tx->db, SQL(challenge_use, .id = challenge, .used_at = tx->now_us), NULL);
    enum err e = db_exec(tx->db, SQL(challenge_attempt, .id = challenge), NULL);
    return e ? e : ERR_INVALID_OTP;
}

enum err session_redeem(struct tx *tx, struct str email, struct str challenge, struct str otp, struct id *ret_account)
{
    enum err e = check_linked(tx, email);
    if (!e)
        e = challenge_redeem(tx, email, challenge, otp);
    if (!e)
        e = tx->config->listed ? account_find(tx, email, ret_account) : account_ensure(tx, email, ret_account);
    return e == ERR_ACCOUNT_NOT_FOUND ? ERR_INVALID_OTP : e; /* a code that was not mailed, or an account that went */
}

struct key_options session_key_of_member(const struct member *m)
{
    struct key_options key = session_key(&m->account_id);
    key.building_id = m->building_id;
    key.member_id = m->id;
    key.name = m->name;
    key.scopes = member_scopes(m->role);
    return key;
}

static enum err principal_of_address(struct tx *tx, struct str email, struct key_options *ret)
{
    struct id account;
    struct member m = {0};
    enum err e = account_find(tx, email, &account);
    if (e == ERR_ACCOUNT_NOT_FOUND)
        e = member_first(tx, email, &m);
    if (e == ERR_NOT_FOUND)
        e = tx->config->listed ? ERR_INVALID_OTP : account_ensure(tx, email, &account);
    else if (!e && id_given(&m.id))
        e = member_accept(tx, &m);
    if (e)
        return e;
    *ret = id_given(&m.id) ? session_key_of_member(&m) : session_key(&account);
    return ERR_NONE;
}

enum err session_admit(struct tx *tx, struct str email, struct str challenge, struct str otp, struct key_options *ret)
{
    enum err e = challenge_redeem(tx, email, challenge, otp);
    return e ? e : principal_of_address(tx, email, ret);
}

enum err session_trust(struct tx *tx, struct str email, struct id *ret_account)
{
    enum err e = check_linked(tx, email);
    return e ? e : account_ensure(tx, email, ret_account);
}

struct key_options session_key(const struct id *account)
{
    return (struct key_options){
        .kind = KEY_WEB_SESSION,
        .account_id = *account,
        .name = STR(SESSION_NAME),
        .scopes = SCOPE_CURRENT,
        .ttl_s = KEY_SESSION_TTL_S,
    };
}

enum err session_verify(struct tx *tx, struct str email, struct str challenge, struct str otp, struct key_issued *ret)
{
    struct id account;
    enum err e = session_redeem(tx, email, challenge, otp, &account);
    if (e)
        return e;
    const struct key_options options = session_key(&account);
    return key_issue(tx, &options, ret);
}

/* Of an account that exists: no stranger's code makes one here. */
static enum err issue_owner(struct tx *tx, struct str email, struct key_issued *ret)
{
    struct key_options options = {.kind = KEY_OWNER, .name = STR(OWNER_NAME)};
    struct account account;
    enum err e = account_find(tx, email, &options.account_id);
    if (!e)
        e = account_get(tx, &options.account_id, &account);
    if (!e && !account.earlier_revision)
        e = ERR_ACCOUNT_NOT_FOUND;
    return e ? e : key_issue(tx, &options, ret);
}

enum err session_own(struct tx *tx, struct str email, struct str challenge, struct str otp, struct key_issued *ret,
                     bool *ret_commit)
{
    enum err e = check_linked(tx, email);
    if (!e)
        e = challenge_redeem(tx, email, challenge, otp);
    const bool attempted = e == ERR_INVALID_OTP;
    if (!e)
        e = issue_owner(tx, email, ret);
    *ret_commit = attempted;
    return attempted || e == ERR_LINKED_ACCOUNT || e == ERR_ACCOUNT_NOT_FOUND ? ERR_WEBSITE_SIGN_IN_REQUIRED : e;
}

enum err session_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL(challenge_purge, .before = before_us, .limit = limit), ret_count);
}
