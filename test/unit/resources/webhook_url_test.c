/* Valid and invalid webhook URLs. Names are resolved by a getaddrinfo of this file: no test uses the network. */
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

#include "resources/webhook_url.h"

#define SAME    4 /* lookups of one host, at most */
#define ACCOUNT 2 /* of one account */

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

/* Replaces libc's function in this program. */
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

static enum err check_as(int account, const char *url, bool allow_private, char *ret_why, size_t size)
{
    struct http_request http = {.peer.address = "192.0.2.1"};
    struct arena arena;
    struct config config = {.webhooks_allow_private = allow_private};
    arena_init(&arena, NULL, 0);
    struct request q = {.http = &http, .tx = {.arena = &arena, .config = &config}};
    snprintf(q.who.account_id.text, sizeof q.who.account_id.text, "%024x", (unsigned)account);
    enum err e = webhook_url_check(&q, str_z(url));
    snprintf(ret_why, size, "%.*s", STR_ARG(q.tx.why));
    if (e == ERR_RATE_LIMIT_EXCEEDED)
        assert_true(q.tx.retry_after_s > 0);
    arena_done(&arena);
    return e;
}

static void expect(const char *url, bool allow_private, const char *why)
{
    char got[200];
    enum err e = check_as(1, url, allow_private, got, sizeof got);
    if (e != (why ? ERR_INVALID_WEBHOOK_URL : ERR_NONE) || !strstr(got, why ? why : ""))
        fail_msg("%s: %s %s", url, err_info(e)->code, got);
}

static void public_https_urls_are_accepted(void **state)
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

/* WEBHOOK-4 */
static void the_syntax_is_checked_before_the_lookup(void **state)
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

/* WEBHOOK-4, WEBHOOK-5 */
static void hosts_must_be_public_unless_private_ones_are_allowed(void **state)
{
    static const char *const urls[] = {"https://private.example/", "https://127.0.0.1/", "https://127.1/",
                                       "https://0x7f000001/", "https://[::ffff:10.0.0.1]/"};
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        expect(urls[i], false, "public");
        expect(urls[i], true, NULL);
    }
}

static void an_unknown_name_is_always_refused(void **state)
{
    (void)state;
    expect("https://unknown.example/", false, "not found");
    expect("https://unknown.example/", true, "not found");
}

struct hanging_check {
    pthread_t thread;
    int account;
    enum err result;
};

static void *check_hanging(void *arg)
{
    struct hanging_check *c = arg;
    char why[200];
    c->result = check_as(c->account, "https://hang.example/", false, why, sizeof why);
    return NULL;
}

/* Starts `count` lookups that hang, with ACCOUNT accounts each, counted from the first. */
static void begin_hanging(struct hanging_check *checks, int count)
{
    for (int i = 0; i < count; i++) {
        checks[i].account = 1 + i / ACCOUNT;
        assert_int_equal(pthread_create(&checks[i].thread, NULL, check_hanging, &checks[i]), 0);
    }
    pthread_mutex_lock(&lock);
    while (hanging < count)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* The lookups are abandoned without an answer. */
static void end_hanging(struct hanging_check *checks, int count)
{
    for (int i = 0; i < count; i++) {
        pthread_join(checks[i].thread, NULL);
        assert_int_equal(checks[i].result, ERR_INVALID_WEBHOOK_URL);
    }
    pthread_mutex_lock(&lock);
    released = true;
    pthread_cond_broadcast(&changed);
    while (hanging > 0)
        pthread_cond_wait(&changed, &lock);
    released = false;
    pthread_mutex_unlock(&lock);
}

/* WEBHOOK-7 */
static void hanging_lookups_block_only_their_account(void **state)
{
    struct hanging_check checks[ACCOUNT];
    char why[200];
    (void)state;
    begin_hanging(checks, ACCOUNT);
    assert_int_equal(check_as(1, "https://public.example/", false, why, sizeof why), ERR_RATE_LIMIT_EXCEEDED);
    assert_int_equal(check_as(1, "https://93.184.216.34/", false, why, sizeof why), ERR_NONE); /* needs no lookup */
    assert_int_equal(check_as(2, "https://public.example/", false, why, sizeof why), ERR_NONE);
    end_hanging(checks, ACCOUNT);
    assert_int_equal(check_as(1, "https://public.example/", false, why, sizeof why), ERR_NONE);
}

/* WEBHOOK-7 */
static void hanging_lookups_of_an_address_are_limited_whatever_its_accounts(void **state)
{
    struct hanging_check checks[SAME];
    char why[200];
    (void)state;
    begin_hanging(checks, SAME);
    assert_int_equal(check_as(SAME, "https://public.example/", false, why, sizeof why), ERR_RATE_LIMIT_EXCEEDED);
    end_hanging(checks, SAME);
    assert_int_equal(check_as(SAME, "https://public.example/", false, why, sizeof why), ERR_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_https_urls_are_accepted),
        cmocka_unit_test(the_syntax_is_checked_before_the_lookup),
        cmocka_unit_test(hosts_must_be_public_unless_private_ones_are_allowed),
        cmocka_unit_test(an_unknown_name_is_always_refused),
        cmocka_unit_test(hanging_lookups_block_only_their_account),
        cmocka_unit_test(hanging_lookups_of_an_address_are_limited_whatever_its_accounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
