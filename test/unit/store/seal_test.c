/* The checksum of a copy: any other bit, and any other length, is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/seal.h"

static char path[64];
static int fd;
static off_t bytes; /* of the database */

/* A database of 43 pages, where a page that is two bytes longer would make up for the line. */
static int before_each(void **state)
{
    (void)state;
    sqlite3 *db;
    strcpy(path, "/tmp/portero-seal-XXXXXX");
    fd = mkstemp(path);
    if (fd < 0 || sqlite3_open(path, &db) != SQLITE_OK)
        return -1;
    const int rc =
        sqlite3_exec(db, "CREATE TABLE t (x); INSERT INTO t VALUES (randomblob(42 * 4092 - 40))", NULL, NULL, NULL);
    sqlite3_close(db);
    bytes = lseek(fd, 0, SEEK_END);
    return rc != SQLITE_OK;
}

static int after_each(void **state)
{
    (void)state;
    close(fd);
    return unlink(path);
}

static bool is_good(bool sealed)
{
    struct seal seal = {0};
    char *why = NULL;
    const enum err e = seal_check(fd, "copy.db", &seal, &why);
    if (e) {
        assert_int_equal(e, ERR_IO);
        assert_memory_equal(why, "copy.db: ", 9);
        free(why);
        return false;
    }
    assert_int_equal(seal.bytes, bytes);
    return seal.sealed == sealed;
}

static void flip(off_t at, int bit)
{
    unsigned char byte;
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= (unsigned char)(1 << bit);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

static void test_any_flipped_bit_is_found(void **state)
{
    (void)state;
    assert_int_equal(bytes, 43 * 4096);
    assert_int_equal(seal_write(fd, NULL, NULL), ERR_NONE);
    assert_true(is_good(true));
    srandom(1);
    for (int n = 0; n < 1000 + 8 * (100 + SEAL_LEN); n++) { /* anywhere, and each of the header and the line */
        const int place = n - 1000, bit = n % 8;
        const off_t at = place < 0         ? random() % (bytes + SEAL_LEN)
                         : place < 8 * 100 ? place / 8
                                           : bytes + place / 8 - 100;
        flip(at, bit);
        if (is_good(true) || is_good(false))
            fail_msg("bit %d of byte %ld is not found", bit, (long)at);
        flip(at, bit);
    }
    assert_true(is_good(true));
}

static void test_any_other_length_is_found(void **state)
{
    (void)state;
    assert_true(is_good(false)); /* as of a program before checksums */
    assert_int_equal(seal_write(fd, NULL, NULL), ERR_NONE);
    assert_int_equal(pwrite(fd, "x", 1, bytes + SEAL_LEN), 1);
    assert_false(is_good(true));
    for (off_t length = bytes + SEAL_LEN - 1; length > bytes; length--) {
        assert_int_equal(ftruncate(fd, length), 0);
        assert_false(is_good(true) || is_good(false));
    }
    static const off_t shorter[] = {1, 4096, 42 * 4096};
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++) {
        assert_int_equal(ftruncate(fd, bytes - shorter[i]), 0);
        assert_false(is_good(true) || is_good(false));
    }
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_false(is_good(true) || is_good(false));
}

static int calls;

static int count(void *arg)
{
    ++*(int *)arg;
    return 0;
}

static void test_it_rests_between_portions(void **state)
{
    (void)state;
    assert_int_equal(seal_write(fd, count, &calls), ERR_NONE);
    assert_true(calls > 0);
    assert_true(is_good(true));
}

static void test_a_database_with_it_is_read_as_without(void **state)
{
    (void)state;
    sqlite3 *db;
    assert_int_equal(seal_write(fd, NULL, NULL), ERR_NONE);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA integrity_check; SELECT * FROM t", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, before_each, after_each)
    const struct CMUnitTest tests[] = {
        T(any_flipped_bit_is_found),
        T(any_other_length_is_found),
        T(it_rests_between_portions),
        T(a_database_with_it_is_read_as_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
