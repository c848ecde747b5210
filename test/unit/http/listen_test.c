/* Listening sockets: valid addresses, addresses in use, and ownership of the control socket. */
#include "http/listen.h"

#include "http/harness.h"

static void an_address_is_bound_and_reported_with_its_port(void **state)
{
    static const struct {
        const char *address, *prefix;
    } cases[] = {{"127.0.0.1:0", "127.0.0.1:"}, {"[::1]:0", "[::1]:"}, {":0", ""}, {"localhost:0", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[HTTP_BOUND_TEXT];
        int fd = -1;
        enum err e = http_listen_tcp(cases[i].address, false, &fd);
        if (e && cases[i].address[0] == '[')
            continue; /* no IPv6 here */
        assert_int_equal(e, ERR_NONE);
        http_listen_text(fd, text);
        assert_int_equal(strncmp(text, cases[i].prefix, strlen(cases[i].prefix)), 0);
        assert_true(rig_port(text) > 0);
        close(fd);
    }
}

static void an_invalid_address_is_refused(void **state)
{
    static const char *const bad[] = {"",         "127.0.0.1",        "8080", "127.0.0.1:", "127.0.0.1:http",
                                      "::1:8080", "127.0.0.1:99999x", "[::1", "[::1]8080"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int fd = -1;
        if (http_listen_tcp(bad[i], false, &fd) != ERR_USAGE)
            fail_msg("\"%s\" was taken for an address", bad[i]);
        assert_int_equal(fd, -1);
    }
}

static void a_port_in_use_is_not_shared_by_accident(void **state)
{
    char text[HTTP_BOUND_TEXT];
    int first, second = -1;
    (void)state;
    assert_int_equal(http_listen_tcp("127.0.0.1:0", false, &first), ERR_NONE);
    http_listen_text(first, text);
    assert_int_equal(http_listen_tcp(text, false, &second), ERR_IO);
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(http_listen_tcp(text, true, &second), ERR_NONE);
    close(first);
    close(second);
}

static void a_second_server_on_the_same_addresses_fails(void **state)
{
    char address[HTTP_BOUND_TEXT], *why = NULL;
    struct rig g;
    struct http_server *second = NULL;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    struct http_handler h = {.ctx = &g, .head = rig_head, .request = rig_request, .refuse = rig_refuse};
    struct config c = g.config;
    assert_int_equal(http_server_new(&c, g.control, h, &second, &why), ERR_IO);
    assert_non_null(strstr(why, g.control));
    free(why);
    assert_int_equal(access(g.control, F_OK), 0); /* the first server's still exists */
    snprintf(address, sizeof address, "%s", http_server_http(g.server));
    c.listen_http = address;
    assert_int_equal(http_server_new(&c, NULL, h, &second, &why), ERR_IO);
    assert_non_null(strstr(why, address));
    free(why);
    rig_done(&g);
}

static void the_port_is_reserved_before_the_server_starts(void **state)
{
    struct rig g;
    char *why = NULL;
    (void)state;
    rig_init(&g);
    rig_bind(&g);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)rig_port(http_server_http(g.server))),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int other = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)), 0); /* as most servers do */
    assert_int_equal(bind(other, (struct sockaddr *)&at, sizeof at), -1);
    assert_int_equal(errno, EADDRINUSE);
    close(other);
    assert_int_equal(http_server_start(g.server, &why), ERR_NONE);
    rig_done(&g);
}

static void listeners_are_optional(void **state)
{
    struct rig g;
    (void)state;
    rig_init(&g);
    g.config.listen_https = "";
    rig_start(&g);
    assert_null(http_server_https(g.server));
    assert_non_null(http_server_http(g.server));
    assert_int_equal(access(g.certificate, F_OK), -1); /* no certificate is generated without a listener */
    rig_done(&g);
}

static void a_stale_control_socket_is_replaced_and_other_files_are_not(void **state)
{
    char dir[] = "/tmp/http_test_XXXXXX", path[64];
    int fd;
    struct stat st;
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/control", dir);
    assert_int_equal(http_listen_unix(path, &fd), ERR_NONE);
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
    close(fd); /* a killed process leaves the file */
    assert_int_equal(http_listen_unix(path, &fd), ERR_NONE);
    int second;
    assert_int_equal(http_listen_unix(path, &second), ERR_IO);
    assert_int_equal(errno, EADDRINUSE);
    close(fd);
    unlink(path);

    FILE *f = fopen(path, "w");
    fclose(f);
    assert_int_equal(http_listen_unix(path, &fd), ERR_IO);
    assert_int_equal(errno, EADDRINUSE);
    unlink(path);
    rmdir(dir);
}

static void a_path_that_is_too_long_for_a_socket_is_refused(void **state)
{
    char path[200];
    int fd;
    (void)state;
    memset(path, 'p', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    assert_int_equal(http_listen_unix(path, &fd), ERR_IO);
    assert_int_equal(errno, ENAMETOOLONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_bound_and_reported_with_its_port),
        cmocka_unit_test(an_invalid_address_is_refused),
        cmocka_unit_test(a_port_in_use_is_not_shared_by_accident),
        cmocka_unit_test(a_second_server_on_the_same_addresses_fails),
        cmocka_unit_test(the_port_is_reserved_before_the_server_starts),
        cmocka_unit_test(listeners_are_optional),
        cmocka_unit_test(a_stale_control_socket_is_replaced_and_other_files_are_not),
        cmocka_unit_test(a_path_that_is_too_long_for_a_socket_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
