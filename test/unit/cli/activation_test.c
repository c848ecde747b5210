#include "cli/activation.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "http/listen.h"

#define FIRST_FD 3

/* ---- descriptors of systemd; in a child process, since the descriptors have fixed numbers ---- */

static int listening(int family, int type)
{
    int fd = socket(family, type, 0);
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || (family == AF_INET && bind(fd, (const struct sockaddr *)&at, sizeof at)) ||
        (type == SOCK_STREAM && listen(fd, 1)))
        exit(99);
    return fd;
}

enum passed { TCP, UDP, UNBOUND, NOTHING };

/* Makes `fd` the descriptor that systemd would pass. */
static void pass(int fd, enum passed what)
{
    close(fd);
    if (what == NOTHING)
        return;
    const int made = what == TCP   ? listening(AF_INET, SOCK_STREAM)
                     : what == UDP ? listening(AF_INET, SOCK_DGRAM)
                                   : socket(AF_INET, SOCK_STREAM, 0);
    if (made != fd && (dup2(made, fd) != fd || close(made)))
        exit(99);
}

struct take {
    const char *pid; /* NULL: this process */
    const char *fds, *names;
    enum passed passed[2];
    /* Expected: */
    const char *why; /* a part of it; NULL: no error */
    const char *https, *http, *metrics;
};

static void expect(bool right, int code)
{
    if (!right)
        exit(code);
}

static void expect_taken(const struct take *t, const struct config *c)
{
    expect(strcmp(c->listen_https, t->https) == 0, 3);
    expect(strcmp(c->listen_http, t->http) == 0, 4);
    expect(strcmp(c->listen_metrics, t->metrics) == 0, 5);
    for (int i = 0; i < 2; i++)
        if (strstr(t->https, HTTP_INHERITED) && t->passed[i] == TCP)
            expect(fcntl(FIRST_FD + i, F_GETFD) == FD_CLOEXEC, 6);
}

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void take_in_child(const struct take *t)
{
    char pid[16], *why = NULL;
    struct config c = {.listen_https = "own:1", .listen_http = "own:2", .listen_metrics = ""};
    arena_init(&c.arena, NULL, 0);
    for (int i = 0; i < 2; i++)
        pass(FIRST_FD + i, t->passed[i]);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    set("LISTEN_PID", t->pid ? t->pid : pid);
    set("LISTEN_FDS", t->fds);
    set("LISTEN_FDNAMES", t->names);
    const enum err e = activation_take(&c, &why);
    if (t->why) {
        expect(e == ERR_USAGE, 1);
        expect(why && strstr(why, t->why), 2);
    } else {
        expect(e == ERR_NONE && !why, 1);
        expect_taken(t, &c);
    }
    free(why);
    arena_done(&c.arena);
    exit(0);
}

static void takes(const struct take *t)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        take_in_child(t);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define OWN .https = "own:1", .http = "own:2", .metrics = ""

/* ---- tests ---- */

static void sockets_replace_the_addresses_of_their_names(void **state)
{
    (void)state;
    takes(&(struct take){
        .fds = "2", .names = "https:http", .https = HTTP_INHERITED "3", .http = HTTP_INHERITED "4", .metrics = ""});
    takes(&(struct take){.fds = "2",
                         .names = "metrics:https",
                         .https = HTTP_INHERITED "4",
                         .http = "own:2",
                         .metrics = HTTP_INHERITED "3"});
    /* Names without a socket are nobody's. */
    takes(&(struct take){.fds = "1",
                         .names = "https:other:",
                         .passed = {TCP, NOTHING},
                         .https = HTTP_INHERITED "3",
                         .http = "own:2",
                         .metrics = ""});
}

static void descriptors_for_another_process_are_left_alone(void **state)
{
    (void)state;
    takes(&(struct take){.pid = "1", .fds = "2", .names = "https:http", OWN});
    takes(&(struct take){.pid = "", .fds = "2", .names = "https:http", OWN});
    takes(&(struct take){.pid = "12x", .fds = "2", .names = "https:http", OWN});
    takes(&(struct take){.pid = "99999999999999999999", .fds = "2", .names = "https:http", OWN});
    takes(&(struct take){.fds = NULL, .names = "https:http", OWN});
    takes(&(struct take){.fds = "0", .names = "", OWN});
}

static void a_count_that_is_none_is_refused(void **state)
{
    static const char *const counts[] = {"", "x", "-1", "+2", " 2", "2 ", "17", "18446744073709551618"};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        takes(&(struct take){.fds = counts[i], .names = "https:http", .why = "LISTEN_FDS must be a number up to 16"});
}

static void a_name_must_belong_to_a_listener_and_be_given_once(void **state)
{
    (void)state;
    takes(&(struct take){.fds = "1", .names = NULL, .why = "socket 3: FileDescriptorName=: must be https"});
    takes(&(struct take){.fds = "1", .names = "portero.socket", .why = "must be https, http or metrics"});
    takes(&(struct take){.fds = "1", .names = "HTTPS", .why = "must be https, http or metrics"});
    takes(&(struct take){.fds = "1", .names = "httpsx", .why = "must be https, http or metrics"});
    takes(&(struct take){.fds = "2", .names = "https", .why = "socket 4: FileDescriptorName=: must be https"});
    takes(&(struct take){.fds = "2", .names = "https:https", .why = "socket 4: FileDescriptorName=https: given twice"});
}

static void a_descriptor_must_listen_for_tcp(void **state)
{
    static const enum passed others[] = {UDP, UNBOUND, NOTHING};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        takes(&(struct take){.fds = "2",
                             .names = "http:https",
                             .passed = {TCP, others[i]},
                             .why = "socket 4: FileDescriptorName=https: does not listen for TCP connections"});
}

static void the_variables_do_not_reach_other_processes(void **state)
{
    char pid[16], *why = NULL;
    struct config c = {.listen_https = "", .listen_http = "", .listen_metrics = ""};
    (void)state;
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    set("LISTEN_PID", pid);
    set("LISTEN_FDS", "0");
    set("LISTEN_FDNAMES", "");
    assert_int_equal(activation_take(&c, &why), ERR_NONE);
    assert_null(getenv("LISTEN_PID"));
    assert_null(getenv("LISTEN_FDS"));
    assert_null(getenv("LISTEN_FDNAMES"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sockets_replace_the_addresses_of_their_names),
        cmocka_unit_test(descriptors_for_another_process_are_left_alone),
        cmocka_unit_test(a_count_that_is_none_is_refused),
        cmocka_unit_test(a_name_must_belong_to_a_listener_and_be_given_once),
        cmocka_unit_test(a_descriptor_must_listen_for_tcp),
        cmocka_unit_test(the_variables_do_not_reach_other_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
