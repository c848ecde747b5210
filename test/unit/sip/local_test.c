/* A SIP user agent that listens on all addresses of a machine. The test runs in a network of its own, where addresses
 * can come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sched.h>

#include "sip/fixture.h"

#define FIRST   "10.99.0.1"
#define SECOND  "10.99.0.2"
#define OUTSIDE "203.0.113.5"

static bool isolated;

static void run(const char *command)
{
    if (system(command) != 0)
        abort();
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    close(fd);
}

/* Moves into a network with loopback and one more address. False if this system gives a user none. */
static bool isolate(void)
{
    char map[40];
    bool root = geteuid() == 0;
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)geteuid());
    if (unshare(root ? CLONE_NEWNET : CLONE_NEWNET | CLONE_NEWUSER))
        return false;
    if (!root)
        write_file("/proc/self/uid_map", map);
    run("ip link set lo up");
    run("ip address add " FIRST "/32 dev lo");
    run("ip address add " OUTSIDE "/32 dev lo");
    return true;
}

/* ---- the agent ---- */

static int begin(void **state, const char *listen)
{
    agent_config.listen_sip = (char *)listen;
    return agent_set_up(state);
}

static int set_up(void **state)
{
    return isolated ? begin(state, "[::]:0") : 0;
}

static int set_up_ipv4(void **state)
{
    return isolated ? begin(state, "0.0.0.0:0") : 0;
}

static int set_up_with_peers(void **state)
{
    static const char *peers[] = {"127.0.0.1", NULL};
    agent_config.voice_peers = peers;
    return set_up(state);
}

static int set_up_behind_router(void **state)
{
    agent_config.voice_external_address = "203.0.113.9";
    return set_up(state);
}

static int tear_down(void **state)
{
    agent_config.voice_peers = NULL;
    agent_config.voice_external_address = NULL;
    return isolated ? agent_tear_down(state) : 0;
}

/* Opens a caller at `host` that calls the agent at `to`. */
static void open_caller(struct raw *r, const char *host, const char *to)
{
    char address[64];
    if (!isolated)
        skip();
    (void)snprintf(address, sizeof address, "%s%s", to, strrchr(sip_address(agent), ':'));
    raw_open_at(r, host, address);
}

/* Whether the last message holds this text, in which %s is `at`. */
static bool says(const struct raw *r, const char *before, const char *at)
{
    char text[100];
    (void)snprintf(text, sizeof text, "%s%s", before, at);
    return strstr(r->reply, text) != NULL;
}

/* Whether the next message comes from this address. */
static bool comes_from(struct raw *r, const char *address)
{
    struct sockaddr_in from;
    socklen_t n = sizeof from;
    struct pollfd p = {.fd = r->sip, .events = POLLIN};
    char text[INET_ADDRSTRLEN], byte;
    if (poll(&p, 1, RAW_PATIENCE_MS) <= 0 || recvfrom(r->sip, &byte, 1, MSG_PEEK, (struct sockaddr *)&from, &n) < 0)
        return false;
    return strcmp(inet_ntop(AF_INET, &from.sin_addr, text, sizeof text), address) == 0;
}

static void opens(struct raw *r)
{
    raw_invite(r, FAKE_OPEN);
    assert_int_equal(raw_final(r), 200);
    raw_request(r, "ACK", FAKE_OPEN, 1, "", "");
    assert_true(raw_requested(r, "BYE"));
}

/* Whether the agent answers within about the time. */
static bool answers(struct raw *r, int wait_ms)
{
    for (unsigned i = 0; i <= (unsigned)wait_ms / 250; i++) {
        raw_request(r, "OPTIONS", FAKE_OPEN, i + 1, "", "");
        if (raw_receive(r, 250) == 200)
            return true;
    }
    return false;
}

/* ---- tests ---- */

/* PHONE-8 */
static void test_each_address_answers_in_its_own_name(void **state)
{
    (void)state;
    static const char *const hosts[] = {"127.0.0.1", FIRST};
    for (size_t i = 0; i < 2; i++) {
        struct raw r;
        open_caller(&r, hosts[1 - i], hosts[i]);
        raw_invite(&r, FAKE_OPEN);
        assert_int_equal(raw_final(&r), 200);
        assert_true(says(&r, "c=IN IP4 ", hosts[i]));
        assert_true(says(&r, "Contact: <sip:portero@", hosts[i]));
        raw_request(&r, "ACK", FAKE_OPEN, 1, "", "");
        assert_true(raw_hears_rtp(&r));
        while (raw_receive(&r, 0))
            ; /* repetitions of the 200 */
        assert_true(comes_from(&r, hosts[i]));
        assert_true(raw_requested(&r, "BYE"));
        assert_true(says(&r, "Via: SIP/2.0/UDP ", hosts[i]));
        raw_close(&r);
    }
}

static void test_ipv6_and_tcp_are_listened_on_as_well(void **state)
{
    (void)state;
    struct raw r;
    open_caller(&r, "[::1]", "[::1]");
    opens(&r);
    raw_close(&r);
    open_caller(&r, FIRST, FIRST);
    raw_connect(&r);
    opens(&r);
    raw_close(&r);
}

static void test_ipv4_alone_may_be_listened_on(void **state)
{
    (void)state;
    struct raw r;
    if (!isolated)
        skip();
    assert_int_equal(strncmp(sip_address(agent), "0.0.0.0:", 8), 0);
    assert_string_not_equal(sip_address(agent), "0.0.0.0:0");
    open_caller(&r, FIRST, "127.0.0.1");
    opens(&r);
    raw_close(&r);
    open_caller(&r, "[::1]", "[::1]");
    assert_false(answers(&r, 500));
    raw_close(&r);
}

/* PHONE-8 */
static void test_an_address_that_comes_is_listened_on_until_it_goes(void **state)
{
    (void)state;
    struct raw r, local;
    open_caller(&local, "127.0.0.1", "127.0.0.1");
    raw_invite(&local, FAKE_CODE);
    assert_int_equal(raw_final(&local), 200);
    raw_request(&local, "ACK", FAKE_CODE, 1, "", "");
    for (int round = 0; round < 2; round++) {
        run("ip address add " SECOND "/32 dev lo");
        open_caller(&r, "127.0.0.1", SECOND);
        assert_true(answers(&r, RAW_PATIENCE_MS));
        while (raw_receive(&r, 100))
            ; /* further answers */
        *r.to_tag = '\0';
        raw_invite(&r, FAKE_CODE);
        assert_int_equal(raw_final(&r), 200);
        raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
        wait_for_calls(2);
        run("ip address del " SECOND "/32 dev lo");
        wait_for_calls(1); /* its call has ended; the other address's call goes on */
        raw_close(&r);
    }
    raw_close(&local);
}

static void test_strangers_get_no_answer_at_any_address(void **state)
{
    (void)state;
    static const char *const hosts[] = {"127.0.0.1", FIRST};
    for (size_t i = 0; i < 2; i++) {
        struct raw r;
        open_caller(&r, "127.0.0.1", hosts[i]);
        assert_true(answers(&r, RAW_PATIENCE_MS));
        raw_close(&r);
        open_caller(&r, FIRST, hosts[i]);
        assert_false(answers(&r, 500));
        assert_int_not_equal(connect(r.sip, (struct sockaddr *)&r.service, r.service_length), -1);
        raw_close(&r);
    }
}

/* PHONE-9 */
static void test_a_caller_outside_is_told_the_external_address(void **state)
{
    (void)state;
    static const struct {
        const char *caller, *contact;
    } callers[] = {{OUTSIDE, "Contact: <sip:portero@203.0.113.9:"}, {FIRST, "Contact: <sip:portero@" FIRST ":"}};
    for (size_t i = 0; i < 2; i++) {
        struct raw r;
        open_caller(&r, callers[i].caller, FIRST);
        raw_invite(&r, FAKE_CODE);
        assert_int_equal(raw_final(&r), 200);
        assert_non_null(strstr(r.reply, callers[i].contact));
        raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
        raw_request(&r, "INVITE", FAKE_CODE, 2, RAW_SDP, raw_offer(&r, "sendrecv"));
        assert_int_equal(raw_final(&r), 200);
        assert_non_null(strstr(r.reply, callers[i].contact));
        raw_request(&r, "ACK", FAKE_CODE, 2, "", "");
        raw_close(&r);
    }
}

static void test_two_agents_cannot_share_a_port(void **state)
{
    (void)state;
    char address[64], *why = NULL;
    struct config second = agent_config;
    struct sip_agent *a;
    if (!isolated)
        skip();
    (void)snprintf(address, sizeof address, "%s", sip_address(agent));
    second.listen_sip = address;
    assert_int_equal(sip_start(&second, NULL, NULL, &a, &why), ERR_USAGE);
    assert_non_null(strstr(why, "Address already in use"));
    free(why);
}

int main(void)
{
    isolated = isolate();
    if (!isolated)
        fprintf(stderr, "skipped: this system gives a user no network namespace\n");
#define T(name, begin) cmocka_unit_test_setup_teardown(test_##name, begin, tear_down)
    const struct CMUnitTest tests[] = {
        T(each_address_answers_in_its_own_name, set_up),
        T(ipv6_and_tcp_are_listened_on_as_well, set_up),
        T(ipv4_alone_may_be_listened_on, set_up_ipv4),
        T(an_address_that_comes_is_listened_on_until_it_goes, set_up),
        T(strangers_get_no_answer_at_any_address, set_up_with_peers),
        T(a_caller_outside_is_told_the_external_address, set_up_behind_router),
        T(two_agents_cannot_share_a_port, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
