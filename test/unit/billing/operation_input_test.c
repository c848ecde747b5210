/* Addresses in the United States and Canada. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/schedule.h"
#include "billing/operation.h"

static struct arena arena;

/* The formatted postal code; NULL with `why`. */
static const char *normalised(const char *state, const char *zip, const char *country, const char **ret_why)
{
    struct building_address a = {.city = STR("x"), .state = str_z(state), .zip = str_z(zip), .country = str_z(country)};
    *ret_why = NULL;
    return building_address_normalise(&a, &arena, ret_why) ? arena_str(&arena, a.zip).p : NULL;
}

static void accepted(const char *state, const char *zip, const char *country, const char *as)
{
    const char *why, *got = normalised(state, zip, country, &why);
    if (!got)
        fail_msg("%s %s: %s", state, zip, why);
    assert_string_equal(got, as);
}

static void refused(const char *state, const char *zip, const char *country, const char *field)
{
    const char *why;
    assert_null(normalised(state, zip, country, &why));
    assert_ptr_equal(strstr(why, field), why);
}

/* BUILDING-1 */
static void test_us_addresses(void **state)
{
    (void)state;
    accepted("OR", "97201", NULL, "97201");
    accepted("DC", "20001-1234", "US", "20001-1234");
    accepted("PR", "00901", "US", "00901");
    refused("XX", "97201", "US", "address.state");
    refused("ON", "97201", "US", "address.state");
    refused("or", "97201", "US", "address.state"); /* the field table converts to upper case */
    refused("O", "97201", "US", "address.state");
    const char *const wrong[] = {"",           "9720",  "972011", "97201-", "97201-12", "97201-12345",
                                 "97201 1234", "9720a", "K1A 0B1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused("OR", wrong[i], "US", "address.zip");
}

/* BUILDING-1 */
static void test_canadian_addresses(void **state)
{
    (void)state;
    accepted("ON", "K1A 0B1", "CA", "K1A 0B1");
    accepted("QC", "h0h0h0", "CA", "H0H 0H0");
    accepted("NU", "x0A 0h0", "CA", "X0A 0H0");
    refused("OR", "K1A 0B1", "CA", "address.state");
    const char *const wrong[] = {"", "K1A", "K1A  0B1", "K1A-0B1", "1K1 A0B", "K1A0B", "K1A0B11", "97201"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused("ON", wrong[i], "CA", "address.zip");
}

static void test_every_state_and_province_is_known_once(void **state)
{
    (void)state;
    const char *why;
    int us = 0, ca = 0;
    for (char a = 'A'; a <= 'Z'; a++)
        for (char b = 'A'; b <= 'Z'; b++) {
            const char text[3] = {a, b, '\0'};
            us += normalised(text, "97201", "US", &why) != NULL;
            ca += normalised(text, "K1A 0B1", "CA", &why) != NULL;
        }
    assert_int_equal(us, 50 + 1 + 6);
    assert_int_equal(ca, 10 + 3);
}

/* BUILDING-33 */
static void test_every_state_has_zones_that_are_installed(void **state)
{
    (void)state;
    static const struct building_address places[] = {
#define REGION(in_country, in_state, ...)                                                                              \
    {.country = {in_country, sizeof in_country - 1}, .state = {in_state, sizeof in_state - 1}},
#include "tbl/regions.def"
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *const *zones = building_zones(&places[i]);
        assert_non_null(zones[0]);
        for (; *zones; zones++)
            if (!schedule_zone_known(str_z(*zones)))
                fail_msg("%.*s: %s", STR_ARG(places[i].state), *zones);
    }
    assert_null(building_zones(&(struct building_address){.country = STR("US"), .state = STR("ON")})[0]);
}

int main(void)
{
    arena_init(&arena, NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_us_addresses),
        cmocka_unit_test(test_canadian_addresses),
        cmocka_unit_test(test_every_state_and_province_is_known_once),
        cmocka_unit_test(test_every_state_has_zones_that_are_installed),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
