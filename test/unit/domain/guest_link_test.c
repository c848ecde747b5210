/* Links of grants for guests: their life, and the facts that a guest gets. */
#include "domain/building_fixture.h"

#include "domain/guest_link.h"

struct linked {
    struct id grant;
    struct str timezone;
    char token[GUEST_TOKEN_LEN + 1];
    struct guest_link link;
    struct guest_view view;
    bool made;
};

static struct building_fixture *fixture; /* of the test that runs */

static struct grant_place here(void)
{
    return (struct grant_place){.building = &fixture->building};
}

static enum err make_run(struct tx *tx, void *arg)
{
    struct linked *l = arg;
    const struct grant_place place = here();
    enum err e = guest_link_make(tx, &place, &l->grant, l->timezone, &l->link, &l->made);
    if (!e)
        snprintf(l->token, sizeof l->token, "%.*s", STR_ARG(l->link.token));
    return e;
}

static enum err end_run(struct tx *tx, void *arg)
{
    struct linked *l = arg;
    const struct grant_place place = here();
    return guest_link_end(tx, &place, &l->grant);
}

static enum err open_run(struct tx *tx, void *arg)
{
    struct linked *l = arg;
    return guest_link_open(tx, str_z(l->token), &l->view);
}

/* GRANT-29 */
static void test_a_link_stays_the_same_until_it_is_ended(void **state)
{
    fixture = *state;
    struct linked l = {.grant = add_grant(fixture, (struct grant_input){.type = text("passcode")}).id};
    assert_int_equal(fixture_run(fixture, STORE_WRITE, make_run, &l), ERR_NONE);
    assert_true(l.made);
    struct linked again = {.grant = l.grant};
    assert_int_equal(fixture_run(fixture, STORE_WRITE, make_run, &again), ERR_NONE);
    assert_false(again.made);
    assert_string_equal(again.token, l.token);
    assert_int_equal(fixture_run(fixture, STORE_WRITE, end_run, &l), ERR_NONE);
    assert_int_equal(fixture_run(fixture, STORE_READ, open_run, &l), ERR_NOT_FOUND);
    assert_int_equal(fixture_run(fixture, STORE_WRITE, make_run, &again), ERR_NONE);
    assert_string_not_equal(again.token, l.token);
}

/* GRANT-34 */
static void test_a_guest_gets_neither_label_nor_request(void **state)
{
    fixture = *state;
    const struct grant_input in = {.type = text("passcode"), .label = text("Private"), .access_code = text("0042")};
    struct linked l = {.grant = add_grant(fixture, in).id, .timezone = STR("Europe/Paris")};
    assert_int_equal(fixture_run(fixture, STORE_WRITE, make_run, &l), ERR_NONE);
    assert_int_equal(fixture_run(fixture, STORE_READ, open_run, &l), ERR_NONE);
    assert_string_equal(l.view.grant.code, "0042");
    assert_null(l.view.grant.label.p);
    assert_null(l.view.grant.request_id.p);
    assert_true(str_eq(l.view.timezone, STR("Europe/Paris")));
}

/* GRANT-30 */
static void test_a_revoked_grant_takes_its_link_along(void **state)
{
    fixture = *state;
    struct linked l = {.grant = add_grant(fixture, (struct grant_input){.type = text("passcode")}).id};
    assert_int_equal(fixture_run(fixture, STORE_WRITE, make_run, &l), ERR_NONE);
    fixture_expect(fixture, "SELECT count(*) FROM guest_link", "1\n");
    assert_int_equal(revoke_grant(fixture, &l.grant), ERR_NONE);
    fixture_expect(fixture, "SELECT count(*) FROM guest_link", "0\n");
    assert_int_equal(fixture_run(fixture, STORE_READ, open_run, &l), ERR_NOT_FOUND);
    assert_int_equal(fixture_run(fixture, STORE_WRITE, make_run, &l), ERR_GRANT_REVOKED);
}

/* GRANT-31 */
static void test_an_expired_grant_has_its_link_again_when_it_is_extended(void **state)
{
    fixture = *state;
    struct grant g = add_grant(fixture, (struct grant_input){.type = text("passcode"), .expires_in_minutes = v_int(5)});
    struct linked l = {.grant = g.id};
    assert_int_equal(fixture_run(fixture, STORE_WRITE, make_run, &l), ERR_NONE);
    fixture->now_us += 5 * MINUTES;
    assert_int_equal(fixture_run(fixture, STORE_READ, open_run, &l), ERR_NOT_FOUND);
    assert_int_equal(fixture_run(fixture, STORE_WRITE, make_run, &l), ERR_GRANT_EXPIRED);
    assert_int_equal(update_grant(fixture, &g, (struct grant_input){.expires_in_minutes = v_int(5)}), ERR_NONE);
    assert_int_equal(fixture_run(fixture, STORE_READ, open_run, &l), ERR_NONE);
}

static void test_an_unknown_zone_is_refused(void **state)
{
    fixture = *state;
    struct linked l = {.grant = add_grant(fixture, (struct grant_input){.type = text("passcode")}).id,
                       .timezone = STR("Mars/Olympus")};
    assert_int_equal(fixture_run(fixture, STORE_WRITE, make_run, &l), ERR_INVALID_UNLOCK);
}

#define TESTS(x)                                                                                                       \
    x(test_a_link_stays_the_same_until_it_is_ended), x(test_a_guest_gets_neither_label_nor_request),                   \
        x(test_a_revoked_grant_takes_its_link_along), x(test_an_expired_grant_has_its_link_again_when_it_is_extended), \
        x(test_an_unknown_zone_is_refused)

FIXTURE_RUN(TESTS)
