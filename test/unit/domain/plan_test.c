/* How SQLite runs the statements of grants, the door and the log: by which index, and whether it sorts. */
#include "domain/house.h"
#include "store/sql_table.h"

static const char *plan(struct house *h, enum sql statement)
{
    return house_sql(h, arena_printf(&h->arena, "EXPLAIN QUERY PLAN %s", sql_table[statement].sqlite).p);
}

struct expected {
    enum sql statement;
    const char *search; /* the only table access there is */
};

/* The statement reads through `search` alone; *ret_sorts: it sorts what it finds. */
static bool check_search(struct house *h, const struct expected *e)
{
    const char *got = plan(h, e->statement);
    if (!strstr(got, e->search) || strstr(got, "SCAN "))
        fail_msg("%s:\n%s", sql_table[e->statement].name, got);
    return strstr(got, "TEMP B-TREE") != NULL;
}

static void test_lists_are_read_in_the_order_they_are_shown(void **state)
{
    static const struct expected cases[] = {
        {SQL_GRANT_LIST, "PRIMARY KEY (building_id=? AND revoked=? AND id<?)"},
        {SQL_GRANT_LIST_EXHAUSTED, "access_grant_exhausted (building_id=? AND id<?)"},
        {SQL_GRANT_LIST_DISABLED, "access_grant_disabled (building_id=? AND id<?)"},
        {SQL_ACTIVITY_LIST, "PRIMARY KEY (building_id=? AND created_at>? AND created_at<?)"},
        {SQL_ACTIVITY_LIST_UNLOCK, "activity_unlock (building_id=? AND unlock_id=? AND created_at>? AND created_at<?)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_false(check_search(*state, &cases[i]));
}

static void test_what_is_usable_is_found_without_reading_what_is_not(void **state)
{
    static const struct expected cases[] = {
        {SQL_GRANT_LIST_USABLE, "COVERING INDEX access_grant_usable (building_id=? AND type=? AND ends_at>?)"},
        {SQL_ACCESS_USABLE, "access_grant_usable (building_id=? AND type=? AND ends_at>?)"},
        {SQL_ACCESS_PASSCODES, "access_grant_usable (building_id=? AND type=? AND ends_at>?)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_search(*state, &cases[i]);
}

static void test_single_rows_are_found_by_their_key(void **state)
{
    static const struct expected cases[] = {
        {SQL_GRANT_GET, "PRIMARY KEY (building_id=? AND revoked=? AND id=?)"},
        {SQL_GRANT_BY_REQUEST, "access_grant_request (building_id=? AND request_id=?)"},
        {SQL_GRANT_CODE_TAKEN, "access_grant_code (building_id=? AND access_code=?"},
        {SQL_GRANT_UPDATE, "PRIMARY KEY (building_id=? AND revoked=? AND id=?)"},
        {SQL_GRANT_REVOKE, "PRIMARY KEY (building_id=? AND revoked=? AND id=?)"},
        {SQL_ACCESS_TAKE_USE, "PRIMARY KEY (building_id=? AND revoked=? AND id=?)"},
        {SQL_ACCESS_BY_NUMBER, "building_number (virtual_number=?)"},
        {SQL_ACCESS_BY_BUILDING, "building_id (id=?)"},
        {SQL_ACCESS_WRONG_CODES, "PRIMARY KEY (building_id=? AND created_at>?)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_false(check_search(*state, &cases[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOUSE_SQLITE(test_lists_are_read_in_the_order_they_are_shown),
        HOUSE_SQLITE(test_what_is_usable_is_found_without_reading_what_is_not),
        HOUSE_SQLITE(test_single_rows_are_found_by_their_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
