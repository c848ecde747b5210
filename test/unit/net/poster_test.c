/* Many concurrent requests to receivers of the test, in TLS. The results of answers are tested with the delivery engine
 * (jobs/delivery_test.c). */
#include "net/receiver.h"

#include <sys/eventfd.h>

#include "net/poster.h"
#include "net/tls.h"

#define POSTS 100

struct desk {
    struct net_poster *poster;
    struct receiver *receiver;
    int wake_fd;
    atomic_bool hangs, closes_kept;
    unsigned done, answered;
    struct str reply; /* STR_NONE: 200 */
    int keys;         /* new keys before each part of the reply; below 0: for ever */
};

/* Sends new TLS keys, which are records without data. */
static bool send_keys(struct received *q, int count)
{
    for (int i = 0; i != count; i++)
        if (SSL_key_update(q->ssl, SSL_KEY_UPDATE_NOT_REQUESTED) != 1 || SSL_do_handshake(q->ssl) != 1)
            return false;
    return true;
}

static bool answer(struct received *q, void *context)
{
    struct desk *d = context;
    if (d->keys)
        return send_keys(q, d->keys) && received_say(q, STR("HTTP/1.1 200 OK\r\n")) && send_keys(q, d->keys) &&
               received_say(q, STR("Content-Length: 0\r\n\r\n"));
    if (d->reply.p)
        return received_say(q, d->reply);
    if (d->hangs)
        received_hang(q);
    if (d->closes_kept && q->on_connection > 1)
        return false;
    return !d->hangs && received_accept(q);
}

static int open_desk(void **state)
{
    const struct net_poster_options options = {.allow_private = true, .timeout_ms = 60000, .connections_kept = 100};
    struct desk *d = calloc(1, sizeof *d);
    if (!d)
        return -1;
    d->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    d->receiver = receiver_open(true, answer, d);
    *state = d;
    return net_poster_new(&options, d->wake_fd, &d->poster) ? -1 : 0;
}

static int close_desk(void **state)
{
    struct desk *d = *state;
    net_poster_free(d->poster);
    receiver_close(d->receiver);
    close(d->wake_fd);
    free(d);
    return 0;
}

static void on_done(struct net_post *p)
{
    struct desk *d = p->context;
    d->done++;
    d->answered += p->status == 200;
}

static struct net_post post_of(struct desk *d)
{
    return (struct net_post){
        .url = d->receiver->url, .body = STR("{}"), .headers = {"X-Test: yes"}, .done = on_done, .context = d};
}

static void wait_until_done(struct desk *d, unsigned count)
{
    while (d->done < count)
        (void)net_poster_wait(d->poster, 1000);
}

static void test_many_requests_run_at_once(void **state)
{
    struct desk *d = *state;
    struct net_post posts[POSTS];
    for (int i = 0; i < POSTS; i++) {
        posts[i] = post_of(d);
        assert_int_equal(net_poster_start(d->poster, &posts[i]), ERR_NONE);
    }
    wait_until_done(d, POSTS);
    assert_int_equal(d->answered, POSTS);
    assert_int_equal(d->receiver->requests, POSTS);
}

static void test_sequential_requests_use_the_same_connection(void **state)
{
    struct desk *d = *state;
    for (unsigned i = 0; i < POSTS; i++) {
        struct net_post post = post_of(d);
        assert_int_equal(net_poster_start(d->poster, &post), ERR_NONE);
        wait_until_done(d, i + 1);
    }
    assert_int_equal(d->answered, POSTS);
    assert_in_range(d->receiver->connections, 1, POSTS / 4); /* a pause of the machine causes a new connection */
}

static void test_retry_after_is_understood_in_seconds_and_bounded(void **state)
{
#define LATER(value) "HTTP/1.1 429 Later\r\nretry-after: " value "\r\nContent-Length: 0\r\n\r\n"
    struct desk *d = *state;
    static const struct {
        const char *reply;
        long s;
    } cases[] = {{LATER("120"), 120},
                 {LATER("  7 "), 7},
                 {LATER("99999999"), NET_RETRY_AFTER_MAX_S},
                 {LATER("Wed, 21 Oct 2026 07:28:00 GMT"), 0},
                 {LATER("-1"), 0},
                 {LATER(""), 0}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct net_post post = post_of(d);
        d->reply = str_z(cases[i].reply);
        assert_int_equal(net_poster_start(d->poster, &post), ERR_NONE);
        wait_until_done(d, i + 1);
        assert_int_equal(post.status, 429);
        assert_int_equal(post.retry_after_s, cases[i].s);
    }
}

static struct net_post second;

static void start_second(struct net_post *p)
{
    struct desk *d = p->context;
    on_done(p);
    second = post_of(d);
    assert_int_equal(net_poster_start(d->poster, &second), ERR_NONE);
}

static void test_the_end_of_a_request_may_start_another(void **state)
{
    struct desk *d = *state;
    struct net_post first = post_of(d);
    first.done = start_second;
    assert_int_equal(net_poster_start(d->poster, &first), ERR_NONE);
    wait_until_done(d, 2);
    assert_int_equal(d->answered, 2);
}

/* WEBHOOK-23 */
static void test_no_request_is_sent_again_after_a_kept_connection_closes(void **state)
{
    struct desk *d = *state;
    struct net_post posts[POSTS];
    d->closes_kept = true;
    for (unsigned i = 0; i < POSTS; i++) {
        posts[i] = post_of(d);
        assert_int_equal(net_poster_start(d->poster, &posts[i]), ERR_NONE);
        wait_until_done(d, i + 1);
        assert_int_equal(d->receiver->requests, i + 1);
    }
    assert_true(d->answered > 0 && d->answered < POSTS);
    for (unsigned i = 0; i < POSTS; i++)
        if (!posts[i].status)
            assert_string_equal(posts[i].failure, "broken");
}

static void test_an_answer_of_new_keys_without_end_is_cut(void **state)
{
    struct desk *d = *state;
    struct net_post endless = post_of(d), other = post_of(d);
    d->keys = -1;
    assert_int_equal(net_poster_start(d->poster, &endless), ERR_NONE);
    while (d->receiver->requests == 0)
        (void)net_poster_wait(d->poster, 1);
    wait_until_done(d, 1);
    assert_string_equal(endless.failure, "broken");
    d->keys = NET_TLS_IDLE_MAX / 2 + 1; /* with data between them */
    assert_int_equal(net_poster_start(d->poster, &other), ERR_NONE);
    wait_until_done(d, 2);
    assert_int_equal(other.status, 200);
}

static void test_a_wake_up_ends_the_wait(void **state)
{
    struct desk *d = *state;
    assert_int_equal(eventfd_write(d->wake_fd, 1), 0);
    (void)net_poster_wait(d->poster, 1000000000);
}

static void test_an_aborted_request_is_not_done(void **state)
{
    struct desk *d = *state;
    struct net_post post = post_of(d);
    d->hangs = true;
    assert_int_equal(net_poster_start(d->poster, &post), ERR_NONE);
    while (d->receiver->requests == 0)
        (void)net_poster_wait(d->poster, 1);
    net_poster_free(d->poster);
    d->poster = NULL;
    assert_int_equal(d->done, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_desk, close_desk)
    const struct CMUnitTest tests[] = {
        TEST(test_many_requests_run_at_once),
        TEST(test_sequential_requests_use_the_same_connection),
        TEST(test_no_request_is_sent_again_after_a_kept_connection_closes),
        TEST(test_retry_after_is_understood_in_seconds_and_bounded),
        TEST(test_the_end_of_a_request_may_start_another),
        TEST(test_an_answer_of_new_keys_without_end_is_cut),
        TEST(test_a_wake_up_ends_the_wait),
        TEST(test_an_aborted_request_is_not_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
