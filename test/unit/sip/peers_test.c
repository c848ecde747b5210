/* Addresses outside voice.peers get no answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "sip/fixture.h"

#define PEER     "127.0.0.1"
#define STRANGER "127.0.0.2"

static void start(const char *listen, const char *first, const char *second)
{
    static const char *peers[4]; /* NULL-terminated */
    peers[0] = first;
    peers[1] = second;
    agent_config.voice_peers = peers;
    agent_config.listen_sip = listen;
    agent_set_up(NULL);
}

static void call(struct raw *r, const char *host)
{
    raw_open_at(r, host, sip_address(agent));
    raw_invite(r, FAKE_CODE);
}

/* Places a call that must be answered. Earlier messages have then been handled, too. */
static void is_served(const char *host)
{
    struct raw r;
    call(&r, host);
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
    raw_request(&r, "BYE", FAKE_CODE, 2, "", "");
    assert_int_equal(raw_final(&r), 200);
    raw_close(&r);
}

static void gets_no_answer(const char *host)
{
    struct raw stranger;
    int before = fake_count(&fake.arrived);
    call(&stranger, host);
    raw_request(&stranger, "OPTIONS", FAKE_CODE, 2, "", "");
    is_served(PEER);
    assert_int_equal(raw_receive(&stranger, 50), 0);
    assert_int_equal(fake_count(&fake.arrived), before + 1);
    raw_close(&stranger);
}

/* PHONE-1 */
static void test_a_stranger_gets_no_answer_and_a_peer_is_served(void **state)
{
    (void)state;
    start("127.0.0.1:0", PEER, NULL);
    gets_no_answer(STRANGER);
}

static void test_a_network_may_call_and_its_neighbours_may_not(void **state)
{
    (void)state;
    start("127.0.0.1:0", "127.0.0.0/29", "192.0.2.0/24");
    is_served(STRANGER);
    is_served("127.0.0.7");
    gets_no_answer("127.0.0.8");
}

static void test_a_flood_of_strangers_shuts_no_peer_out(void **state)
{
    (void)state;
    start("127.0.0.1:0", PEER, NULL);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 200; i++) {
            struct raw stranger;
            call(&stranger, STRANGER);
            raw_close(&stranger);
            usleep(500); /* leaves room in the socket's buffer: these callers repeat no INVITE */
        }
        gets_no_answer(STRANGER);
    }
}

/* PHONE-1 */
static void test_without_peers_anybody_may_call(void **state)
{
    (void)state;
    start("127.0.0.1:0", NULL, NULL);
    is_served(PEER);
    is_served(STRANGER);
}

/* Diverts standard error to a file. Returns a descriptor of the old one. */
static int capture(int *ret_file)
{
    *ret_file = memfd_create("log", MFD_CLOEXEC);
    int before = dup(STDERR_FILENO);
    dup2(*ret_file, STDERR_FILENO);
    return before;
}

/* PHONE-1 */
static void test_the_log_names_a_stranger_once_in_ten_seconds(void **state)
{
    (void)state;
    char text[4096];
    struct raw one;
    int file, before = capture(&file);
    start("127.0.0.1:0", PEER, NULL);
    is_served(PEER);
    for (int i = 0; i < 10; i++) {
        call(&one, STRANGER);
        raw_close(&one);
    }
    is_served(PEER);
    dup2(before, STDERR_FILENO);
    close(before);
    ssize_t n = pread(file, text, sizeof text - 1, 0);
    close(file);
    text[n > 0 ? n : 0] = '\0';
    const char *line = strstr(text, "source=" STRANGER);
    assert_non_null(line);
    assert_null(strstr(line + 1, "source=" STRANGER));
}

/* ---- peers with settings ---- */

static const char *const trunk_addresses[] = {"127.0.3.0/24", NULL};

static void start_with_trunk(struct config_peer trunk)
{
    trunk.name = "trunk";
    trunk.addresses = trunk_addresses;
    trunk.country_code = trunk.country_code ? trunk.country_code : "";
    trunk.national_prefix = trunk.international_prefix = "";
    agent_config.peers[0] = trunk;
    agent_config.peer_count = 1;
    start("127.0.0.1:0", PEER, NULL);
}

static int stop_with_trunk(void **state)
{
    agent_config.peer_count = 0;
    return agent_tear_down(state);
}

static void test_a_peer_with_settings_may_call(void **state)
{
    (void)state;
    start_with_trunk((struct config_peer){.calls = 6, .number_in = "uri"});
    is_served("127.0.3.1");
    is_served(PEER);
    gets_no_answer(STRANGER);
}

/* PHONE-3 */
static void test_all_calls_of_a_peer_share_its_limit(void **state)
{
    (void)state;
    struct raw callers[7];
    start_with_trunk((struct config_peer){.calls = 6, .number_in = "uri"});
    for (int i = 0; i < 7; i++) {
        char host[32];
        (void)snprintf(host, sizeof host, "127.0.3.%d", 1 + i % 2);
        call(&callers[i], host);
        assert_int_equal(raw_final(&callers[i]), i < 6 ? 200 : 486);
        raw_request(&callers[i], "ACK", FAKE_CODE, 1, "", "");
    }
    for (int i = 0; i < 7; i++)
        raw_close(&callers[i]);
    is_served(PEER);
}

/* Calls from the trunk with this request URI, To and other headers. Returns the status. */
static int dials(const char *uri, const char *to, const char *headers)
{
    struct raw r;
    char text[2048];
    raw_open_at(&r, "127.0.3.1", sip_address(agent));
    const char *offer = raw_offer(&r, "sendrecv");
    int n = snprintf(text, sizeof text,
                     "INVITE sip:%s@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.3.1:%d;branch=z9hG4bK%d;rport\r\n"
                     "From: <sip:5557654321@x>;tag=me\r\nTo: <sip:%s@x>\r\nCall-ID: trunk-%d\r\nCSeq: 1 INVITE\r\n"
                     "Contact: <sip:me@127.0.3.1:%d>\r\n%s" RAW_SDP "Content-Length: %zu\r\n\r\n%s",
                     uri, r.sip_port, r.sip_port, to, r.sip_port, r.sip_port, headers, strlen(offer), offer);
    r.cseq = 1;
    raw_send(&r, text, (size_t)n);
    int status = raw_final(&r);
    raw_close(&r);
    return status;
}

#define CALLED "P-Called-Party-ID: <sip:" FAKE_CODE "@x>\r\n"

/* PHONE-3 */
static void test_the_dialled_number_is_where_the_peer_puts_it(void **state)
{
    (void)state;
    static const struct {
        const char *number_in, *uri, *to, *headers;
        int status;
    } table[] = {
        {"uri", FAKE_CODE, "nobody", "", 200},
        {"uri", "trunk", FAKE_CODE, CALLED, 404},
        {"to", "trunk", FAKE_CODE, "", 200},
        {"to", FAKE_CODE, "nobody", CALLED, 404},
        {"p_called_party_id", "trunk", "nobody", CALLED, 200},
        {"p_called_party_id", FAKE_CODE, "nobody", "", 200},
        {"p_called_party_id", FAKE_CODE, "nobody", "P-Called-Party-ID: <sip:nobody@x>\r\n", 404},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        start_with_trunk((struct config_peer){.calls = 6, .number_in = table[i].number_in});
        int status = dials(table[i].uri, table[i].to, table[i].headers);
        if (status != table[i].status)
            fail_msg("%zu: %d", i, status);
        if (i + 1 < sizeof table / sizeof *table)
            stop_with_trunk(state);
    }
}

/* PHONE-29 */
static void test_a_call_to_the_registered_contact_is_for_the_number_in_to(void **state)
{
    (void)state;
    start_with_trunk((struct config_peer){.calls = 6, .number_in = "uri", .reg = true, .user = "door 1"});
    assert_int_equal(dials("door%201", FAKE_CODE, ""), 200);
    assert_int_equal(dials(FAKE_CODE, "nobody", ""), 200);
    assert_int_equal(dials("other", FAKE_CODE, ""), 404);
}

/* PHONE-29 */
static void test_the_callers_number_is_where_the_peer_puts_it(void **state)
{
    static const struct {
        const char *caller_in, *headers, *want;
    } table[] = {
        {"from", "P-Asserted-Identity: <sip:+15550001111@x>\r\n", "+5557654321"},
        {"p_asserted_identity", "P-Asserted-Identity: \"A, B\" <sip:+15550001111@x>, <tel:+15550002222>\r\n",
         "+15550001111"},
        {"p_asserted_identity", "P-Asserted-Identity: <tel:+15550002222>\r\n", "+15550002222"},
        {"p_asserted_identity", "", "+5557654321"},
        {"remote_party_id", "Remote-Party-ID: <sip:+15550003333@x>;party=calling\r\n", "+15550003333"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        start_with_trunk((struct config_peer){.calls = 6, .number_in = "uri", .caller_in = table[i].caller_in});
        assert_int_equal(dials(FAKE_CODE, "nobody", table[i].headers), 200);
        assert_string_equal(fake.from, table[i].want);
        if (i + 1 < sizeof table / sizeof *table)
            stop_with_trunk(state);
    }
}

/* PHONE-3 */
static void test_a_peers_national_numbers_are_completed(void **state)
{
    (void)state;
    start_with_trunk((struct config_peer){.calls = 6, .number_in = "uri", .country_code = "1"});
    assert_int_equal(dials(&FAKE_CODE[2], "nobody", ""), 200);
    assert_string_equal(fake.from, "+15557654321");
}

/* ---- TCP ---- */

static int connect_from(const char *host, int flags)
{
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(host)}, to = from;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons((uint16_t)atoi(strrchr(sip_address(agent), ':') + 1));
    (void)connect(fd, (struct sockaddr *)&to, sizeof to);
    return fd;
}

static const char options[] = "OPTIONS sip:x@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TCP 127.0.0.1:9;branch=z9hG4bKx\r\n"
                              "From: <sip:a@b>;tag=1\r\nTo: <sip:b@c>\r\nCall-ID: tcp\r\nCSeq: 1 OPTIONS\r\n"
                              "Content-Length: 0\r\n\r\n";

static void is_answered(int fd)
{
    char reply[16] = "";
    assert_int_equal(send(fd, options, sizeof options - 1, 0), sizeof options - 1);
    assert_int_equal(recv(fd, reply, 11, MSG_WAITALL), 11);
    assert_string_equal(reply, "SIP/2.0 200");
}

/* The kernel drops the connection; without a filter, the agent closes it at its first message. */
static void gets_nowhere(int fd)
{
    char reply[16];
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (poll(&p, 1, 200) == 0)
        return;
    assert_int_equal(send(fd, options, sizeof options - 1, MSG_NOSIGNAL), sizeof options - 1);
    p.events = POLLIN;
    assert_int_equal(poll(&p, 1, 10000), 1);
    assert_true(recv(fd, reply, sizeof reply, 0) <= 0);
}

/* PHONE-2 */
static void test_a_stranger_cannot_connect(void **state)
{
    (void)state;
    start("127.0.0.1:0", PEER, NULL);
    int stranger = connect_from(STRANGER, SOCK_NONBLOCK), peer = connect_from(PEER, 0);
    is_answered(peer);
    gets_nowhere(stranger);
    close(stranger);
    close(peer);
}

/* ---- IPv6 ---- */

static int connect_over_ipv6(int flags)
{
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    to.sin6_port = htons((uint16_t)atoi(strrchr(sip_address(agent), ':') + 1));
    (void)connect(fd, (struct sockaddr *)&to, sizeof to);
    return fd;
}

static void test_peers_may_have_ipv6(void **state)
{
    (void)state;
    static const char *const blocks[] = {"::1", "::/64", "::/0", "::/127"};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        start("[::1]:0", "2001:db8::/33", blocks[i]);
        int fd = connect_over_ipv6(0);
        is_answered(fd);
        close(fd);
        agent_tear_down(state);
    }
    start("[::1]:0", "127.0.0.1", "::2/127");
    int fd = connect_over_ipv6(SOCK_NONBLOCK);
    gets_nowhere(fd);
    close(fd);
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(test_##name, agent_tear_down)
    const struct CMUnitTest tests[] = {
        T(a_stranger_gets_no_answer_and_a_peer_is_served),
        T(a_network_may_call_and_its_neighbours_may_not),
        T(a_flood_of_strangers_shuts_no_peer_out),
        T(without_peers_anybody_may_call),
        T(the_log_names_a_stranger_once_in_ten_seconds),
        cmocka_unit_test_teardown(test_a_peer_with_settings_may_call, stop_with_trunk),
        cmocka_unit_test_teardown(test_all_calls_of_a_peer_share_its_limit, stop_with_trunk),
        cmocka_unit_test_teardown(test_the_dialled_number_is_where_the_peer_puts_it, stop_with_trunk),
        cmocka_unit_test_teardown(test_a_call_to_the_registered_contact_is_for_the_number_in_to, stop_with_trunk),
        cmocka_unit_test_teardown(test_the_callers_number_is_where_the_peer_puts_it, stop_with_trunk),
        cmocka_unit_test_teardown(test_a_peers_national_numbers_are_completed, stop_with_trunk),
        T(a_stranger_cannot_connect),
        T(peers_may_have_ipv6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
