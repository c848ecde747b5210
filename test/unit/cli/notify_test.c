#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/notify.h"

/* Opens a datagram socket with an abstract name that the kernel chooses. *ret_name: its name for systemd, "@00001". */
static int listen_anywhere(char *ret_name, size_t size)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address;
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address.sun_family), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    snprintf(ret_name, size, "@%.*s", (int)(length - offsetof(struct sockaddr_un, sun_path) - 1), address.sun_path + 1);
    return fd;
}

static void a_state_is_sent_to_the_socket(void **state)
{
    (void)state;
    char name[128], text[64];
    int fd = listen_anywhere(name, sizeof name);
    setenv("NOTIFY_SOCKET", name, 1);
    assert_int_equal(notify_send("READY=1"), ERR_NONE);
    ssize_t n = recv(fd, text, sizeof text, 0);
    assert_int_equal(n, strlen("READY=1"));
    assert_memory_equal(text, "READY=1", (size_t)n);
    close(fd);
}

static void nothing_is_sent_without_a_socket(void **state)
{
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    assert_int_equal(notify_send("READY=1"), ERR_NONE);
    setenv("NOTIFY_SOCKET", "", 1);
    assert_int_equal(notify_send("READY=1"), ERR_NONE);
}

static void a_missing_socket_is_an_error(void **state)
{
    (void)state;
    setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
    assert_int_equal(notify_send("READY=1"), ERR_IO);
    setenv("NOTIFY_SOCKET", "relative", 1);
    assert_int_equal(notify_send("READY=1"), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_sent_to_the_socket),
        cmocka_unit_test(nothing_is_sent_without_a_socket),
        cmocka_unit_test(a_missing_socket_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
