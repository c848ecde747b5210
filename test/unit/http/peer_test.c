/* The client of a request, with real proxies and with forged fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "http/peer.h"

#define XFF   "X-Forwarded-For"
#define PROTO "X-Forwarded-Proto"

struct field {
    const char *name, *value;
};

static const struct {
    const char *what, *from;
    bool tls;
    struct field fields[4];
    const char *address;
    bool secure, loopback;
} cases[] = {
    {"a client", "203.0.113.9", false, {{0}}, "203.0.113.9", false, false},
    {"a client in TLS", "203.0.113.9", true, {{0}}, "203.0.113.9", true, false},
    {"a client that pretends",
     "203.0.113.9",
     false,
     {{XFF, "127.0.0.1"}, {PROTO, "https"}},
     "203.0.113.9",
     false,
     false},
    {"a client on this machine", "127.0.0.1", false, {{0}}, "127.0.0.1", false, true},
    {"an untrusted proxy here", "127.0.0.1", false, {{XFF, "198.51.100.7"}}, "127.0.0.1", false, false},
    {"an untrusted proxy here, RFC 7239",
     "127.0.0.1",
     false,
     {{"Forwarded", "for=198.51.100.7"}},
     "127.0.0.1",
     false,
     false},
    {"an untrusted proxy here that says the scheme", "127.0.0.1", false, {{PROTO, "https"}}, "127.0.0.1", false, false},
    {"an untrusted proxy here that says the host",
     "127.0.0.1",
     false,
     {{"x-forwarded-host", "a"}},
     "127.0.0.1",
     false,
     false},
    {"an untrusted proxy here, nginx's way",
     "127.0.0.1",
     true,
     {{"X-Real-IP", "198.51.100.7"}},
     "127.0.0.1",
     true,
     false},
    {"an untrusted proxy here that says that it is one",
     "127.0.0.1",
     true,
     {{"Via", "1.1 a"}},
     "127.0.0.1",
     true,
     false},
    {"a client on this machine with fields of its own",
     "127.0.0.1",
     true,
     {{"X-Forwarded-", "a"}, {"X-Forward", "b"}, {"Viaduct", "c"}},
     "127.0.0.1",
     true,
     true},
    {"a proxy", "10.1.2.3", false, {{XFF, "198.51.100.7"}, {PROTO, "https"}}, "198.51.100.7", true, false},
    {"a proxy, in lower case",
     "10.1.2.3",
     false,
     {{"x-forwarded-for", "198.51.100.7"}, {"x-forwarded-proto", "HTTPS"}},
     "198.51.100.7",
     true,
     false},
    {"a proxy over plain HTTP for plain HTTP",
     "10.1.2.3",
     false,
     {{XFF, "198.51.100.7"}, {PROTO, "http"}},
     "198.51.100.7",
     false,
     false},
    {"a proxy over TLS for plain HTTP",
     "10.1.2.3",
     true,
     {{XFF, "198.51.100.7"}, {PROTO, "http"}},
     "198.51.100.7",
     false,
     false},
    {"a proxy that says nothing", "10.1.2.3", true, {{0}}, "10.1.2.3", true, false},
    {"two proxies", "10.1.2.3", false, {{XFF, "198.51.100.7, 10.9.9.9"}}, "198.51.100.7", false, false},
    {"a client that pretends to a proxy",
     "10.1.2.3",
     false,
     {{XFF, "127.0.0.1, 198.51.100.7"}},
     "198.51.100.7",
     false,
     false},
    {"the same in two fields",
     "10.1.2.3",
     false,
     {{XFF, "127.0.0.1"}, {XFF, "198.51.100.7, 10.9.9.9"}},
     "198.51.100.7",
     false,
     false},
    {"proxies all the way", "10.1.2.3", false, {{XFF, "10.5.5.5, 10.9.9.9"}}, "10.5.5.5", false, false},
    {"proxies in two fields",
     "10.1.2.3",
     false,
     {{XFF, "198.51.100.7"}, {XFF, "10.9.9.9"}},
     "198.51.100.7",
     false,
     false},
    {"garbage", "10.1.2.3", false, {{XFF, "unknown"}}, "10.1.2.3", false, false},
    {"garbage to the left of a proxy",
     "10.1.2.3",
     false,
     {{XFF, "198.51.100.7, unknown, 10.9.9.9"}},
     "10.9.9.9",
     false,
     false},
    {"an empty list", "10.1.2.3", false, {{XFF, ""}}, "10.1.2.3", false, false},
    {"with a port", "10.1.2.3", false, {{XFF, "198.51.100.7:4711"}}, "198.51.100.7", false, false},
    {"IPv6", "10.1.2.3", false, {{XFF, "2001:db8::1"}}, "2001:db8::1", false, false},
    {"IPv6 in brackets", "10.1.2.3", false, {{XFF, "[2001:db8::1]"}}, "2001:db8::1", false, false},
    {"IPv6 with a port", "10.1.2.3", false, {{XFF, "[2001:db8::1]:4711"}}, "2001:db8::1", false, false},
    {"IPv4 as IPv6", "10.1.2.3", false, {{XFF, "::ffff:198.51.100.7"}}, "198.51.100.7", false, false},
    {"an open bracket", "10.1.2.3", false, {{XFF, "[2001:db8::1"}}, "10.1.2.3", false, false},
    {"a client that says loopback to a proxy", "10.1.2.3", false, {{XFF, "127.0.0.1"}}, "127.0.0.1", false, false},
    {"the last word on the scheme", "10.1.2.3", false, {{PROTO, "https, http"}}, "10.1.2.3", false, false},
    {"the last of two fields", "10.1.2.3", false, {{PROTO, "http"}, {PROTO, "https"}}, "10.1.2.3", true, false},
};

static void trusted_proxies_name_the_client(void **state)
{
    static const char *const trusted_blocks[] = {"10.0.0.0/8", NULL};
    struct net_cidrs trusted;
    const char *bad;
    (void)state;
    assert_int_equal(net_cidrs_parse(trusted_blocks, &trusted, &bad), ERR_NONE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_header headers[4];
        struct http_request r = {.headers = headers};
        for (; r.header_count < 4 && cases[i].fields[r.header_count].name; r.header_count++)
            headers[r.header_count] = (struct http_header){str_z(cases[i].fields[r.header_count].name),
                                                           str_z(cases[i].fields[r.header_count].value)};
        struct http_origin o = {.tls = cases[i].tls};
        assert_true(net_address_parse(str_z(cases[i].from), &o.address));
        net_address_text(&o.address, o.text);
        o.loopback = net_address_is_loopback(&o.address);
        o.trusted = net_cidrs_contain(&trusted, &o.address);
        http_peer_resolve(&r, &o, &trusted);
        if (strcmp(r.peer.address, cases[i].address) != 0 || r.peer.secure != cases[i].secure ||
            r.peer.loopback != cases[i].loopback || r.peer.local)
            fail_msg("%s: %s secure=%d loopback=%d", cases[i].what, r.peer.address, r.peer.secure, r.peer.loopback);
    }
    net_cidrs_done(&trusted);
}

static void the_control_socket_is_secure_and_local(void **state)
{
    struct http_request r = {0};
    struct http_origin o = {.local = true, .loopback = true, .text = "127.0.0.1"};
    (void)state;
    http_peer_resolve(&r, &o, &(struct net_cidrs){0});
    assert_true(r.peer.local && r.peer.secure && r.peer.loopback);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trusted_proxies_name_the_client),
        cmocka_unit_test(the_control_socket_is_secure_and_local),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
