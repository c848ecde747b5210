/* The choice among the addresses of a name. This file replaces getaddrinfo, so the tests need neither the network nor
 * /etc/hosts. */
#include "handset/reach.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/unit.h"

#define NAME       "several.example"
#define FOREVER_MS 120000 /* an answer is on its way, however busy the machine is */
#define SOON_MS    2000   /* no answer comes */

static const char *addresses[4]; /* of NAME, numeric */
static uint16_t port;

/* Addresses that no other process uses: a port at another address of the machine may belong to anybody. */
static char first[16], second[16], third[16], reserved[16];

/* Replaces libc's for the whole program; the list is freed by freeaddrinfo below. */
__attribute__((visibility("default"))) int getaddrinfo(const char *host, const char *service,
                                                       const struct addrinfo *hints, struct addrinfo **ret)
{
    struct addrinfo **end = ret;
    *ret = NULL;
    if (strcmp(host, NAME) != 0)
        return EAI_NONAME;
    for (size_t i = 0; addresses[i]; i++) {
        struct {
            struct addrinfo info;
            struct sockaddr_storage address;
        } *entry = calloc(1, sizeof *entry);
        struct sa at;
        assert_int_equal(sa_set_str(&at, addresses[i], (uint16_t)atoi(service)), 0);
        memcpy(&entry->address, &at.u, at.len);
        entry->info = (struct addrinfo){.ai_family = sa_af(&at),
                                        .ai_socktype = hints->ai_socktype,
                                        .ai_addrlen = at.len,
                                        .ai_addr = (struct sockaddr *)&entry->address};
        *end = &entry->info;
        end = &entry->info.ai_next;
    }
    return 0;
}

__attribute__((visibility("default"))) void freeaddrinfo(struct addrinfo *list)
{
    while (list) {
        struct addrinfo *next = list->ai_next;
        free(list);
        list = next;
    }
}

/* A socket at the address, on the port of the test's first socket; -1 if that port is in use. */
static int try_at(const char *address, bool tcp)
{
    struct sa sa;
    socklen_t len;
    int fd = socket(AF_INET, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
    assert_int_equal(sa_set_str(&sa, address, port), 0);
    if (bind(fd, &sa.u.sa, sa.len) != 0) {
        assert_int_equal(errno, EADDRINUSE);
        close(fd);
        return -1;
    }
    len = sa.len;
    assert_int_equal(getsockname(fd, &sa.u.sa, &len), 0);
    port = sa_port(&sa);
    return fd;
}

static int at(const char *address, bool tcp)
{
    int fd = try_at(address, tcp);
    assert_true(fd >= 0);
    return fd;
}

/* The process's number is part of the addresses. */
static void choose_addresses(void)
{
    char *const all[] = {first, second, third, reserved};
    const int high = 64 + (getpid() >> 14 & 127), middle = getpid() >> 6 & 255, low = (getpid() & 63) * 4;
    for (int i = 0; i < 4; i++)
        assert_true(re_snprintf(all[i], sizeof first, "127.%d.%d.%d", high, middle, low + i) > 0);
}

static int new_test(void **state)
{
    (void)state;
    choose_addresses();
    port = 0;
    memset(addresses, 0, sizeof addresses);
    return 0;
}

static void reaches(bool tcp, int64_t patience_ms, const char *want)
{
    struct sa found;
    char text[64];
    assert_int_equal(reach_find(NAME, port, tcp, patience_ms, &found), 0);
    re_snprintf(text, sizeof text, "%j", &found);
    assert_string_equal(text, want);
    assert_int_equal(sa_port(&found), port);
}

static void a_refusing_address_is_skipped_over_tcp(void **state)
{
    (void)state;
    int there = at(second, true);
    assert_int_equal(listen(there, 4), 0);
    addresses[0] = first, addresses[1] = second;
    reaches(true, FOREVER_MS, second);
    close(there);
}

/* A service in a child process: answers one datagram. */
static void answer_once(int fd)
{
    char packet[1000];
    struct sockaddr_storage from;
    socklen_t len = sizeof from;
    if (fork() != 0)
        return;
    ssize_t n = recvfrom(fd, packet, sizeof packet, 0, (struct sockaddr *)&from, &len);
    bool asked = n > 8 && memcmp(packet, "OPTIONS ", 8) == 0 && memmem(packet, (size_t)n, "\r\n\r\n", 4);
    if (asked && sendto(fd, "SIP/2.0 200 OK\r\n\r\n", 18, 0, (struct sockaddr *)&from, len) > 0)
        _exit(0);
    _exit(1);
}

static void a_refusing_address_is_skipped_over_udp(void **state)
{
    (void)state;
    int there = at(second, false);
    answer_once(there);
    addresses[0] = first, addresses[1] = second;
    reaches(false, FOREVER_MS, second);
    close(there);
}

static void a_silent_address_is_skipped_for_one_that_answers(void **state)
{
    (void)state;
    int silent = at(first, false), there = at(second, false);
    answer_once(there);
    addresses[0] = first, addresses[1] = second;
    reaches(false, FOREVER_MS, second);
    close(silent);
    close(there);
}

static void of_silent_addresses_the_first_is_called(void **state)
{
    (void)state;
    int silent = at(first, false), other = at(second, false);
    addresses[0] = third, addresses[1] = first, addresses[2] = second;
    reaches(false, SOON_MS, first);
    close(silent);
    close(other);
}

static void a_single_address_is_not_probed(void **state)
{
    (void)state;
    port = 9;
    addresses[0] = first;
    reaches(true, SOON_MS, first);
    reaches(false, SOON_MS, first);
}

static void refusals_and_unknown_names_have_different_errors(void **state)
{
    (void)state;
    struct sa unused;
    int tcp, udp = -1; /* bound to the port, so that nobody else can listen to it at all addresses */
    for (tcp = at(reserved, true); (udp = try_at(reserved, false)) < 0; tcp = at(reserved, true)) {
        close(tcp);
        port = 0;
    }
    addresses[0] = first, addresses[1] = second;
    assert_int_equal(reach_find(NAME, port, true, FOREVER_MS, &unused), ECONNREFUSED);
    assert_int_equal(reach_find(NAME, port, false, FOREVER_MS, &unused), ECONNREFUSED);
    assert_int_equal(reach_find("unknown.example", port, true, FOREVER_MS, &unused), ENOENT);
    close(tcp);
    close(udp);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, new_test)
    const struct CMUnitTest tests[] = {
        T(a_refusing_address_is_skipped_over_tcp),
        T(a_refusing_address_is_skipped_over_udp),
        T(a_silent_address_is_skipped_for_one_that_answers),
        T(of_silent_addresses_the_first_is_called),
        T(a_single_address_is_not_probed),
        T(refusals_and_unknown_names_have_different_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
