/* The journal of error responses: lookup, retention and limits. */
#include "api/journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/unit.h"
#include "base/clock.h"

static char directory[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/portero-journal-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        (void)unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    return rmdir(directory);
}

static struct journal *open_journal(void)
{
    struct journal *j;
    assert_int_equal(journal_new(directory, 4, &j), ERR_NONE);
    return j;
}

static struct journal_record record(unsigned number, const char *peer)
{
    struct journal_record r = {.at_us = clock_real_us(), .duration_us = 812, .status = 404};
    snprintf(r.request_id, sizeof r.request_id, "req_%024x", number);
    strcpy(r.method, "GET");
    strcpy(r.code, "NOT_FOUND");
    strcpy(r.path, "/v1/unlock/{id}");
    strcpy(r.account_id, "6b018cd9ebfda18ab3000004");
    strcpy(r.message, "There is \"none\"\n\xc3\xa9.");
    snprintf(r.peer, sizeof r.peer, "%s", peer);
    return r;
}

static void journal_note(struct journal *j, unsigned loop, const struct journal_record *r)
{
    struct journal_record *to = journal_reserve(j, loop, r->peer);
    if (!to)
        return;
    *to = *r;
    journal_publish(j, loop);
}

static enum err find(struct journal *j, unsigned number, struct journal_record *ret)
{
    char id[32];
    snprintf(id, sizeof id, "req_%024x", number);
    return journal_find(j, str_z(id), ret);
}

static void an_error_is_found_by_its_request_id(void **state)
{
    (void)state;
    struct journal *j = open_journal();
    struct journal_record r = record(1, "192.0.2.1"), got;
    journal_note(j, 0, &r);
    r = record(2, "192.0.2.1");
    journal_note(j, 3, &r); /* another thread's ring */
    assert_int_equal(find(j, 1, &got), ERR_NONE);
    assert_int_equal(find(j, 2, &got), ERR_NONE);
    assert_memory_equal(&got, &r, sizeof r);
    assert_int_equal(find(j, 3, &got), ERR_NOT_FOUND);
    journal_free(j);
}

static void records_survive_a_restart(void **state)
{
    (void)state;
    struct journal *j = open_journal();
    struct journal_record r = record(1, "192.0.2.1"), got;
    journal_note(j, 0, &r);
    journal_free(j);
    j = open_journal();
    assert_int_equal(find(j, 1, &got), ERR_NONE);
    assert_memory_equal(&got, &r, sizeof r);
    journal_free(j);
}

static void a_record_past_its_retention_is_not_found(void **state)
{
    (void)state;
    struct journal *j = open_journal();
    struct journal_record old = record(1, "192.0.2.1"), young = record(2, "192.0.2.1"), got;
    old.at_us -= (4 * 3600 + 1) * US_PER_S;
    young.at_us -= (4 * 3600 - 60) * US_PER_S;
    journal_note(j, 0, &old);
    journal_note(j, 0, &young);
    assert_int_equal(find(j, 1, &got), ERR_NOT_FOUND);
    assert_int_equal(find(j, 2, &got), ERR_NONE);
    journal_free(j);
}

/* Each start whose first record is that old begins a new file. After five of them, the first file is removed. */
/* SERVICE-25 */
static void files_are_removed_after_their_retention(void **state)
{
    (void)state;
    struct journal_record got;
    for (unsigned i = 1; i <= 6; i++) {
        struct journal *j = open_journal();
        struct journal_record r = record(i, "192.0.2.1");
        r.at_us -= (3600 + 1) * US_PER_S;
        journal_note(j, 0, &r);
        journal_free(j);
    }
    struct journal *j = open_journal();
    assert_int_equal(find(j, 1, &got), ERR_NOT_FOUND);
    assert_int_equal(find(j, 6, &got), ERR_NONE);
    journal_free(j);
}

/* SERVICE-25 */
static void one_peer_does_not_displace_the_others(void **state)
{
    (void)state;
    struct journal *j = open_journal();
    struct journal_record r, got;
    unsigned kept = 0;
    for (unsigned i = 0; i < 200; i++) {
        r = record(i, "192.0.2.66");
        journal_note(j, 0, &r);
    }
    r = record(1000, "192.0.2.1");
    journal_note(j, 0, &r);
    assert_int_equal(find(j, 1000, &got), ERR_NONE);
    for (unsigned i = 0; i < 200; i++)
        kept += find(j, i, &got) == ERR_NONE;
    assert_in_range(kept, 60, 120); /* another minute may have begun */
    journal_free(j);
}

struct noter {
    struct journal *journal;
    unsigned loop;
};

/* A thousand peers with one record each: more than a ring can hold. */
static void *note_many(void *arg)
{
    const struct noter *n = arg;
    for (unsigned i = 0; i < 1000; i++) {
        char peer[32];
        snprintf(peer, sizeof peer, "2001:db8:%x:%x::1", n->loop, i);
        struct journal_record r = record((n->loop << 16) + i, peer);
        journal_note(n->journal, n->loop, &r);
        if (i % 100 == 99)
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return NULL;
}

/* Notes a record until it is found: a ring that is still full drops it. */
static void assert_added(struct journal *j, unsigned loop, unsigned number)
{
    struct journal_record r = record(number, "192.0.2.1"), got;
    for (int i = 0; i < 600; i++) {
        journal_note(j, loop, &r);
        if (find(j, number, &got) == ERR_NONE)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    fail_msg("record %u was never kept", number);
}

static void records_are_added_during_lookups(void **state)
{
    (void)state;
    struct journal *j = open_journal();
    struct noter noters[3];
    pthread_t threads[3];
    struct journal_record got;
    for (unsigned i = 0; i < COUNT(threads); i++) {
        noters[i] = (struct noter){j, i};
        assert_int_equal(pthread_create(&threads[i], NULL, note_many, &noters[i]), 0);
    }
    for (unsigned i = 0; i < 20; i++)
        (void)find(j, i, &got);
    for (unsigned i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < COUNT(threads); i++)
        assert_added(j, i, (i << 16) + 1000);
    journal_free(j);
}

static void files_are_private_and_malformed_lines_are_skipped(void **state)
{
    (void)state;
    char path[100];
    struct stat found;
    struct journal_record r = record(1, "192.0.2.1"), got;
    snprintf(path, sizeof path, "%s/requests.0.jsonl", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"request_id\":\"req_000000000000000000000001\"\nnothing\n[]\n", file);
    fclose(file);
    struct journal *j = open_journal();
    assert_int_equal(find(j, 1, &got), ERR_NOT_FOUND);
    journal_note(j, 0, &r);
    assert_int_equal(find(j, 1, &got), ERR_NONE);
    journal_free(j);
    unlink(path);
    j = open_journal();
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    journal_free(j);
}

static void a_directory_that_cannot_be_created_is_an_error(void **state)
{
    (void)state;
    struct journal *j;
    assert_int_equal(journal_new("/nonexistent/requests", 4, &j), ERR_IO);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(an_error_is_found_by_its_request_id),
        T(records_survive_a_restart),
        T(a_record_past_its_retention_is_not_found),
        T(files_are_removed_after_their_retention),
        T(one_peer_does_not_displace_the_others),
        T(records_are_added_during_lookups),
        T(files_are_private_and_malformed_lines_are_skipped),
        T(a_directory_that_cannot_be_created_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
