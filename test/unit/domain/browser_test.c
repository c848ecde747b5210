#include "tx_fixture.h"

#include "domain/browser.h"
#include "domain/member.h"
#include "domain/session.h"

#define HOURS       (3600 * US_PER_S)
#define BROWSER_TTL (12 * HOURS)

struct signed_in {
    struct browser_issued issued;
    unsigned char hash[SHA256_LEN];
    struct principal who;
};

static enum err ask(struct tx *tx, struct signed_in *b)
{
    return key_authenticate(tx, b->hash, &b->who);
}

static struct signed_in browser(struct tx *tx, const struct id *account, bool remember)
{
    const struct key_options key = session_key(account);
    struct signed_in b;
    assert_none(browser_issue(tx, &key, STR("Firefox/120.0"), remember, &b.issued));
    browser_hash(str_z(b.issued.cookie), b.hash);
    assert_none(ask(tx, &b));
    return b;
}

static bool lapsed(struct tx *tx, const struct signed_in *b)
{
    bool is;
    assert_none(browser_lapsed(tx, b->hash, &is));
    return is;
}

static size_t listed(struct tx *tx, const struct id *account)
{
    const struct browser_entry *list;
    size_t count;
    assert_none(browser_list(tx, account, &(struct id){0}, &list, &count));
    return count;
}

static void use(struct tx *tx, const struct signed_in *b)
{
    const struct key_use at = {b->who.account_id, b->who.key_id, tx->now_us};
    assert_none(key_touch(tx, &at, 1));
}

static void test_a_browser_has_a_website_session_and_no_text_has_its_hash(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct signed_in b = browser(tx, &parent.account_id, false);
    assert_id(b.who.account_id, parent.account_id);
    assert_true(b.who.web_session);
    assert_int_equal(b.who.scopes, parent.scopes);
    assert_int_equal(b.who.expires_at_us, tx->now_us + BROWSER_TTL);
    assert_int_equal(strlen(b.issued.cookie), BROWSER_COOKIE_LEN);
    struct key_issued key = {0};
    memcpy(key.text, b.issued.cookie, sizeof b.issued.cookie);
    assert_error(authenticate(tx, &key, &who), ERR_INVALID_KEY);
}

static void test_only_a_remembered_browser_whose_key_has_expired_is_renewed(struct tx *tx)
{
    struct principal parent = owner(tx);
    struct signed_in kept = browser(tx, &parent.account_id, true), other = browser(tx, &parent.account_id, false);
    const struct id first = kept.who.key_id;
    assert_false(lapsed(tx, &kept));
    assert_error(browser_renew(tx, kept.hash), ERR_NOT_FOUND);
    tx->now_us += BROWSER_TTL;
    assert_error(ask(tx, &kept), ERR_INVALID_KEY);
    assert_true(lapsed(tx, &kept));
    assert_false(lapsed(tx, &other));
    assert_error(browser_renew(tx, other.hash), ERR_NOT_FOUND);
    assert_none(browser_renew(tx, kept.hash));
    assert_error(browser_renew(tx, kept.hash), ERR_NOT_FOUND);
    assert_none(ask(tx, &kept));
    assert_string_not_equal(kept.who.key_id.text, first.text);
    assert_int_equal(kept.who.expires_at_us, tx->now_us + BROWSER_TTL);
    assert_int_equal(listed(tx, &parent.account_id), 1);
}

/* KEY-28 */
static void test_a_member_and_the_owner_have_browsers_of_their_own(struct tx *tx)
{
    const struct principal parent = owner(tx);
    const struct id *account = &parent.account_id;
    struct key_options key = session_key(account);
    struct browser_issued issued;
    const struct browser_entry *list;
    size_t count;
    const struct signed_in owners = browser(tx, account, true);
    assert_none(member_create(
        tx, &(struct member){.building_id = parent.primary_id, .name = STR("Guest"), .email = STR("guest@example.com")},
        &key.member_id));
    key.building_id = parent.primary_id;
    key.scopes = member_scopes(MEMBER_RESIDENT);
    for (int i = 0; i <= BROWSERS_MAX; i++)
        assert_none(browser_issue(tx, &key, STR_NONE, true, &issued));
    assert_none(browser_list(tx, account, &key.member_id, &list, &count));
    assert_int_equal(count, BROWSERS_MAX);
    assert_int_equal(listed(tx, account), 1);
    assert_error(browser_end(tx, account, &key.member_id, &owners.issued.id), ERR_NOT_FOUND);
    assert_error(browser_end(tx, account, &(struct id){0}, &issued.id), ERR_NOT_FOUND);
    assert_none(browser_end_all(tx, account, &key.member_id));
    assert_int_equal(listed(tx, account), 1);
}

static void test_a_remembered_browser_ends_30_days_after_its_last_use(struct tx *tx)
{
    struct principal parent = owner(tx);
    struct signed_in b = browser(tx, &parent.account_id, true);
    tx->now_us += 6 * HOURS;
    use(tx, &b);
    tx->now_us += 30 * DAYS - 1;
    assert_true(lapsed(tx, &b));
    assert_int_equal(listed(tx, &parent.account_id), 1);
    tx->now_us += 1;
    assert_false(lapsed(tx, &b));
    assert_error(browser_renew(tx, b.hash), ERR_NOT_FOUND);
    assert_int_equal(listed(tx, &parent.account_id), 0);
}

static void test_a_signed_out_browser_is_not_renewed(struct tx *tx)
{
    struct principal parent = owner(tx);
    int64_t count;
    for (int way = 0; way < 5; way++) {
        struct signed_in b = browser(tx, &parent.account_id, true);
        const struct id *account = &parent.account_id;
        if (way == 4)
            tx->now_us += BROWSER_TTL; /* also if its key has ended */
        enum err e = way == 0   ? browser_end(tx, account, &(struct id){0}, &b.issued.id)
                     : way == 1 ? browser_end_all(tx, account, &(struct id){0})
                     : way == 2 ? browser_replace(tx, b.hash)
                     : way == 3 ? key_revoke(tx, account, &b.who.key_id)
                                : key_revoke_others(tx, account, &parent.key_id, &count);
        assert_none(e);
        tx->now_us += BROWSER_TTL;
        assert_error(ask(tx, &b), ERR_INVALID_KEY);
        assert_false(lapsed(tx, &b));
        assert_error(browser_renew(tx, b.hash), ERR_NOT_FOUND);
        assert_error(browser_end(tx, account, &(struct id){0}, &b.issued.id), ERR_NOT_FOUND);
        assert_int_equal(listed(tx, account), 0);
    }
}

static void test_the_browser_unused_for_the_longest_time_makes_room(struct tx *tx)
{
    struct principal parent = owner(tx);
    struct signed_in all[BROWSERS_MAX + 2];
    for (size_t i = 0; i < BROWSERS_MAX; i++) {
        tx->now_us += 2 * MINUTES;
        all[i] = browser(tx, &parent.account_id, i % 2);
    }
    use(tx, &all[0]);
    for (size_t i = BROWSERS_MAX; i < BROWSERS_MAX + 2; i++) {
        tx->now_us += 2 * MINUTES;
        all[i] = browser(tx, &parent.account_id, false);
    }
    for (size_t i = 0; i < BROWSERS_MAX + 2; i++)
        assert_int_equal(ask(tx, &all[i]) == ERR_NONE, i != 1 && i != 2);
    assert_int_equal(listed(tx, &parent.account_id), BROWSERS_MAX);
}

static void test_an_account_sees_and_ends_its_own_browsers_only(struct tx *tx)
{
    struct principal mine = owner(tx), theirs;
    struct key_issued key = sign_in(tx, STR("other@example.com"));
    assert_none(authenticate(tx, &key, &theirs));
    struct signed_in b = browser(tx, &mine.account_id, true);
    assert_int_equal(listed(tx, &theirs.account_id), 0);
    assert_error(browser_end(tx, &theirs.account_id, &(struct id){0}, &b.issued.id), ERR_NOT_FOUND);
    assert_none(browser_end_all(tx, &theirs.account_id, &(struct id){0}));
    assert_none(ask(tx, &b));
    assert_error(authenticate(tx, &key, &theirs), ERR_INVALID_KEY);
}

static void test_browsers_are_deleted_with_their_keys(struct tx *tx)
{
    struct principal parent = owner(tx);
    struct signed_in b = browser(tx, &parent.account_id, true);
    int64_t count;
    assert_none(key_purge(tx, b.who.expires_at_us + 1, 10, &count));
    assert_int_equal(count, 2);
    assert_int_equal(listed(tx, &parent.account_id), 0);
    CURSOR c;
    assert_none(db_one(tx->db, SQL(check_browser), &c));
    assert_int_equal(row_check_browser(&c, NULL).faults, 0);
}

/* KEY-29 */
static void test_names_come_from_a_table_whatever_the_browser_says(struct tx *tx)
{
    (void)tx;
    static const struct {
        const char *user_agent, *program, *system;
    } rows[] = {
        {"Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0", "Firefox", "Linux"},
        {"Mozilla/5.0 (Android 14; Mobile; rv:120.0) Gecko/120.0 Firefox/120.0", "Firefox", "Android"},
        {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 "
         "Safari/537.36",
         "Chrome", "Windows"},
        {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 "
         "Safari/537.36 "
         "Edg/120.0.0.0",
         "Edge", "Windows"},
        {"Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 "
         "Mobile/15E148 Safari/604.1",
         "Safari", "iPhone"},
        {"Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
         "CriOS/120.0.6099.50 Mobile/15E148 Safari/604.1",
         "Chrome", "iPhone"},
        {"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 "
         "Safari/605.1.15",
         "Safari", "macOS"},
        {"curl/8.0", NULL, NULL},
        {"<script>alert(1)</script>", NULL, NULL},
        {"", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct browser_names names = browser_names(str_z(rows[i].user_agent));
        assert_string_equal(names.program ? names.program : "", rows[i].program ? rows[i].program : "");
        assert_string_equal(names.system ? names.system : "", rows[i].system ? rows[i].system : "");
    }
    assert_null(browser_names(STR_NONE).program);
}

#define TESTS(x)                                                                                                       \
    x(test_a_browser_has_a_website_session_and_no_text_has_its_hash)                                                   \
        x(test_only_a_remembered_browser_whose_key_has_expired_is_renewed)                                             \
            x(test_a_member_and_the_owner_have_browsers_of_their_own)                                                  \
                x(test_a_remembered_browser_ends_30_days_after_its_last_use)                                           \
                    x(test_a_signed_out_browser_is_not_renewed)                                                        \
                        x(test_the_browser_unused_for_the_longest_time_makes_room)                                     \
                            x(test_an_account_sees_and_ends_its_own_browsers_only)                                     \
                                x(test_browsers_are_deleted_with_their_keys)                                           \
                                    x(test_names_come_from_a_table_whatever_the_browser_says)
TX_RUN(TESTS)
