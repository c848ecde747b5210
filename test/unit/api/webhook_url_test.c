/* URLs that receivers may have. Names are resolved here, by a getaddrinfo of our own: no test asks the network. */
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/webhook_url.h"

#define AT_ONCE 4 /* look-ups, at most */

/* ---- names ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool released;
static int hanging;

static void hang(void)
{
    pthread_mutex_lock(&lock);
    hanging++;
    pthread_cond_broadcast(&changed);
    while (!released)
        pthread_cond_wait(&changed, &lock);
    hanging--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* In libc's place, for all that is linked into this program. */
__attribute__((visibility("default"))) int getaddrinfo(const char *host, const char *service,
                                                       const struct addrinfo *hints, struct addrinfo **ret)
{
    static const struct {
        const char *name, *address;
    } known[] = {{"public.example", "93.184.216.34"}, {"private.example", "10.0.0.7"}, {"hang.example", "1.1.1.1"}};
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    struct addrinfo numeric = *hints;
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    numeric.ai_flags |= AI_NUMERICHOST;
    if (strcmp(host, "hang.example") == 0)
        hang();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(host, known[i].name) == 0)
            host = known[i].address;
    return real(host, service, &numeric, ret);
}

/* ---- checks ---- */

static enum err check(const char *url, bool allow_private, char *ret_why, size_t size)
{
    struct arena arena;
    struct config config = {.webhooks_allow_private = allow_private};
    arena_init(&arena, NULL, 0);
    struct op op = {.arena = &arena, .config = &config};
    enum err e = webhook_url_check(&op, str_z(url));
    snprintf(ret_why, size, "%.*s", STR_ARG(op.why));
    if (e == ERR_RATE_LIMIT_EXCEEDED)
        assert_true(op.retry_after_s > 0);
    arena_done(&arena);
    return e;
}

static void expect(const char *url, bool allow_private, const char *why)
{
    char got[200];
    enum err e = check(url, allow_private, got, sizeof got);
    if (e != (why ? ERR_INVALID_WEBHOOK_URL : ERR_NONE) || !strstr(got, why ? why : ""))
        fail_msg("%s: %s %s", url, err_info(e)->code, got);
}

static void public_https_urls_are_taken(void **state)
{
    static const char *const urls[] = {
        "https://public.example",
        "https://public.example/a/b?c=d&e=%20",
        "HTTPS://PUBLIC.EXAMPLE:65535/",
        "https://public.example?x",
        "https://93.184.216.34:8443/",
        "https://[2606:4700:4700::1111]/",
        "https://public.example/%00%ff%2F?q=%25%7e",
    };
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        expect(urls[i], false, NULL);
        expect(urls[i], true, NULL);
    }
}

static void the_form_is_checked_before_a_name_is_looked_up(void **state)
{
    static const struct {
        const char *url, *why;
    } cases[] = {
        {"", "https://"},
        {"http://public.example/", "https://"},
        {"https:/public.example/", "https://"},
        {"https:///public.example/", "https://"},
        {"https://", "valid"},
        {"https://?x", "valid"},
        {"https://:443/", "valid"},
        {"https://public.example:0/", "valid"},
        {"https://public.example:65536/", "valid"},
        {"https://[::1/", "valid"},
        {"https://user@hang.example/", "user"},
        {"https://user:word@hang.example/", "user"},
        {"https://@hang.example/", "user"},
        {"https://hang.example/#", "fragment"},
        {"https://hang.example/a#b", "fragment"},
        {"https://hang.example/a b", "ASCII"},
        {"https://hang.example/\t", "ASCII"},
        {"https://hang.example\\@public.example/", "ASCII"},
        {"https://b\xc3\xbc"
         "cher.example/",
         "ASCII"},
        {"https://[fe80::1%25lo]/", "zone"},
        {"https://hang.example/%zz", "valid"},
        {"https://hang.example/%", "valid"},
        {"https://hang.example/a%2", "valid"},
        {"https://hang.example/%2/b", "valid"},
        {"https://hang.example/%%20", "valid"},
        {"https://hang.example/?q=%g0", "valid"},
        {"https://hang.example?%u00e9", "valid"},
        {"https://hang%zz.example/", "valid"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].url, true, cases[i].why);
}

static void names_and_addresses_must_be_public_unless_private_ones_are_allowed(void **state)
{
    static const char *const urls[] = {"https://private.example/", "https://127.0.0.1/", "https://127.1/",
                                       "https://0x7f000001/", "https://[::ffff:10.0.0.1]/"};
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        expect(urls[i], false, "public");
        expect(urls[i], true, NULL);
    }
}

static void an_unknown_name_is_refused_in_any_case(void **state)
{
    (void)state;
    expect("https://unknown.example/", false, "not found");
    expect("https://unknown.example/", true, "not found");
}

static void *check_hanging(void *arg)
{
    char why[200];
    *(enum err *)arg = check("https://hang.example/", false, why, sizeof why);
    return NULL;
}

static void names_that_hang_hold_up_only_so_many(void **state)
{
    pthread_t threads[AT_ONCE];
    enum err results[AT_ONCE];
    char why[200];
    (void)state;
    for (int i = 0; i < AT_ONCE; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, check_hanging, &results[i]), 0);
    pthread_mutex_lock(&lock);
    while (hanging < AT_ONCE)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    assert_int_equal(check("https://public.example/", false, why, sizeof why), ERR_RATE_LIMIT_EXCEEDED);
    assert_int_equal(check("https://93.184.216.34/", false, why, sizeof why), ERR_NONE); /* needs no look-up */
    for (int i = 0; i < AT_ONCE; i++) { /* they are given up, though nobody answered */
        pthread_join(threads[i], NULL);
        assert_int_equal(results[i], ERR_INVALID_WEBHOOK_URL);
    }
    assert_int_equal(check("https://public.example/", false, why, sizeof why), ERR_NONE);
    pthread_mutex_lock(&lock);
    released = true;
    pthread_cond_broadcast(&changed);
    while (hanging > 0)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_https_urls_are_taken),
        cmocka_unit_test(the_form_is_checked_before_a_name_is_looked_up),
        cmocka_unit_test(names_and_addresses_must_be_public_unless_private_ones_are_allowed),
        cmocka_unit_test(an_unknown_name_is_refused_in_any_case),
        cmocka_unit_test(names_that_hang_hold_up_only_so_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
