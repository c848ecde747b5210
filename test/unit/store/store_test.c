#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"

static enum err put(void *arg, struct db *db)
{
    return db_exec(db, SQL_SETTING_PUT, DB_ARGS(v_str(STR("k")), v_str(str_z(arg))), NULL);
}

static enum err get(void *arg, struct db *db)
{
    CURSOR c;
    enum err e = db_one(db, SQL_SETTING_GET, DB_ARGS(v_str(STR("k"))), &c);
    if (!e)
        snprintf(arg, 16, "%.*s", STR_ARG(col_str(&c, 0)));
    return e;
}

static void a_read_sees_an_acknowledged_write(void **state)
{
    struct store_fixture *f = *state;
    char text[16] = "";
    assert_int_equal(store_run(f->store, STORE_READ, get, text), ERR_NOT_FOUND);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "one"), ERR_NONE);
    assert_int_equal(store_run(f->store, STORE_READ, get, text), ERR_NONE);
    assert_string_equal(text, "one");
    assert_int_equal(store_check(f->store), ERR_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_read_sees_an_acknowledged_write, store_fixture_open, store_fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
