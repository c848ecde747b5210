#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/crypto.h"
#include "cli/datadir.h"

struct fixture {
    char parent[64], dir[80], key[96];
    struct config config;
    char *why;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    strcpy(f->parent, "/tmp/portero-datadir-XXXXXX");
    assert_non_null(mkdtemp(f->parent));
    snprintf(f->dir, sizeof f->dir, "%s/data", f->parent);
    snprintf(f->key, sizeof f->key, "%s/master.key", f->dir);
    f->config.top_data_dir = f->dir;
    f->config.secrets_master_key = "";
    f->config.secrets_previous_master_key = "";
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    unlink(f->key);
    rmdir(f->dir);
    rmdir(f->parent);
    free(f->why);
    free(f);
    return 0;
}

static int access_error; /* of the next calls; 0: none */

int access(const char *path, int mode)
{
    errno = access_error;
    return access_error ? -1 : faccessat(AT_FDCWD, path, mode, 0);
}

static unsigned mode_of(const char *path)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    return found.st_mode & 0777;
}

static struct str digest(void)
{
    static unsigned char mac[SHA256_LEN];
    crypto_derived_mac("test", STR("the same"), mac);
    return str_n((const char *)mac, sizeof mac);
}

/* SERVICE-11 */
static void the_data_directory_is_private(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_NONE);
    assert_int_equal(mode_of(f->dir), 0700);
    assert_int_equal(chmod(f->dir, 0755), 0);
    assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_NONE);
    assert_int_equal(mode_of(f->dir), 0700);
}

/* SERVICE-11 */
static void an_unrelated_directory_is_refused_and_left_unchanged(void **state)
{
    struct fixture *f = *state;
    char other[200];
    snprintf(other, sizeof other, "%s/other", f->dir);
    assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_NONE);
    assert_int_equal(chmod(f->dir, 0755), 0);
    int fd = open(other, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_USAGE);
    assert_non_null(strstr(f->why, f->dir));
    assert_int_equal(mode_of(f->dir), 0755);
    assert_int_equal(rename(other, f->key), 0); /* makes it a data directory */
    free(f->why);
    f->why = NULL;
    assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_NONE);
    assert_int_equal(mode_of(f->dir), 0700);
}

/* Only root can give a directory away; to others the system's belongs to somebody else. */
/* SERVICE-11 */
static void a_directory_of_another_user_is_not_served_from(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(datadir_check_owner(&f->config, &f->why), ERR_NONE); /* not there yet */
    assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_NONE);
    assert_int_equal(datadir_check_owner(&f->config, &f->why), ERR_NONE);
    if (geteuid() == 0)
        assert_int_equal(chown(f->dir, 1, 1), 0);
    else
        f->config.top_data_dir = "/";
    assert_int_equal(datadir_check_owner(&f->config, &f->why), ERR_USAGE);
    assert_non_null(strstr(f->why, geteuid() ? "belongs to user root" : "belongs to user daemon"));
}

static void a_file_in_place_of_the_directory_is_refused(void **state)
{
    struct fixture *f = *state;
    f->config.top_data_dir = "/dev/null";
    assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_USAGE);
    assert_non_null(strstr(f->why, "/dev/null"));
}

/* SERVICE-7 */
static void a_disk_that_fails_is_no_fault_of_the_configuration(void **state)
{
    static const struct {
        int error;
        enum err wanted;
    } table[] = {{0, ERR_NONE}, {EACCES, ERR_USAGE}, {ELOOP, ERR_USAGE}, {EROFS, ERR_IO},
                 {EIO, ERR_IO}, {ESTALE, ERR_IO},    {ENOTCONN, ERR_IO}};
    struct fixture *f = *state;
    for (int there = 0; there < 2; there++) {
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            access_error = table[i].error;
            assert_int_equal(datadir_check(&f->config, &f->why), table[i].wanted);
            free(f->why);
            f->why = NULL;
        }
        access_error = 0;
        assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_NONE);
    }
}

/* STORE-17 */
static void the_sandbox_creates_a_key_once_and_keeps_it(void **state)
{
    struct fixture *f = *state;
    unsigned char first[SHA256_LEN];
    assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_NONE);
    assert_int_equal(datadir_master_key(&f->config, false, &f->why), ERR_NONE);
    assert_int_equal(mode_of(f->key), 0600);
    memcpy(first, digest().p, sizeof first);
    crypto_set_master((const unsigned char[SHA256_LEN]){0}, NULL);
    assert_memory_not_equal(first, digest().p, sizeof first);
    assert_int_equal(datadir_master_key(&f->config, false, &f->why), ERR_NONE);
    assert_memory_equal(first, digest().p, sizeof first);
}

static void services_that_start_together_use_the_same_key(void **state)
{
    enum { SERVICES = 8 };
    struct fixture *f = *state;
    unsigned char keys[SERVICES][SHA256_LEN];
    int start[2], done[2];
    char go[SERVICES] = {0};
    assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_NONE);
    assert_int_equal(pipe(start) | pipe(done), 0);
    for (int i = 0; i < SERVICES; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child)
            continue;
        bool made = read(start[0], go, 1) == 1 && !datadir_master_key(&f->config, false, &f->why);
        _exit(made && write(done[1], digest().p, SHA256_LEN) == SHA256_LEN ? 0 : 1);
    }
    assert_int_equal(write(start[1], go, SERVICES), SERVICES);
    for (int i = 0; i < SERVICES; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
        assert_int_equal(read(done[0], keys[i], SHA256_LEN), SHA256_LEN);
        assert_memory_equal(keys[i], keys[0], SHA256_LEN);
    }
    assert_int_equal(close(start[0]) | close(start[1]) | close(done[0]) | close(done[1]), 0);
}

/* STORE-17 */
static void production_requires_a_key(void **state)
{
    struct fixture *f = *state;
    f->config.production = true;
    assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_NONE);
    assert_int_equal(datadir_master_key(&f->config, false, &f->why), ERR_USAGE);
    assert_non_null(strstr(f->why, "secrets.master_key"));
    assert_int_equal(access(f->key, F_OK), -1);
}

static void a_missing_key_of_a_store_with_secrets_is_not_replaced(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(datadir_prepare(&f->config, &f->why), ERR_NONE);
    assert_int_equal(datadir_master_key(&f->config, true, &f->why), ERR_USAGE);
    assert_non_null(strstr(f->why, "master.key: not found"));
    assert_int_equal(access(f->key, F_OK), -1);
}

static void a_malformed_key_is_refused_and_not_shown(void **state)
{
    struct fixture *f = *state;
    f->config.secrets_master_key = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdeg";
    assert_int_equal(datadir_master_key(&f->config, false, &f->why), ERR_USAGE);
    assert_null(strstr(f->why, "0123456789"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_data_directory_is_private, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unrelated_directory_is_refused_and_left_unchanged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_directory_of_another_user_is_not_served_from, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_in_place_of_the_directory_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_disk_that_fails_is_no_fault_of_the_configuration, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_sandbox_creates_a_key_once_and_keeps_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(services_that_start_together_use_the_same_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(production_requires_a_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_key_of_a_store_with_secrets_is_not_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_malformed_key_is_refused_and_not_shown, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
