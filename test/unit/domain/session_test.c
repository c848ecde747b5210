#include "tx_fixture.h"

#include "domain/member.h"
#include "domain/session_mail.h"

static struct str wrong(struct tx *tx, struct str otp)
{
    uint64_t n;
    assert_true(str_to_u64(otp, 999999, &n));
    return arena_printf(tx->arena, "%06llu", (unsigned long long)(n + 1) % 1000000);
}

static enum err verify(struct tx *tx, const struct challenge *c, struct str otp)
{
    struct key_issued key;
    return session_verify(tx, OWNER, str_z(c->id), otp, &key);
}

static struct challenge challenge(struct tx *tx)
{
    struct challenge c;
    assert_none(session_challenge(tx, OWNER, &c));
    return c;
}

static void test_the_mail_has_the_code_and_the_challenge_does_not(struct tx *tx)
{
    struct challenge c = challenge(tx);
    struct str payload;
    struct mail_intent mail;
    assert_int_equal(take_jobs(tx, JOB_MAIL, &payload), 1);
    assert_none(mail_read(payload, tx->arena, &mail));
    assert_true(str_eq(mail.to, OWNER));
    assert_int_equal(mail.code.n, 6);
    assert_non_null(memmem(mail.text.p, mail.text.n, mail.code.p, mail.code.n));
    assert_non_null(memmem(mail.html.p, mail.html.n, mail.code.p, mail.code.n));
    assert_true(str_starts(mail.subject, mail.code));
    assert_null(memmem(payload.p, payload.n, mail.code.p, mail.code.n)); /* sealed */
    assert_int_equal(mail.give_up_us, tx->now_us + 15 * MINUTES);
    assert_int_equal(strlen(c.id), CHALLENGE_LEN);
    assert_memory_equal(c.id, "chl_", 4);
}

/* KEY-3 */
static void test_a_sign_in_code_is_stored_as_a_keyed_mac(struct tx *tx)
{
    struct challenge c = challenge(tx);
    struct str otp = mailed_code(tx);
    CURSOR cursor;
    unsigned char plain[SHA256_LEN];
    crypto_sha256(otp, plain);
    assert_none(db_one(tx->db, SQL(challenge_get, .id = str_z(c.id), .email = OWNER, .now = tx->now_us), &cursor));
    struct str mac = row_challenge_get(&cursor, NULL).otp_mac;
    assert_int_equal(mac.n, SHA256_LEN);
    assert_memory_not_equal(mac.p, plain, SHA256_LEN);
    assert_null(memmem(mac.p, mac.n, otp.p, otp.n));
}

static void test_the_mail_has_address_code_and_validity_and_loads_nothing(struct tx *tx)
{
    struct mail_intent mail = session_mail(tx, STR("a&'<b>\"@example.com"), STR("012345"), tx->now_us + 1);
    assert_str(mail.subject, "012345 is your Portero sign-in code");
    static const char *const said[] = {"012345", "15 minutes", "Portero"};
    static const char *const never[] = {"<b>", "<img", "<a ", "<script", "<link", "url(", "http", "src=", "\"@"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        assert_non_null(strstr(mail.text.p, said[i]));
        assert_non_null(strstr(mail.html.p, said[i]));
    }
    assert_non_null(strstr(mail.text.p, "a&'<b>\"@example.com"));
    assert_non_null(strstr(mail.html.p, "a&amp;&apos;&lt;b&gt;&quot;@example.com"));
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_null(strstr(mail.html.p, never[i]));
}

static void test_the_title_of_the_mail_is_its_subject(struct tx *tx)
{
    struct config config = *tx->config;
    struct tx quiet = *tx;
    struct mail_intent mail = session_mail(tx, OWNER, STR("012345"), tx->now_us + 1);
    assert_non_null(strstr(mail.html.p, "<title>012345 is your Portero sign-in code</title>"));
    config.mail_code_in_subject = false;
    quiet.config = &config;
    mail = session_mail(&quiet, OWNER, STR("012345"), tx->now_us + 1);
    assert_str(mail.subject, "Your Portero sign-in code");
    assert_non_null(strstr(mail.html.p, "<title>Your Portero sign-in code</title>"));
}

static void test_a_correct_code_creates_an_account_with_a_building_and_a_session(struct tx *tx)
{
    struct key_issued key = sign_in(tx, OWNER);
    struct principal who;
    assert_memory_equal(key.text, "svc_web_", 8);
    assert_int_equal(strlen(key.text), 8 + 43);
    assert_memory_equal(key.prefix, key.text, KEY_PREFIX_LEN);
    assert_int_equal(key.expires_at_us, tx->now_us + KEY_SESSION_TTL_S * US_PER_S);
    assert_none(authenticate(tx, &key, &who));
    assert_true(who.web_session);
    assert_int_equal(who.building_count, 1);
    assert_true(who.scopes & SCOPE(KEYS_WRITE));
    struct building home;
    assert_none(building_get(tx, &who.account_id, &who.primary_id, &home));
    assert_str(home.label, "Home");
    assert_true(home.primary);
    assert_false(home.has_address);
    assert_null(home.number.p);
}

static void test_a_second_sign_in_finds_the_account(struct tx *tx)
{
    struct key_issued first = sign_in(tx, OWNER), second = sign_in(tx, OWNER);
    struct principal a, b;
    assert_none(authenticate(tx, &first, &a));
    assert_none(authenticate(tx, &second, &b));
    assert_id(a.account_id, b.account_id);
    assert_string_not_equal(first.text, second.text);
}

static void test_a_code_works_once(struct tx *tx)
{
    struct challenge c = challenge(tx);
    struct str otp = mailed_code(tx);
    assert_none(verify(tx, &c, otp));
    assert_error(verify(tx, &c, otp), ERR_INVALID_OTP);
}

static void test_the_fifth_wrong_code_invalidates_a_challenge(struct tx *tx)
{
    for (int wrongs = 4; wrongs <= 5; wrongs++) {
        struct challenge c = challenge(tx);
        struct str otp = mailed_code(tx);
        for (int i = 0; i < wrongs; i++)
            assert_error(verify(tx, &c, wrong(tx, otp)), ERR_INVALID_OTP);
        assert_error(verify(tx, &c, otp), wrongs == 4 ? ERR_NONE : ERR_INVALID_OTP);
    }
}

static void test_malformed_codes_use_attempts(struct tx *tx)
{
    struct challenge c = challenge(tx);
    struct str otp = mailed_code(tx);
    struct str longer = arena_printf(tx->arena, "%.*s0", STR_ARG(otp));
    struct str with_nul = arena_str(tx->arena, str_n("123\0\0006", 6));
    const struct str malformed[] = {STR(""), longer, str_n(otp.p, 5), with_nul, arena_printf(tx->arena, "%0500d", 7)};
    for (size_t i = 0; i < 5; i++)
        assert_error(verify(tx, &c, malformed[i]), ERR_INVALID_OTP);
    assert_error(verify(tx, &c, otp), ERR_INVALID_OTP);
}

/* KEY-1 */
static void test_another_address_or_challenge_uses_no_attempt(struct tx *tx)
{
    struct challenge c = challenge(tx), other;
    struct str otp = mailed_code(tx);
    struct key_issued key;
    assert_none(session_challenge(tx, STR("other@example.com"), &other));
    for (int i = 0; i < 6; i++) {
        assert_error(session_verify(tx, STR("other@example.com"), str_z(c.id), otp, &key), ERR_INVALID_OTP);
        assert_error(session_verify(tx, OWNER, STR("chl_0"), otp, &key), ERR_INVALID_OTP);
        assert_error(session_verify(tx, OWNER, STR("' OR 1=1"), otp, &key), ERR_INVALID_OTP);
    }
    assert_none(verify(tx, &c, otp));
}

static void test_a_challenge_is_valid_for_15_minutes(struct tx *tx)
{
    struct challenge early = challenge(tx);
    struct str otp = mailed_code(tx);
    struct challenge late = challenge(tx);
    struct str late_otp = mailed_code(tx);
    tx->now_us += 15 * MINUTES - 1;
    assert_none(verify(tx, &early, otp));
    tx->now_us += 1;
    assert_error(verify(tx, &late, late_otp), ERR_INVALID_OTP);
}

static void test_three_pending_challenges_are_the_limit_and_only_used_ones_make_room(struct tx *tx)
{
    struct challenge c = challenge(tx), more;
    struct str otp = mailed_code(tx);
    struct challenge dead = challenge(tx);
    challenge(tx);
    assert_error(session_challenge(tx, OWNER, &more), ERR_OTP_RATE_LIMIT);
    assert_int_equal(tx->retry_after_s, 0);
    assert_none(session_challenge(tx, STR("other@example.com"), &more));
    assert_none(verify(tx, &c, otp));
    challenge(tx);
    for (int i = 0; i < 5; i++)
        assert_error(verify(tx, &dead, STR("x")), ERR_INVALID_OTP);
    assert_error(session_challenge(tx, OWNER, &more), ERR_OTP_RATE_LIMIT);
    tx->now_us += 15 * MINUTES;
    assert_none(session_challenge(tx, OWNER, &more));
}

/* Ten unused challenges, as fast as the short limit allows. */
static void spend_the_day(struct tx *tx)
{
    for (int i = 0; i < 10; i++) {
        challenge(tx);
        tx->now_us += 6 * MINUTES;
    }
}

/* KEY-5 */
static void test_after_ten_unused_challenges_in_a_day_an_address_gets_one_an_hour(struct tx *tx)
{
    struct challenge more;
    const int64_t begun_us = tx->now_us;
    spend_the_day(tx);
    tx->now_us += 15 * MINUTES;
    assert_error(session_challenge(tx, OWNER, &more), ERR_OTP_RATE_LIMIT);
    assert_int_equal(tx->retry_after_s, 39 * 60);
    assert_none(session_challenge(tx, STR("other@example.com"), &more));
    tx->now_us += 39 * MINUTES - 1;
    assert_error(session_challenge(tx, OWNER, &more), ERR_OTP_RATE_LIMIT);
    assert_int_equal(tx->retry_after_s, 1);
    tx->now_us++;
    assert_none(session_challenge(tx, OWNER, &more));
    assert_error(session_challenge(tx, OWNER, &more), ERR_OTP_RATE_LIMIT);
    assert_int_equal(tx->retry_after_s, 3600);
    tx->now_us = begun_us + 24 * 60 * MINUTES;
    assert_none(session_challenge(tx, OWNER, &more)); /* the eleventh was 23 hours ago */
    assert_error(session_challenge(tx, OWNER, &more), ERR_OTP_RATE_LIMIT);
    tx->now_us += 54 * MINUTES; /* nine of the first ten are no longer of the day */
    assert_none(session_challenge(tx, OWNER, &more));
    assert_none(session_challenge(tx, OWNER, &more));
}

/* KEY-5 */
static void test_challenges_that_are_used_do_not_count_towards_the_day(struct tx *tx)
{
    struct challenge more;
    for (int i = 0; i < 20; i++) {
        const struct challenge c = challenge(tx);
        assert_none(verify(tx, &c, mailed_code(tx)));
    }
    spend_the_day(tx);
    tx->now_us += 15 * MINUTES;
    assert_error(session_challenge(tx, OWNER, &more), ERR_OTP_RATE_LIMIT);
}

static void test_an_invited_member_without_an_account_cannot_sign_in(struct tx *tx)
{
    struct key_issued key = sign_in(tx, OWNER);
    struct principal who;
    struct id member;
    struct challenge c;
    assert_none(authenticate(tx, &key, &who));
    assert_none(session_challenge(tx, STR("guest@example.com"), &c));
    struct str otp = mailed_code(tx);
    assert_none(member_create(
        tx, &(struct member){.building_id = who.primary_id, .name = STR("Guest"), .email = STR("guest@example.com")},
        &member));
    assert_error(session_challenge(tx, STR("guest@example.com"), &c), ERR_LINKED_ACCOUNT);
    assert_error(session_verify(tx, STR("guest@example.com"), str_z(c.id), otp, &key), ERR_LINKED_ACCOUNT);
    assert_none(member_remove(tx, &member));
    assert_none(session_verify(tx, STR("guest@example.com"), str_z(c.id), otp, &key));
}

static struct key_options admitted(struct tx *tx, struct str email)
{
    struct key_options key;
    struct challenge c;
    assert_none(session_challenge_site(tx, email, &c));
    assert_true(c.mailed);
    assert_none(session_admit(tx, email, str_z(c.id), mailed_code(tx), &key));
    return key;
}

/* ACCOUNT-38 */
static void test_the_website_signs_a_member_in_to_the_building_and_an_owner_to_the_account(struct tx *tx)
{
    struct key_issued issued = sign_in(tx, OWNER);
    struct principal who;
    struct id member;
    assert_none(authenticate(tx, &issued, &who));
    assert_none(member_create(
        tx, &(struct member){.building_id = who.primary_id, .name = STR("Guest"), .email = STR("guest@example.com")},
        &member));
    struct key_options key = admitted(tx, STR("guest@example.com"));
    assert_id(key.account_id, who.account_id);
    assert_id(key.building_id, who.primary_id);
    assert_id(key.member_id, member);
    assert_str(key.name, "Guest");
    assert_int_equal(key.scopes, member_scopes(MEMBER_RESIDENT));
    for (int role = MEMBER_MANAGER; role <= MEMBER_ROLES; role++) { /* the last: of a later program */
        tx_sql(tx, role == MEMBER_MANAGER ? "UPDATE member SET role = 1" : "UPDATE member SET role = 2");
        assert_int_equal(admitted(tx, STR("guest@example.com")).scopes, member_scopes(MEMBER_MANAGER));
    }
    key = admitted(tx, OWNER);
    assert_id(key.account_id, who.account_id);
    assert_false(id_given(&key.building_id) || id_given(&key.member_id));
    assert_none(member_remove(tx, &member));
    key = admitted(tx, STR("guest@example.com"));
    assert_string_not_equal(key.account_id.text, who.account_id.text);
    assert_false(id_given(&key.member_id));
}

static struct member invited(struct tx *tx, struct principal *ret_who)
{
    struct key_issued issued = sign_in(tx, OWNER);
    assert_none(authenticate(tx, &issued, ret_who));
    struct member m = {.building_id = ret_who->primary_id,
                       .account_id = ret_who->account_id,
                       .name = STR("Guest"),
                       .email = STR("guest@example.com")};
    assert_none(member_invite(tx, &m));
    return m;
}

/* ACCOUNT-44 */
static void test_an_invitation_without_an_answer_ends_after_a_week(struct tx *tx)
{
    struct principal who;
    struct challenge c;
    const struct member m = invited(tx, &who);
    tx->now_us = m.invited_until_us - 1;
    assert_error(session_challenge(tx, m.email, &c), ERR_LINKED_ACCOUNT);
    tx->now_us = m.invited_until_us;
    assert_none(session_challenge(tx, m.email, &c));
    assert_error(member_accept(tx, &m), ERR_NOT_FOUND);
    const struct key_options key = admitted(tx, m.email);
    assert_string_not_equal(key.account_id.text, who.account_id.text);
    assert_false(id_given(&key.member_id));
}

/* ACCOUNT-44 */
static void test_a_member_who_has_signed_in_stays_one(struct tx *tx)
{
    struct principal who;
    const struct member m = invited(tx, &who);
    tx->now_us = m.invited_until_us - 1;
    assert_id(admitted(tx, m.email).member_id, m.id);
    tx->now_us += 30 * 24 * 60 * MINUTES;
    assert_id(admitted(tx, m.email).member_id, m.id);
}

static void test_where_only_listed_addresses_sign_in_members_are_listed_on_the_website(struct tx *tx)
{
    struct key_issued issued = sign_in(tx, OWNER);
    struct principal who;
    struct id member;
    struct challenge c;
    assert_none(authenticate(tx, &issued, &who));
    assert_none(member_create(
        tx, &(struct member){.building_id = who.primary_id, .name = STR("Guest"), .email = STR("guest@example.com")},
        &member));
    struct config listed = *tx->config;
    const struct config *config = tx->config;
    listed.listed = true;
    tx->config = &listed;
    assert_id(admitted(tx, STR("guest@example.com")).member_id, member);
    assert_none(session_challenge_site(tx, STR("stranger@example.com"), &c));
    assert_false(c.mailed);
    tx->config = config;
}

static void test_a_member_with_an_account_can_sign_in(struct tx *tx)
{
    struct key_issued key = sign_in(tx, OWNER);
    sign_in(tx, STR("guest@example.com"));
    struct principal who;
    struct id member;
    assert_none(authenticate(tx, &key, &who));
    assert_none(member_create(
        tx, &(struct member){.building_id = who.primary_id, .name = STR("Guest"), .email = STR("guest@example.com")},
        &member));
    sign_in(tx, STR("guest@example.com"));
}

static void test_the_purge_deletes_old_challenges_in_batches(struct tx *tx)
{
    int64_t count;
    challenge(tx), challenge(tx), challenge(tx);
    int64_t expiry_us = tx->now_us + 15 * MINUTES;
    assert_none(session_purge(tx, expiry_us, 2, &count));
    assert_int_equal(count, 0);
    assert_none(session_purge(tx, expiry_us + 1, 2, &count));
    assert_int_equal(count, 2);
    assert_none(session_purge(tx, expiry_us + 1, 2, &count));
    assert_int_equal(count, 1);
}

#define TESTS(x)                                                                                                       \
    x(test_the_mail_has_the_code_and_the_challenge_does_not) x(test_a_sign_in_code_is_stored_as_a_keyed_mac)           \
        x(test_the_mail_has_address_code_and_validity_and_loads_nothing) x(test_the_title_of_the_mail_is_its_subject)  \
            x(test_a_correct_code_creates_an_account_with_a_building_and_a_session)                                    \
                x(test_a_second_sign_in_finds_the_account) x(test_a_code_works_once)                                   \
                    x(test_the_fifth_wrong_code_invalidates_a_challenge) x(test_malformed_codes_use_attempts) x(       \
                        test_another_address_or_challenge_uses_no_attempt) x(test_a_challenge_is_valid_for_15_minutes) \
                        x(test_three_pending_challenges_are_the_limit_and_only_used_ones_make_room)                    \
                            x(test_after_ten_unused_challenges_in_a_day_an_address_gets_one_an_hour) x(                \
                                test_challenges_that_are_used_do_not_count_towards_the_day)                            \
                                x(test_an_invited_member_without_an_account_cannot_sign_in) x(                         \
                                    test_the_website_signs_a_member_in_to_the_building_and_an_owner_to_the_account)    \
                                    x(test_an_invitation_without_an_answer_ends_after_a_week) x(                       \
                                        test_a_member_who_has_signed_in_stays_one)                                     \
                                        x(test_where_only_listed_addresses_sign_in_members_are_listed_on_the_website)  \
                                            x(test_a_member_with_an_account_can_sign_in)                               \
                                                x(test_the_purge_deletes_old_challenges_in_batches)
TX_RUN(TESTS)
