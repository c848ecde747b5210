/* Routes of outgoing calls: which trunk, and what it is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "sip/agent.h"
#include "sip/stack.h"
#include "sip/trunk_form.h"

#define PHONE    "+15557654321"
#define BUILDING "+15550100001"

static struct config config;
static struct sip_agent agent;
static struct sip_stack stack; /* without an address */

static struct config_peer *add(const char *name, const char *server)
{
    struct config_peer *p = &config.peers[config.peer_count++];
    *p = (struct config_peer){.name = name,
                              .server = server,
                              .domain = "",
                              .transport = "udp",
                              .user = "",
                              .password = "",
                              .number_out = "e164",
                              .probe_s = 30,
                              .caller_id = "from",
                              .diversion = "none",
                              .srtp = "off",
                              .country_code = "",
                              .national_prefix = "",
                              .international_prefix = "",
                              .calls_out = 2};
    return p;
}

static int set_up(void **state)
{
    (void)state;
    config = (struct config){.voice_nameserver = "127.0.0.1:53"};
    agent = (struct sip_agent){.config = &config};
    stack = (struct sip_stack){.agent = &agent};
    list_append(&agent.stacks, &stack.le, &stack);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sip_trunks_done(&agent);
    return 0;
}

/* As after the look-up of the servers: each has one address, of its transport. */
static void begin(void)
{
    char why[200] = "", address[40];
    assert_int_equal(sip_trunks_init(&agent, why, sizeof why), ERR_NONE);
    for (size_t i = 0; i < agent.trunks.count; i++) {
        struct sip_trunk *t = &agent.trunks.list[i];
        (void)re_snprintf(address, sizeof address, "192.0.2.%zu:5060", i + 1);
        assert_int_equal(sa_decode(&t->targets[0].addr, address, strlen(address)), 0);
        t->targets[0].tp = strcmp(t->peer->transport, "tls") == 0 ? SIP_TRANSP_TLS : SIP_TRANSP_UDP;
        t->target_count = 1;
        t->state = SIP_TRUNK_UP;
    }
}

static struct sip_route route(unsigned *tried)
{
    struct sip_route r;
    assert_true(sip_trunk_route(&agent, tried, PHONE, BUILDING, BUILDING, &r));
    return r;
}

static bool has_route(unsigned tried)
{
    struct sip_route r;
    return sip_trunk_route(&agent, &tried, PHONE, BUILDING, NULL, &r);
}

/* PHONE-25 */
static void trunks_come_in_the_order_of_the_configuration(void **state)
{
    (void)state;
    unsigned tried = 0;
    struct sip_route r;
    add("one", "192.0.2.1:5080");
    add("box", "")->server = NULL;
    add("two", "192.0.2.2")->transport = "tcp";
    begin();
    r = route(&tried);
    assert_string_equal(r.uri, "sip:+15557654321@192.0.2.1:5080");
    assert_string_equal(r.from, "sip:+15550100001@192.0.2.1:5080");
    assert_string_equal(r.outbound, "");
    assert_string_equal(r.headers, "");
    assert_string_equal(r.trunk->peer->name, "one");
    assert_int_equal(r.srtp, MEDIA_SRTP_ACCEPT);
    r = route(&tried);
    assert_string_equal(r.uri, "sip:+15557654321@192.0.2.2;transport=tcp");
    assert_string_equal(r.trunk->peer->name, "two");
    assert_false(sip_trunk_route(&agent, &tried, PHONE, BUILDING, NULL, &r));
}

static void a_full_trunk_is_passed_over(void **state)
{
    (void)state;
    unsigned tried = 0;
    add("one", "192.0.2.1");
    begin();
    struct sip_trunk *t = route(&tried).trunk;
    sip_trunk_enter(t);
    sip_trunk_enter(t);
    assert_false(has_route(0));
    sip_trunk_leave(t);
    assert_true(has_route(0));
}

/* PHONE-25 */
static void trunks_that_are_down_take_no_calls(void **state)
{
    (void)state;
    unsigned tried = 0;
    add("one", "192.0.2.1");
    add("two", "192.0.2.2");
    begin();
    agent.trunks.list[0].state = SIP_TRUNK_DOWN;
    assert_string_equal(route(&tried).trunk->peer->name, "two");
    assert_false(has_route(tried));
    agent.trunks.list[1].target_count = 0; /* not looked up yet */
    assert_false(has_route(0));
}

/* PHONE-26 */
static void a_trunk_whose_last_call_failed_comes_last(void **state)
{
    (void)state;
    unsigned tried = 0;
    add("one", "192.0.2.1");
    add("two", "192.0.2.2");
    begin();
    struct sip_trunk *t = route(&tried).trunk;
    agent.trunks.list[0].state = SIP_TRUNK_FAILING;
    assert_string_equal(route(&tried).trunk->peer->name, "two");
    assert_false(has_route(tried));
    tried = 0;
    assert_string_equal(route(&tried).trunk->peer->name, "two");
    assert_ptr_equal(route(&tried).trunk, t);
    assert_false(has_route(tried));
}

/* PHONE-26 */
static void only_failures_of_the_trunk_lead_to_the_next(void **state)
{
    (void)state;
    static const struct {
        int error, status;
        bool next;
    } rows[] = {{0, 486, false}, {0, 404, false}, {0, 480, false},      {0, 603, false},
                {0, 487, false}, {0, 401, true},  {0, 407, true},       {0, 408, true},
                {0, 503, true},  {0, 500, true},  {ETIMEDOUT, 0, true}, {ECONNREFUSED, 0, true}};
    add("one", "192.0.2.1");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        begin();
        struct sip_trunk *t = &agent.trunks.list[0];
        assert_int_equal(sip_trunk_result(&agent, t, rows[i].error, rows[i].status), rows[i].next);
        assert_int_equal(t->state, rows[i].next ? SIP_TRUNK_FAILING : SIP_TRUNK_UP);
        sip_trunks_done(&agent);
    }
}

static void a_name_is_addressed_through_the_target_in_use(void **state)
{
    (void)state;
    unsigned tried = 0;
    struct config_peer *p = add("one", "sip.provider.example");
    p->domain = "pbx.example";
    p->transport = "tls";
    add("two", "sip.provider.example");
    begin();
    struct sip_route r = route(&tried);
    assert_string_equal(r.uri, "sip:+15557654321@pbx.example");
    assert_string_equal(r.from, "sip:+15550100001@pbx.example");
    assert_string_equal(r.outbound, "sip:192.0.2.1:5060;transport=tls");
    r = route(&tried);
    assert_string_equal(r.uri, "sip:+15557654321@sip.provider.example");
    assert_string_equal(r.outbound, "sip:192.0.2.2:5060");
}

static void the_callers_number_goes_where_the_trunk_expects_it(void **state)
{
    (void)state;
    static const struct {
        const char *caller_id, *from, *headers;
    } rows[] = {
        {"from", "sip:+15550100001@pbx.example", ""},
        {"p_asserted_identity", "sip:door%20100@pbx.example",
         "P-Asserted-Identity: <sip:+15550100001@pbx.example>\r\n"},
        {"both", "sip:+15550100001@pbx.example", "P-Asserted-Identity: <sip:+15550100001@pbx.example>\r\n"},
    };
    struct config_peer *p = add("one", "pbx.example");
    p->user = "door 100";
    begin();
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        unsigned tried = 0;
        p->caller_id = rows[i].caller_id;
        struct sip_route r = route(&tried);
        assert_string_equal(r.from, rows[i].from);
        assert_string_equal(r.headers, rows[i].headers);
    }
}

static void the_diverted_number_is_named(void **state)
{
    (void)state;
    unsigned tried = 0;
    struct config_peer *p = add("one", "pbx.example");
    p->diversion = "diversion";
    begin();
    assert_string_equal(route(&tried).headers,
                        "Diversion: <sip:+15550100001@pbx.example>;reason=unconditional;counter=1\r\n");
    p->diversion = "history_info";
    tried = 0;
    assert_string_equal(route(&tried).headers, "History-Info: <sip:+15550100001@pbx.example>;index=1,"
                                               "<sip:+15557654321@pbx.example;cause=302>;index=1.1\r\n");
}

static void numbers_take_the_form_of_the_trunk(void **state)
{
    (void)state;
    static const struct {
        const char *form, *country, *national, *abroad, *number, *want;
    } rows[] = {
        {"e164", "44", "0", "00", "+442079460000", "+442079460000"},
        {"plain", "44", "0", "00", "+442079460000", "442079460000"},
        {"national", "44", "0", "00", "+442079460000", "02079460000"},
        {"national", "44", "0", "00", "+15557654321", "0015557654321"},
        {"national", "1", "", "011", "+15557654321", "5557654321"},
        {"national", "1", "1", "011", "+442079460000", "011442079460000"},
        {"international", "44", "0", "00", "+442079460000", "00442079460000"},
        {"international", "", "", "", "+442079460000", "00442079460000"},
        {"national", "", "", "", "+442079460000", "00442079460000"},
        {"international", "44", "0", "00", "204", "204"},
        {"e164", "44", "0", "00", "02079", "02079"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char text[32];
        const struct config_peer p = {.number_out = rows[i].form,
                                      .country_code = rows[i].country,
                                      .national_prefix = rows[i].national,
                                      .international_prefix = rows[i].abroad};
        assert_true(sip_trunk_number(&p, rows[i].number, text, sizeof text));
        assert_string_equal(text, rows[i].want);
    }
}

static void anything_but_a_number_has_no_route(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "+", "+1555x", "1@evil", "+1234567890123456", "+1\r\nX: y", "5 5"};
    add("one", "pbx.example");
    begin();
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct sip_route r;
        unsigned tried = 0;
        assert_false(sip_trunk_route(&agent, &tried, bad[i], BUILDING, NULL, &r));
        tried = 0;
        assert_false(sip_trunk_route(&agent, &tried, PHONE, bad[i], NULL, &r));
    }
}

static void a_password_is_given_for_each_realm_and_only_with_a_user(void **state)
{
    (void)state;
    unsigned tried = 0;
    char *user = NULL, *password = NULL;
    struct config_peer *p = add("one", "192.0.2.1");
    p->user = "door";
    p->password = "secret";
    add("two", "192.0.2.2")->password = "secret";
    begin();
    struct sip_route r = route(&tried);
    assert_int_equal(r.auth(&user, &password, "any", r.auth_arg), 0);
    assert_string_equal(user, "door");
    assert_string_equal(password, "secret");
    mem_deref(user);
    mem_deref(password);
    r = route(&tried);
    assert_int_not_equal(r.auth(&user, &password, "any", r.auth_arg), 0);
}

static void servers_are_split_into_host_and_port(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        uint16_t port;
        bool numeric;
    } rows[] = {
        {"sip.example.com", "sip.example.com", 0, false},
        {"sip.example.com:5080", "sip.example.com", 5080, false},
        {"192.0.2.1", "192.0.2.1", 0, true},
        {"192.0.2.1:5061", "192.0.2.1", 5061, true},
        {"[2001:db8::1]", "2001:db8::1", 0, true},
        {"[2001:db8::1]:5062", "2001:db8::1", 5062, true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct sip_server s;
        sip_server_parse(rows[i].text, &s);
        assert_string_equal(s.host, rows[i].host);
        assert_int_equal(s.port, rows[i].port);
        assert_int_equal(s.numeric, rows[i].numeric);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(trunks_come_in_the_order_of_the_configuration),
        T(a_full_trunk_is_passed_over),
        T(trunks_that_are_down_take_no_calls),
        T(a_trunk_whose_last_call_failed_comes_last),
        T(only_failures_of_the_trunk_lead_to_the_next),
        T(a_name_is_addressed_through_the_target_in_use),
        T(the_callers_number_goes_where_the_trunk_expects_it),
        T(the_diverted_number_is_named),
        T(numbers_take_the_form_of_the_trunk),
        T(anything_but_a_number_has_no_route),
        T(a_password_is_given_for_each_realm_and_only_with_a_user),
        T(servers_are_split_into_host_and_port),
    };
    int failed = libre_init();
    if (!failed)
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    libre_close();
    return failed;
}
