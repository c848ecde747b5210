/* HTTP requests to receivers of the test on loopback. */
#include "net/receiver.h"

#include "net/client.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct desk {
    pthread_mutex_t lock; /* protects the rest, shared by the receiver's threads and the test */
    struct net_client *client;
    struct receiver *receiver;
    struct arena arena;
    struct str script;        /* the receiver's answer */
    bool close_after;         /* closes each connection after the answer */
    bool hang_up_on_second;   /* closes after a connection's second request, without an answer */
    char heard[RECEIVED_MAX]; /* the last request */
    struct net_answer answer;
};

static bool answer(struct received *q, void *context)
{
    struct desk *d = context;
    pthread_mutex_lock(&d->lock);
    memcpy(d->heard, q->text, q->n + 1);
    bool hang_up = d->hang_up_on_second && q->on_connection > 1, close_after = d->close_after;
    struct str script = d->script;
    pthread_mutex_unlock(&d->lock);
    return !hang_up && received_say(q, script) && !close_after;
}

static void say(struct desk *d, struct str script)
{
    pthread_mutex_lock(&d->lock);
    d->script = script;
    pthread_mutex_unlock(&d->lock);
}

static int open_desk(void **state)
{
    struct desk *d = calloc(1, sizeof *d);
    if (!d || net_client_new(&d->client))
        return -1;
    pthread_mutex_init(&d->lock, NULL);
    arena_init(&d->arena, NULL, 0);
    d->script = STR("HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}");
    d->receiver = receiver_open(false, answer, d);
    *state = d;
    return 0;
}

static int close_desk(void **state)
{
    struct desk *d = *state;
    net_client_free(d->client);
    receiver_close(d->receiver);
    arena_done(&d->arena);
    pthread_mutex_destroy(&d->lock);
    free(d);
    return 0;
}

static struct net_call call_of(struct desk *d, const char *method, const char *path)
{
    return (struct net_call){.method = method,
                             .url = arena_printf(&d->arena, "%s%s", d->receiver->url, path),
                             .timeout_ms = 30000,
                             .answer_max = 1000};
}

static enum net_exchange make(struct desk *d, const struct net_call *call)
{
    d->answer = (struct net_answer){0};
    return net_client_call(d->client, call, &d->arena, &d->answer);
}

static enum net_exchange get(struct desk *d)
{
    struct net_call call = call_of(d, "GET", "/");
    return make(d, &call);
}

static void heard(const struct desk *d, const char *text)
{
    if (!strstr(d->heard, text))
        fail_msg("the receiver did not hear %s but\n%s", text, d->heard);
}

static void not_heard(const struct desk *d, const char *text)
{
    if (strcasestr(d->heard, text))
        fail_msg("the receiver heard %s in\n%s", text, d->heard);
}

static void test_an_answer_has_status_type_and_body(void **state)
{
    struct desk *d = *state;
    say(d, STR("HTTP/1.1 404 Not Found\r\nContent-Type: text/plain ; a=b\r\nContent-Length: 4\r\n\r\nnone"));
    assert_int_equal(get(d), NET_ANSWERED);
    assert_int_equal(d->answer.status, 404);
    assert_string_equal(d->answer.body.p, "none");
    assert_true(str_eq(d->answer.type, STR("text/plain")));
}

static void test_an_answer_without_a_body_has_no_type(void **state)
{
    struct desk *d = *state;
    say(d, STR("HTTP/1.1 204 No Content\r\n\r\n"));
    assert_int_equal(get(d), NET_ANSWERED);
    assert_int_equal(d->answer.status, 204);
    assert_int_equal(d->answer.body.n, 0);
    assert_null(d->answer.type.p);
}

static void test_a_request_is_sent_as_given(void **state)
{
    struct desk *d = *state;
    const struct net_header headers[] = {{"Content-Type", STR("application/x-www-form-urlencoded")},
                                         {"Idempotency-Key", STR("abc")},
                                         {"X-Empty", STR("")}};
    struct net_call call = call_of(d, "POST", "/v1/things?a=%20b");
    call.headers = headers;
    call.header_count = COUNT(headers);
    call.user = STR("us:er");
    call.body = str_n("a=1\0b", 5);
    assert_int_equal(make(d, &call), NET_ANSWERED);
    heard(d, "POST /v1/things?a=%20b HTTP/1.1\r\n");
    heard(d, "\r\nContent-Type: application/x-www-form-urlencoded\r\n");
    heard(d, "\r\nIdempotency-Key: abc\r\n");
    heard(d, "\r\nX-Empty:\r\n");
    heard(d, "\r\nContent-Length: 5\r\n");
    heard(d, "\r\nUser-Agent: Portero/" PORTERO_VERSION "\r\n");
    heard(d, "\r\nAuthorization: Basic dXM6ZXI6\r\n");
    assert_memory_equal(strstr(d->heard, "\r\n\r\n") + 4, "a=1\0b", 5);
}

static void test_no_unrequested_header_is_added(void **state)
{
    struct desk *d = *state;
    char *large = arena_alloc(&d->arena, 20000);
    memset(large, 'x', 20000);
    struct net_call call = call_of(d, "POST", "/");
    call.body = str_n(large, 20000);
    say(d, STR("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"));
    assert_int_equal(make(d, &call), NET_ANSWERED);
    assert_int_equal(make(d, &call), NET_ANSWERED);
    not_heard(d, "\r\nExpect:");
    not_heard(d, "\r\nContent-Type:");
    not_heard(d, "\r\nCookie:");
    not_heard(d, "\r\nAuthorization:");
    not_heard(d, "\r\nAccept-Encoding:");
}

static void test_methods(void **state)
{
    struct desk *d = *state;
    const struct {
        const char *method, *line;
    } cases[] = {{"GET", "GET / HTTP/1.1\r\n"},   {"HEAD", "HEAD / HTTP/1.1\r\n"},
                 {"POST", "POST / HTTP/1.1\r\n"}, {"DELETE", "DELETE / HTTP/1.1\r\n"},
                 {"PUT", "PUT / HTTP/1.1\r\n"},   {"PATCH", "PATCH / HTTP/1.1\r\n"}};
    say(d, STR("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"));
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct net_call call = call_of(d, cases[i].method, "/");
        assert_int_equal(make(d, &call), NET_ANSWERED);
        assert_int_equal(strncmp(d->heard, cases[i].line, strlen(cases[i].line)), 0);
    }
}

static void test_connections_are_kept(void **state)
{
    struct desk *d = *state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(get(d), NET_ANSWERED);
    assert_int_equal(d->receiver->requests, 5);
    assert_int_equal(d->receiver->connections, 1);
}

/* WEBHOOK-21 */
static void test_a_redirect_is_not_followed(void **state)
{
    struct desk *d = *state;
    say(d, STR("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"));
    assert_int_equal(get(d), NET_ANSWERED);
    assert_int_equal(d->answer.status, 302);
    assert_int_equal(d->receiver->requests, 1);
}

static void test_a_proxy_of_the_environment_is_not_used(void **state)
{
    struct desk *d = *state;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    assert_int_equal(get(d), NET_ANSWERED);
    unsetenv("http_proxy");
}

static void test_a_body_over_the_limit_is_refused(void **state)
{
    struct desk *d = *state;
    char script[2000];
    memset(script, 'x', sizeof script);
    for (int more = 0; more < 2; more++) {
        int n = snprintf(script, sizeof script, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", 1000 + more);
        script[n] = 'x';
        say(d, arena_str(&d->arena, str_n(script, (size_t)(n + 1000 + more))));
        assert_int_equal(get(d), more ? NET_UNKNOWN : NET_ANSWERED);
        assert_int_equal(d->answer.body.n, more ? 0 : 1000);
    }
}

static void test_endless_header_fields_are_cut_off(void **state)
{
    struct desk *d = *state;
    struct buf script = BUF(1 << 20);
    buf_lit(&script, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 10000; i++)
        buf_lit(&script, "X-Filler: xxxxxxxxxxxxxxxx\r\n");
    buf_lit(&script, "Content-Length: 0\r\n\r\n");
    say(d, arena_str(&d->arena, buf_view(&script)));
    assert_int_equal(get(d), NET_UNKNOWN);
    buf_done(&script);
}

static void test_an_incomplete_answer_leaves_the_outcome_unknown(void **state)
{
    static const char *const scripts[] = {"", "HTTP/1.1 200", "220 mail.example.com ESMTP\r\n",
                                          "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
                                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"};
    struct desk *d = *state;
    d->close_after = true;
    for (size_t i = 0; i < COUNT(scripts); i++) {
        say(d, str_z(scripts[i]));
        assert_int_equal(get(d), NET_UNKNOWN);
    }
}

static void test_a_time_out_leaves_the_outcome_unknown(void **state)
{
    struct desk *d = *state;
    struct net_call call = call_of(d, "GET", "/");
    say(d, STR("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"));
    call.timeout_ms = 1000;
    assert_int_equal(make(d, &call), NET_UNKNOWN);
}

static void test_a_request_to_an_unreachable_host_was_not_sent(void **state)
{
    static const char *const urls[] = {"http://127.0.0.1:1/",
                                       "http://no-such-host.invalid/",
                                       "ftp://127.0.0.1/",
                                       "file:///etc/hostname",
                                       "127.0.0.1:",
                                       "",
                                       "http://127.0.0.1/\r\nX: y"};
    struct desk *d = *state;
    struct net_call call = call_of(d, "GET", "/");
    for (size_t i = 0; i < COUNT(urls); i++) {
        call.url = str_z(urls[i]);
        assert_int_equal(make(d, &call), NET_NOT_SENT);
    }
}

static void test_a_header_cannot_be_smuggled_in(void **state)
{
    struct desk *d = *state;
    const struct net_header header = {"X-Name", STR("a\r\nX-Other: b")};
    struct net_call call = call_of(d, "GET", "/");
    call.headers = &header;
    call.header_count = 1;
    assert_int_equal(make(d, &call), NET_NOT_SENT);
    assert_int_equal(d->receiver->connections, 0);
}

static void test_an_untrusted_certificate_is_refused_before_sending(void **state)
{
    struct desk *d = *state;
    struct receiver *tls = receiver_open(true, answer, d);
    struct net_call call = call_of(d, "GET", "/");
    call.url = str_z(tls->url);
    assert_int_equal(make(d, &call), NET_NOT_SENT);
    assert_int_equal(tls->requests, 0);
    receiver_close(tls);
}

static void test_a_lost_post_is_never_sent_again(void **state)
{
    struct desk *d = *state;
    struct net_call call = call_of(d, "POST", "/");
    d->hang_up_on_second = true;
    assert_int_equal(make(d, &call), NET_ANSWERED);
    assert_int_equal(make(d, &call), NET_UNKNOWN);
    assert_int_equal(d->receiver->requests, 2);
}

static void test_a_lost_post_with_an_idempotency_key_is_sent_again(void **state)
{
    struct desk *d = *state;
    struct net_call call = call_of(d, "POST", "/");
    call.repeatable = true;
    d->hang_up_on_second = true;
    assert_int_equal(make(d, &call), NET_ANSWERED);
    assert_int_equal(make(d, &call), NET_ANSWERED);
    assert_int_equal(d->receiver->requests, 3);
}

/* WEBHOOK-23 */
static void test_a_post_does_not_use_a_connection_that_was_idle_for_long(void **state)
{
    struct desk *d = *state;
    struct net_call call = call_of(d, "POST", "/");
    assert_int_equal(make(d, &call), NET_ANSWERED);
    sleep(4); /* libcurl counts whole seconds */
    assert_int_equal(get(d), NET_ANSWERED);
    assert_int_equal(d->receiver->connections, 1);
    sleep(4);
    assert_int_equal(make(d, &call), NET_ANSWERED);
    assert_int_equal(d->receiver->connections, 2);
}

static void test_a_lost_get_is_sent_again(void **state)
{
    struct desk *d = *state;
    d->hang_up_on_second = true;
    assert_int_equal(get(d), NET_ANSWERED);
    assert_int_equal(get(d), NET_ANSWERED);
    assert_int_equal(d->receiver->requests, 3);
}

static void *many(void *arg)
{
    struct desk *d = arg;
    struct arena a;
    arena_init(&a, NULL, 0);
    uintptr_t answered = 0;
    struct net_call call = {.method = "GET", .url = str_z(d->receiver->url), .timeout_ms = 30000, .answer_max = 100};
    for (int i = 0; i < 20; i++) {
        struct net_answer got;
        answered += net_client_call(d->client, &call, &a, &got) == NET_ANSWERED && got.status == 200;
    }
    arena_done(&a);
    return (void *)answered; /* NOLINT(performance-no-int-to-ptr) */
}

static bool accept_it(struct received *q, void *context)
{
    (void)context;
    return received_accept(q);
}

static void test_many_threads_share_a_client(void **state)
{
    struct desk *d = *state;
    pthread_t threads[12];
    d->receiver->answer = accept_it;
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, many, d), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *answered;
        pthread_join(threads[i], &answered);
        assert_int_equal((uintptr_t)answered, 20);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_desk, close_desk)
    const struct CMUnitTest tests[] = {
        TEST(test_an_answer_has_status_type_and_body),
        TEST(test_an_answer_without_a_body_has_no_type),
        TEST(test_a_request_is_sent_as_given),
        TEST(test_no_unrequested_header_is_added),
        TEST(test_methods),
        TEST(test_connections_are_kept),
        TEST(test_a_redirect_is_not_followed),
        TEST(test_a_proxy_of_the_environment_is_not_used),
        TEST(test_a_body_over_the_limit_is_refused),
        TEST(test_endless_header_fields_are_cut_off),
        TEST(test_an_incomplete_answer_leaves_the_outcome_unknown),
        TEST(test_a_time_out_leaves_the_outcome_unknown),
        TEST(test_a_request_to_an_unreachable_host_was_not_sent),
        TEST(test_a_header_cannot_be_smuggled_in),
        TEST(test_an_untrusted_certificate_is_refused_before_sending),
        TEST(test_a_lost_post_is_never_sent_again),
        TEST(test_a_lost_post_with_an_idempotency_key_is_sent_again),
        TEST(test_a_post_does_not_use_a_connection_that_was_idle_for_long),
        TEST(test_a_lost_get_is_sent_again),
        TEST(test_many_threads_share_a_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
