#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

struct place {
    char dir[64], path[80], beside[80];
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    if (!p)
        return -1;
    snprintf(p->dir, sizeof p->dir, "/tmp/portero-file-XXXXXX");
    *state = p;
    if (!mkdtemp(p->dir))
        return -1;
    snprintf(p->path, sizeof p->path, "%s/f", p->dir);
    snprintf(p->beside, sizeof p->beside, "%s/f.new", p->dir);
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    unlink(p->path);
    unlink(p->beside);
    const int rc = rmdir(p->dir); /* nothing else was left */
    free(p);
    return rc;
}

static void expect_content(const char *path, const char *text)
{
    char found[64];
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    const size_t n = fread(found, 1, sizeof found, f);
    fclose(f);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(found, text, n);
}

static void put(const char *path, const char *text)
{
    assert_true(file_replace(path, text, strlen(text)));
}

static bool exists(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0;
}

static void a_file_is_made_and_replaced_whole(void **state)
{
    const struct place *p = *state;
    put(p->path, "a longer text");
    put(p->path, "short");
    expect_content(p->path, "short");
    put(p->path, "");
    expect_content(p->path, "");
    assert_false(exists(p->beside));
}

static void a_file_is_private_whatever_was_there(void **state)
{
    const struct place *p = *state;
    struct stat found;
    const mode_t before = umask(0);
    put(p->path, "x");
    assert_int_equal(chmod(p->path, 0666), 0);
    put(p->path, "y");
    umask(before);
    assert_int_equal(stat(p->path, &found), 0);
    assert_int_equal(found.st_mode & 07777, 0600);
}

static void leftovers_of_an_interrupted_replacement_are_no_obstacle(void **state)
{
    const struct place *p = *state;
    FILE *f = fopen(p->beside, "we");
    assert_non_null(f);
    fputs("half of a text that is longer", f);
    fclose(f);
    put(p->path, "whole");
    expect_content(p->path, "whole");
    assert_false(exists(p->beside));
}

static void a_missing_directory_is_an_error(void **state)
{
    (void)state;
    errno = 0;
    assert_false(file_replace("/nonexistent/f", "x", 1));
    assert_int_equal(errno, ENOENT);
    errno = 0;
    assert_false(file_sync_directory_of("/nonexistent/f"));
    assert_int_equal(errno, ENOENT);
}

static void a_file_is_no_directory(void **state)
{
    const struct place *p = *state;
    char below[96];
    put(p->path, "kept");
    snprintf(below, sizeof below, "%s/f", p->path);
    errno = 0;
    assert_false(file_replace(below, "x", 1));
    assert_int_equal(errno, ENOTDIR);
    expect_content(p->path, "kept");
}

/* A link beside the file must not lead the writer elsewhere. */
static void a_link_beside_the_file_is_not_followed(void **state)
{
    const struct place *p = *state;
    char other[80];
    snprintf(other, sizeof other, "%s/other", p->dir);
    put(other, "another's");
    put(p->path, "kept");
    assert_int_equal(symlink(other, p->beside), 0);
    errno = 0;
    assert_false(file_replace(p->path, "x", 1));
    assert_int_equal(errno, ELOOP);
    expect_content(other, "another's");
    expect_content(p->path, "kept");
    unlink(other);
}

/* A limit of a file's size stands for a full disk. `room`: bytes that still fit. */
static bool replace_within(const char *path, const char *text, rlim_t room, int *ret_errno)
{
    struct rlimit before, limit;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){room, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const bool replaced = file_replace(path, text, strlen(text));
    *ret_errno = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    return replaced;
}

static void a_full_disk_leaves_the_earlier_file_and_no_half_one(void **state)
{
    const struct place *p = *state;
    int error;
    put(p->path, "kept");
    assert_false(replace_within(p->path, "too long for it", 5, &error)); /* a part is written */
    assert_int_equal(error, ENOSPC);
    expect_content(p->path, "kept");
    assert_false(exists(p->beside));
    assert_false(replace_within(p->path, "too long for it", 0, &error));
    assert_int_equal(error, EFBIG);
    expect_content(p->path, "kept");
    assert_false(exists(p->beside));
}

static void a_failed_rename_leaves_no_second_file(void **state)
{
    const struct place *p = *state;
    assert_int_equal(mkdir(p->path, 0700), 0);
    errno = 0;
    assert_false(file_replace(p->path, "x", 1));
    assert_int_equal(errno, EISDIR);
    assert_false(exists(p->beside));
    rmdir(p->path);
}

static void a_file_of_root_goes_to_the_owner_of_the_directory(void **state)
{
    const struct place *p = *state;
    struct stat found;
    const bool root = geteuid() == 0;
    put(p->path, "x");
    const int fd = open(p->path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    if (root && chown(p->dir, 65534, 65534) < 0) { /* a namespace without that user */
        close(fd);
        skip();
    }
    assert_true(file_give_away(fd, p->path));
    assert_int_equal(fstat(fd, &found), 0);
    assert_int_equal(found.st_uid, root ? 65534 : geteuid());
    assert_int_equal(found.st_gid, root ? 65534 : getegid());
    close(fd);
    errno = 0;
    assert_int_equal(file_give_away(fd, p->path), !root); /* a closed file; another user gives nothing away */
    assert_int_equal(errno, root ? EBADF : 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_made_and_replaced_whole),
        TEST(a_file_is_private_whatever_was_there),
        TEST(leftovers_of_an_interrupted_replacement_are_no_obstacle),
        TEST(a_missing_directory_is_an_error),
        TEST(a_file_is_no_directory),
        TEST(a_link_beside_the_file_is_not_followed),
        TEST(a_full_disk_leaves_the_earlier_file_and_no_half_one),
        TEST(a_failed_rename_leaves_no_second_file),
        TEST(a_file_of_root_goes_to_the_owner_of_the_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
