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

/* A datagram socket of a name the kernel chooses (abstract), which *ret_name gets in systemd's form: "@00001". */
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

static void the_manager_is_told(void **state)
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

static void without_a_manager_nothing_happens(void **state)
{
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    assert_int_equal(notify_send("READY=1"), ERR_NONE);
    setenv("NOTIFY_SOCKET", "", 1);
    assert_int_equal(notify_send("READY=1"), ERR_NONE);
}

static void a_socket_that_is_not_there_is_an_error(void **state)
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
        cmocka_unit_test(the_manager_is_told),
        cmocka_unit_test(without_a_manager_nothing_happens),
        cmocka_unit_test(a_socket_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
