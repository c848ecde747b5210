/* Look-ups of names. They are resolved by a getaddrinfo of this file: no test uses the network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lookup.h"

#define SHORT_US     20000
#define LONG_US      (20 * US_PER_S)
#define MANY         200
#define RUNNING_MOST 64 /* of lookup.c */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t answers;
    bool silent;
    int asked, answered;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER, .answers = PTHREAD_COND_INITIALIZER};

/* The program's own definition comes before libc's. A silent name server holds up the look-ups of names. */
__attribute__((visibility("default"))) int getaddrinfo(const char *host, const char *service,
                                                       const struct addrinfo *hints, struct addrinfo **ret)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (strcmp(host, "nobody.example") == 0)
        return EAI_NONAME;
    pthread_mutex_lock(&server.lock);
    server.asked++;
    while (server.silent)
        pthread_cond_wait(&server.answers, &server.lock);
    server.answered++;
    pthread_mutex_unlock(&server.lock);
    return real("192.0.2.1", service, hints, ret);
}

static void set_silent(bool silent)
{
    pthread_mutex_lock(&server.lock);
    server.silent = silent;
    pthread_cond_broadcast(&server.answers);
    pthread_mutex_unlock(&server.lock);
}

static int asked(void)
{
    pthread_mutex_lock(&server.lock);
    int n = server.asked;
    pthread_mutex_unlock(&server.lock);
    return n;
}

/* Lets the look-ups that nobody waits for end. */
static int answer_all(void **state)
{
    (void)state;
    set_silent(false);
    for (int i = 0, open = 1; open && i < 10000; i++) {
        usleep(1000);
        pthread_mutex_lock(&server.lock);
        open = server.asked - server.answered;
        pthread_mutex_unlock(&server.lock);
    }
    return 0;
}

static void a_name_has_its_addresses(void **state)
{
    (void)state;
    struct addrinfo *list = NULL;
    assert_int_equal(lookup_end(lookup_begin("db.example"), clock_monotonic_us() + LONG_US, &list), 0);
    assert_int_equal(list->ai_family, AF_INET);
    assert_int_equal(((struct sockaddr_in *)list->ai_addr)->sin_addr.s_addr, inet_addr("192.0.2.1"));
    freeaddrinfo(list);
}

static void an_unknown_name_is_an_error(void **state)
{
    (void)state;
    struct addrinfo *list = NULL;
    assert_int_equal(lookup_end(lookup_begin("nobody.example"), clock_monotonic_us() + LONG_US, &list), EAI_NONAME);
    assert_null(list);
}

static void a_silent_name_server_is_not_waited_for(void **state)
{
    (void)state;
    struct addrinfo *list = NULL;
    set_silent(true);
    assert_int_equal(lookup_end(lookup_begin("db.example"), clock_monotonic_us() + SHORT_US, &list), EAI_AGAIN);
    assert_null(list);
}

static void look_ups_that_do_not_end_are_bounded(void **state)
{
    (void)state;
    struct addrinfo *list = NULL;
    const int before = asked();
    set_silent(true);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(lookup_end(lookup_begin("db.example"), clock_monotonic_us(), &list), EAI_AGAIN);
    assert_null(lookup_begin("db.example"));
    for (int ms = 0; ms < 10000 && asked() - before < RUNNING_MOST; ms++)
        usleep(1000); /* until the last thread has asked */
    answer_all(NULL);
    assert_int_equal(asked() - before, RUNNING_MOST);
    a_name_has_its_addresses(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_its_addresses),
        cmocka_unit_test(an_unknown_name_is_an_error),
        cmocka_unit_test_teardown(a_silent_name_server_is_not_waited_for, answer_all),
        cmocka_unit_test_teardown(look_ups_that_do_not_end_are_bounded, answer_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
