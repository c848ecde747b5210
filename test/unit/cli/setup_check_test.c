/* The checks of `porterod setup` of the world around a configuration: what is told of each thing that is not as it must
 * be. All addresses are on loopback, or numbers. */
#include "cli/setup_check.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unit.h"
#include "http/tls_self_signed.h"

static char directory[] = "/tmp/portero-setup-check-XXXXXX";
static char told[8192]; /* a line for each report */

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int make_directory(void **state)
{
    char certificate[128];
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(certificate, sizeof certificate, "%s", path_of("a.pem"));
    return tls_self_signed_for("192.0.2.7", certificate, path_of("a.key")) ? -1 : 0;
}

static int remove_directory(void **state)
{
    (void)state;
    return unlink(path_of("a.pem")) || unlink(path_of("a.key")) || rmdir(directory);
}

static void report(enum setup_result r, const char *what, const char *text)
{
    static const char *const results[] = {[SETUP_OK] = "ok", [SETUP_WARNING] = "warning", [SETUP_FAILED] = "failed"};
    const size_t n = strlen(told);
    snprintf(told + n, sizeof told - n, "%s %s: %s\n", results[r], what, text);
}

/* Binds a socket of loopback. Returns its descriptor, -1 if the port is taken. *port: 0 is replaced by the one taken.
 */
static int bind_port(int type, unsigned *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    at.sin_port = htons((uint16_t)*port);
    assert_true(fd >= 0);
    if (bind(fd, (struct sockaddr *)&at, n)) {
        close(fd);
        return -1;
    }
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

/* Takes a port of both kinds, so that nobody else answers there: the one of UDP has another peer, and refuses. */
static void take_port(int ret_fds[static 2], unsigned *ret_port)
{
    const struct sockaddr_in other = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(9)};
    for (*ret_port = 0;; *ret_port = 0) {
        ret_fds[0] = bind_port(SOCK_STREAM, ret_port);
        ret_fds[1] = bind_port(SOCK_DGRAM, ret_port);
        if (ret_fds[1] >= 0)
            break;
        close(ret_fds[0]);
    }
    assert_int_equal(connect(ret_fds[1], (const struct sockaddr *)&other, sizeof other), 0);
}

/* The text with the directory in place of @, and the port in place of #. */
static void fill(const char *text, unsigned port, struct buf *to)
{
    for (; *text; text++)
        if (*text == '@')
            buf_str(to, str_z(directory));
        else if (*text == '#')
            buf_printf(to, "%u", port);
        else
            buf_char(to, *text);
}

/* Of a configuration without a fault. A later key of a section that is given again is refused, so rows replace these.
 */
#define HEAD(url, https)                                                                                               \
    "mode = sandbox\ndata_dir = \"@/data\"\npublic_url = \"" url "\"\nlisten { https = \"" https "\"\n"
#define REST(certificate)                                                                                              \
    " http = \"\"\n }\ntls { certificate = \"" certificate "\"\n key = \"@/a.key\"\n }\nmail { provider = smtp\n"      \
    " url = \"smtp://127.0.0.1:1\"\n from = \"door\"\n "
#define SIP(sip)      " sip = \"" sip "\"\n"
#define PLAIN         HEAD("https://192.0.2.7:0", "127.0.0.1:0") SIP("127.0.0.1:0") REST("@/a.pem")
#define CALLERS       "}\nvoice { peers = {\"127.0.0.1\"}\n"
#define TRUNK(server) "}\nvoice { destinations = \"+1\"\n peer pbx { server = \"" server "\"\n }\n"

static const struct {
    const char *text; /* without its last brace */
    const char *has, *lacks;
} worlds[] = {
    {PLAIN, "ok name: 192.0.2.7 is 192.0.2.7\n", " port: public_url"},
    {PLAIN, "ok port: listen.https 127.0.0.1:0 is free\n", NULL},
    {PLAIN, "warning certificate: is self-signed", "failed certificate"},
    {PLAIN, "warning callers: any host that reaches the SIP port may call", " destinations: "},
    {PLAIN, "failed mail: smtp://127.0.0.1:1: ", "failed file"},
    {PLAIN CALLERS, "ok port", " callers: "},
    {HEAD("https://127.0.0.1:0", "127.0.0.1:0") SIP("") REST("@/a.pem"),
     "warning name: 127.0.0.1 is 127.0.0.1 here: no other machine reaches this one by that.", NULL},
    {HEAD("https://192.0.2.7", "127.0.0.1:0") SIP("") REST("@/a.pem"),
     "warning port: public_url has port 443, the service listens on 0: a proxy in front must connect them\n", NULL},
    {HEAD("https://[2001:db8::7]:8443/x", "[::1]:8443") SIP("") REST("@/a.pem"),
     "ok name: 2001:db8::7 is 2001:db8::7\n", " port: public_url"},
    {HEAD("https://192.0.2.8:0", "127.0.0.1:0") SIP("") REST("@/a.pem"),
     "failed certificate: is not for 192.0.2.8: get one for this name\n", "self-signed"},
    /* the port that the test has */
    {HEAD("https://192.0.2.7:#", "127.0.0.1:#") SIP("") REST("@/a.pem"),
     "warning port: listen.https 127.0.0.1:# is in use: if not by Portero, stop the program or choose another\n", NULL},
    {HEAD("https://192.0.2.7:0", "127.0.0.1:0") SIP("127.0.0.1:#") REST("@/a.pem"),
     "warning port: listen.sip 127.0.0.1:# is in use", NULL},
    /* files */
    {HEAD("https://192.0.2.7:0", "127.0.0.1:0") SIP("") REST("@/none.pem"),
     "failed file: tls.certificate @/none.pem: user of this process cannot read it: No such file or directory: change "
     "its owner or mode, or those of its directory\n",
     NULL},
    {HEAD("https://192.0.2.7:0", "127.0.0.1:0") SIP("") REST("@/none.pem"),
     "failed certificate: @/none.pem: cannot be read\n", NULL},
    {HEAD("https://192.0.2.7:0", "127.0.0.1:0") SIP("") REST("@/a.key"),
     "failed certificate: @/a.key: cannot be read\n", NULL},
    {PLAIN "user = \"u\"\n password = \"file:@/none\"\n", "failed file: mail.password @/none: ", NULL},
    {PLAIN "user = \"u\"\n password = \"secret-of-mail\"\n", "failed mail", "secret-of-mail"},
    /* the trunk */
    {PLAIN TRUNK("127.0.0.1:#"), "failed trunk: 127.0.0.1:#: Connection refused: check its address", "callers"},
    {PLAIN "}\nvoice { peer pbx { server = \"127.0.0.1:#\"\n }\n",
     "warning destinations: residents can have any telephone number called", NULL},
};

static struct config *configuration_of(const char *text, unsigned port)
{
    struct buf filled = BUF(1u << 16), faults = BUF(CONFIG_FAULTS_MAX);
    fill(text, port, &filled);
    buf_str(&filled, STR("}\n"));
    struct config *c = config_read_text("portero.conf", buf_view(&filled), &faults);
    if (!c || faults.n)
        fail_msg("%s: %.*s", text, STR_ARG(buf_view(&faults)));
    buf_done(&faults);
    buf_done(&filled);
    return c;
}

static void each_thing_that_is_not_as_it_must_be_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(worlds); i++) {
        unsigned port;
        struct buf has = BUF(4096);
        int fds[2];
        take_port(fds, &port);
        struct config *c = configuration_of(worlds[i].text, port);
        told[0] = '\0';
        (void)setup_check(c, path_of("a.pem"), NULL, report);
        fill(worlds[i].has, port, &has);
        buf_char(&has, '\0');
        if (!strstr(told, has.p) || (worlds[i].lacks && strstr(told, worlds[i].lacks)))
            fail_msg("%zu: %s\n%s", i, has.p, told);
        buf_done(&has);
        config_free(c);
        close(fds[0]);
        close(fds[1]);
    }
}

static void a_configuration_that_others_can_change_is_told(void **state)
{
    static const struct {
        mode_t mode;
        bool is;
    } cases[] = {{0640, false}, {0660, true}, {0642, true}};
    struct config *c = configuration_of(PLAIN, 0);
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        told[0] = '\0';
        assert_int_equal(chmod(path_of("a.key"), cases[i].mode), 0);
        assert_int_equal(setup_check(c, path_of("a.key"), NULL, report), SETUP_FAILED);
        assert_int_equal(strstr(told, "other users can change it: chmod go-w it") != NULL, cases[i].is);
    }
    config_free(c);
}

/* ---- the host of a URL ---- */

static const struct {
    const char *url, *host, *rest;
} urls[] = {
    {"https://door.example.com", "door.example.com", ""},
    {"https://door.example.com:8443/x", "door.example.com", ":8443/x"},
    {"https://door.example.com/a:b", "door.example.com", "/a:b"},
    {"https://192.0.2.7:1", "192.0.2.7", ":1"},
    {"https://[2001:db8::7]:8443", "2001:db8::7", ":8443"},
    {"https://[2001:db8::7]", "2001:db8::7", ""},
    {"https://[2001:db8::7", "2001:db8::7", ""},
    {"door.example.com:8443", "door.example.com", ":8443"},
    {"https://", "", ""},
    {"", "", ""},
};

static void the_host_of_a_url_has_neither_port_nor_brackets(void **state)
{
    char host[SETUP_HOST_MAX], longest[2 * SETUP_HOST_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT(urls); i++) {
        assert_string_equal(setup_host(urls[i].url, host), urls[i].rest);
        assert_string_equal(host, urls[i].host);
    }
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_string_equal(setup_host(longest, host), "");
    assert_int_equal(strlen(host), SETUP_HOST_MAX - 1);
}

/* ---- certificates ---- */

static void a_certificate_fits_its_own_host(void **state)
{
    char why[SETUP_TEXT_MAX];
    (void)state;
    assert_true(setup_certificate_fits(path_of("a.pem"), "192.0.2.7", why));
    assert_false(setup_certificate_fits(path_of("a.pem"), "192.0.2.70", why));
    assert_string_equal(why, "is not for 192.0.2.70: get one for this name");
    assert_false(setup_certificate_fits(path_of("a.key"), "192.0.2.7", why));
    assert_string_equal(why, "cannot be read");
    assert_false(setup_certificate_fits(directory, "192.0.2.7", why));
    assert_string_equal(why, "cannot be read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thing_that_is_not_as_it_must_be_is_told),
        cmocka_unit_test(a_configuration_that_others_can_change_is_told),
        cmocka_unit_test(the_host_of_a_url_has_neither_port_nor_brackets),
        cmocka_unit_test(a_certificate_fits_its_own_host),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
