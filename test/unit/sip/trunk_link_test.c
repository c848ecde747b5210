/* How the agent keeps in touch with the server of a trunk: a datagram socket of the test is the server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sip/fixture.h"

#define PATIENCE_MS 20000

static struct server {
    int fd;
    char address[32], from[64]; /* of the last request */
    struct sockaddr_in client;
    char text[4096];
} server;

static const char *const box[] = {"127.0.9.9", NULL};

static void open_server(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr("127.0.4.1")};
    socklen_t n = sizeof at;
    server.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server.fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(server.fd, (struct sockaddr *)&at, &n), 0);
    (void)snprintf(server.address, sizeof server.address, "127.0.4.1:%d", ntohs(at.sin_port));
}

static void start_trunk(struct config_peer p)
{
    static const char *const nobody[] = {NULL};
    open_server();
    p.name = "trunk";
    p.addresses = nobody;
    p.server = server.address;
    p.calls = 4;
    p.calls_out = 4;
    p.number_in = "uri";
    p.transport = "udp";
    p.domain = p.country_code = p.national_prefix = p.international_prefix = "";
    p.number_out = "e164";
    p.caller_id = "from";
    p.diversion = "none";
    p.srtp = "off";
    p.user = p.user ? p.user : "";
    p.password = p.password ? p.password : "";
    p.register_s = 60;
    agent_config.peers[0] = p;
    agent_config.peer_count = 1;
    agent_config.voice_peers = box;
    agent_config.voice_nameserver = "127.0.0.1:53";
    agent_set_up(NULL);
}

static int stop_trunk(void **state)
{
    agent_config.peer_count = 0;
    close(server.fd);
    return agent_tear_down(state);
}

/* Waits for a request of this method. Returns its text. */
static const char *receive(const char *method)
{
    struct pollfd p = {.fd = server.fd, .events = POLLIN};
    socklen_t size = sizeof server.client;
    do {
        if (poll(&p, 1, PATIENCE_MS) != 1)
            fail_msg("no %s", method);
        ssize_t n =
            recvfrom(server.fd, server.text, sizeof server.text - 1, 0, (struct sockaddr *)&server.client, &size);
        server.text[n > 0 ? n : 0] = '\0';
    } while (strncmp(server.text, method, strlen(method)) != 0);
    return server.text;
}

/* The value of a header line of the last request. */
static const char *header(const char *name)
{
    static char value[512];
    char line[64];
    (void)snprintf(line, sizeof line, "\r\n%s: ", name);
    const char *at = strstr(server.text, line);
    if (!at)
        return "";
    at += strlen(line);
    (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
    return value;
}

/* Answers the last request. */
static void respond(const char *status, const char *more)
{
    char text[4096], via[512], from[512], to[512], id[512];
    (void)snprintf(via, sizeof via, "%s", header("Via"));
    (void)snprintf(from, sizeof from, "%s", header("From"));
    (void)snprintf(to, sizeof to, "%s", header("To"));
    (void)snprintf(id, sizeof id, "%s", header("Call-ID"));
    int n = snprintf(text, sizeof text,
                     "SIP/2.0 %s\r\nVia: %s\r\nFrom: %s\r\nTo: %s;tag=s\r\nCall-ID: %s\r\nCSeq: %s\r\n%s"
                     "Content-Length: 0\r\n\r\n",
                     status, via, from, to, id, header("CSeq"), more);
    assert_int_equal(sendto(server.fd, text, (size_t)n, 0, (struct sockaddr *)&server.client, sizeof server.client), n);
}

static void get_state(void *arg)
{
    *(struct sip_trunk *)arg = agent->trunks.list[0];
}

static struct sip_trunk trunk(void)
{
    struct sip_trunk t;
    run_on_agent(get_state, &t);
    return t;
}

static struct sip_trunk becomes(enum sip_trunk_state state)
{
    struct sip_trunk t = trunk();
    for (int i = 0; i < PATIENCE_MS / 10 && t.state != state; i++) {
        usleep(10000);
        t = trunk();
    }
    assert_int_equal(t.state, state);
    return t;
}

/* Makes the next request due. */
static void hurry(void *arg)
{
    (void)arg;
    struct sip_trunk *t = &agent->trunks.list[0];
    if (t->registered)
        t->refresh_ms = 0;
    tmr_start(&t->timer, 0, t->timer.th, t);
}

/* ---- asking ---- */

static void a_server_that_answers_is_up_whatever_it_says(void **state)
{
    (void)state;
    start_trunk((struct config_peer){.probe_s = 3600});
    receive("OPTIONS ");
    respond("403 Forbidden", "");
    assert_false(becomes(SIP_TRUNK_UP).registered);
}

static void a_server_that_cannot_serve_is_down_until_it_can(void **state)
{
    (void)state;
    start_trunk((struct config_peer){.probe_s = 3600});
    receive("OPTIONS ");
    respond("503 Service Unavailable", "");
    assert_string_equal(becomes(SIP_TRUNK_DOWN).error, "the server answers 503");
    run_on_agent(hurry, NULL);
    receive("OPTIONS ");
    respond("200 OK", "");
    becomes(SIP_TRUNK_UP);
}

static void a_silent_server_is_down(void **state)
{
    (void)state;
    start_trunk((struct config_peer){.probe_s = 3600});
    assert_string_equal(becomes(SIP_TRUNK_DOWN).error, "the server does not answer");
}

static void fail_call(void *arg)
{
    assert_true(sip_trunk_result(agent, &agent->trunks.list[0], 0, 503));
    *(struct sip_trunk *)arg = agent->trunks.list[0];
}

static void a_trunk_whose_call_failed_is_asked_and_stays_the_last_choice(void **state)
{
    (void)state;
    struct sip_trunk t;
    start_trunk((struct config_peer){.probe_s = 3600});
    receive("OPTIONS ");
    respond("200 OK", "");
    becomes(SIP_TRUNK_UP);
    run_on_agent(fail_call, &t);
    assert_int_equal(t.state, SIP_TRUNK_FAILING);
    receive("OPTIONS ");
    respond("200 OK", "");
    t = becomes(SIP_TRUNK_FAILING);
    assert_string_equal(t.error, "call answered with 503");
}

static void without_probes_a_trunk_is_up(void **state)
{
    (void)state;
    start_trunk((struct config_peer){.probe_s = 0});
    becomes(SIP_TRUNK_UP);
}

static void the_server_of_a_trunk_may_call_and_strangers_may_not(void **state)
{
    (void)state;
    struct raw caller;
    start_trunk((struct config_peer){.probe_s = 0});
    becomes(SIP_TRUNK_UP);
    raw_open_at(&caller, "127.0.4.2", sip_address(agent));
    raw_invite(&caller, FAKE_CODE);
    assert_int_equal(raw_receive(&caller, 100), 0);
    raw_close(&caller);
    raw_open_at(&caller, "127.0.4.1", sip_address(agent));
    raw_invite(&caller, FAKE_CODE);
    assert_int_equal(raw_final(&caller), 200);
    raw_close(&caller);
}

/* ---- registering ---- */

#define CHALLENGE "WWW-Authenticate: Digest realm=\"pbx\", nonce=\"n1\", qop=\"auth\"\r\n"

static void start_registered(void)
{
    start_trunk((struct config_peer){.reg = true, .user = "door 1", .password = "secret"});
}

static void a_registration_is_renewed_before_it_ends(void **state)
{
    (void)state;
    start_registered();
    receive("REGISTER sip:127.0.4.1");
    assert_non_null(strstr(header("Contact"), "<sip:door%201@127.0.0.1:"));
    assert_string_equal(header("Expires"), "60");
    assert_string_equal(header("Authorization"), "");
    respond("401 Unauthorized", CHALLENGE);
    receive("REGISTER ");
    assert_non_null(strstr(header("Authorization"), "Digest username=\"door 1\", realm=\"pbx\", nonce=\"n1\""));
    respond("200 OK", "Contact: <sip:other@192.0.2.9>;expires=7, <sip:door%201@127.0.0.1:5060>;expires=100\r\n");
    struct sip_trunk t = becomes(SIP_TRUNK_UP);
    assert_true(t.registered);
    assert_true(t.refresh_ms > tick_now_ms() + 70000 && t.refresh_ms <= tick_now_ms() + 80000);
    run_on_agent(hurry, NULL);
    receive("REGISTER ");
    respond("200 OK", "");
    assert_true(becomes(SIP_TRUNK_UP).registered);
}

/* PHONE-25 */
static void a_challenge_that_cannot_be_answered_is_left_for_one_that_can(void **state)
{
    (void)state;
#define OTHER(algorithm)                                                                                               \
    "WWW-Authenticate: Digest realm=\"pbx\", nonce=\"n0\", algorithm=" algorithm ", qop=\"auth\"\r\n"
    static const char *const challenges[] = {OTHER("SHA-256") CHALLENGE, CHALLENGE OTHER("SHA-256"),
                                             OTHER("SHA-512-256") OTHER("SHA-256") CHALLENGE};
    for (size_t i = 0; i < sizeof challenges / sizeof *challenges; i++) {
        start_registered();
        receive("REGISTER ");
        respond("401 Unauthorized", challenges[i]);
        receive("REGISTER ");
        assert_non_null(strstr(header("Authorization"), "realm=\"pbx\", nonce=\"n1\""));
        respond("200 OK", "");
        assert_true(becomes(SIP_TRUNK_UP).registered);
        if (i + 1 < sizeof challenges / sizeof *challenges)
            assert_int_equal(stop_trunk(state), 0);
    }
}

static void two_realms_get_their_credentials_together(void **state)
{
    (void)state;
    start_registered();
    receive("REGISTER ");
    respond("407 Proxy Authentication Required", "Proxy-Authenticate: Digest realm=\"edge\", nonce=\"n2\"\r\n");
    receive("REGISTER ");
    respond("401 Unauthorized", CHALLENGE);
    receive("REGISTER ");
    assert_non_null(strstr(header("Proxy-Authorization"), "realm=\"edge\""));
    assert_non_null(strstr(header("Authorization"), "realm=\"pbx\""));
    respond("200 OK", "");
    assert_true(becomes(SIP_TRUNK_UP).registered);
}

static void a_stale_nonce_is_replaced_and_a_wrong_password_is_final(void **state)
{
    (void)state;
    start_registered();
    receive("REGISTER ");
    respond("401 Unauthorized", CHALLENGE);
    receive("REGISTER ");
    respond("401 Unauthorized", "WWW-Authenticate: Digest realm=\"pbx\", nonce=\"n3\", stale=true\r\n");
    receive("REGISTER ");
    assert_non_null(strstr(header("Authorization"), "nonce=\"n3\""));
    respond("401 Unau\"thorized", CHALLENGE);
    struct sip_trunk t = becomes(SIP_TRUNK_DOWN);
    assert_false(t.registered);
    assert_string_equal(t.error, "registration refused: 401 Unau thorized");
}

static void a_registrar_may_want_longer_registrations(void **state)
{
    (void)state;
    start_registered();
    receive("REGISTER ");
    respond("423 Interval Too Brief", "Min-Expires: 900\r\n");
    receive("REGISTER ");
    assert_string_equal(header("Expires"), "900");
    respond("423 Interval Too Brief", "Min-Expires: 900\r\n");
    assert_string_equal(becomes(SIP_TRUNK_DOWN).error, "registration refused: 423 Interval Too Brief");
}

static void endless_challenges_end(void **state)
{
    (void)state;
    int i = 0;
    start_registered();
    for (; i < 20 && trunk().state != SIP_TRUNK_DOWN; i++) {
        char challenge[100];
        (void)snprintf(challenge, sizeof challenge, "WWW-Authenticate: Digest realm=\"r%d\", nonce=\"n\"\r\n", i);
        receive("REGISTER ");
        respond("401 Unauthorized", challenge);
        usleep(50000);
    }
    becomes(SIP_TRUNK_DOWN);
    assert_true(i < 20);
}

static void a_stopping_service_ends_its_registration(void **state)
{
    (void)state;
    start_registered();
    receive("REGISTER ");
    respond("200 OK", "");
    assert_true(becomes(SIP_TRUNK_UP).registered);
    sip_wind_down(agent, 0);
    receive("REGISTER ");
    assert_string_equal(header("Expires"), "0");
    assert_non_null(strstr(header("Contact"), "<sip:door%201@127.0.0.1:"));
    respond("401 Unauthorized", CHALLENGE);
    receive("REGISTER ");
    assert_string_equal(header("Expires"), "0");
    assert_non_null(strstr(header("Authorization"), "Digest username=\"door 1\""));
    respond("200 OK", "");
}

static void a_dead_registrar_does_not_hold_up_a_stopping_service(void **state)
{
    (void)state;
    start_registered();
    receive("REGISTER ");
    respond("200 OK", "");
    assert_true(becomes(SIP_TRUNK_UP).registered);
    sip_wind_down(agent, 0); /* the thread ends: the tear-down waits for it */
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, stop_trunk)
    const struct CMUnitTest tests[] = {
        T(a_server_that_answers_is_up_whatever_it_says),
        T(a_server_that_cannot_serve_is_down_until_it_can),
        T(a_silent_server_is_down),
        T(a_trunk_whose_call_failed_is_asked_and_stays_the_last_choice),
        T(without_probes_a_trunk_is_up),
        T(the_server_of_a_trunk_may_call_and_strangers_may_not),
        T(a_registration_is_renewed_before_it_ends),
        T(a_challenge_that_cannot_be_answered_is_left_for_one_that_can),
        T(two_realms_get_their_credentials_together),
        T(a_stale_nonce_is_replaced_and_a_wrong_password_is_final),
        T(a_registrar_may_want_longer_registrations),
        T(a_stopping_service_ends_its_registration),
        T(a_dead_registrar_does_not_hold_up_a_stopping_service),
        T(endless_challenges_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
