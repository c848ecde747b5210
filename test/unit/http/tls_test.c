/* TLS from a client's view: versions, ALPN, resumption, the sandbox's certificate, and replacing a certificate. */
#include "http/harness.h"

#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>

#include "http/tls_self_signed.h"

#define REQUEST STR("GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n")

/* A client with its own context; NULL as ssl if the handshake failed. */
struct attempt {
    int version; /* 0: any */
    const unsigned char *alpn;
    unsigned alpn_n;
    SSL_SESSION *session;
    const char *groups; /* NULL: OpenSSL's */
};

static struct client try_tls(uint16_t port, const struct attempt *t)
{
    struct client c = client_plain(port);
    c.ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_security_level(c.ctx, 0);
    if (t->version) {
        SSL_CTX_set_min_proto_version(c.ctx, t->version);
        SSL_CTX_set_max_proto_version(c.ctx, t->version);
    }
    if (t->alpn)
        SSL_CTX_set_alpn_protos(c.ctx, t->alpn, t->alpn_n);
    if (t->groups)
        assert_int_equal(SSL_CTX_set1_groups_list(c.ctx, t->groups), 1);
    c.ssl = SSL_new(c.ctx);
    assert_int_equal(SSL_set_fd(c.ssl, c.fd), 1);
    if (t->session)
        SSL_set_session(c.ssl, t->session);
    if (SSL_connect(c.ssl) != 1) {
        SSL_free(c.ssl);
        c.ssl = NULL;
    }
    return c;
}

static void only_tls_1_2_and_1_3_are_accepted(void **state)
{
    static const struct {
        int version;
        bool spoken;
    } versions[] = {{TLS1_VERSION, false}, {TLS1_1_VERSION, false}, {TLS1_2_VERSION, true}, {TLS1_3_VERSION, true}};
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct client c = try_tls(g.tls, &(struct attempt){.version = versions[i].version});
        assert_int_equal(c.ssl != NULL, versions[i].spoken);
        if (c.ssl) {
            struct answer a = {0};
            assert_int_equal(SSL_version(c.ssl), versions[i].version);
            expect(&c, &a, REQUEST, 200, "");
            answer_done(&a);
        }
        client_close(&c);
    }
    rig_done(&g);
}

static void alpn_selects_only_http_1_1(void **state)
{
    static const unsigned char both[] = "\x02h2\x08http/1.1", only_h2[] = "\x02h2";
    const unsigned char *chosen;
    unsigned n;
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    struct client c = try_tls(g.tls, &(struct attempt){.alpn = both, .alpn_n = sizeof both - 1});
    assert_non_null(c.ssl);
    SSL_get0_alpn_selected(c.ssl, &chosen, &n);
    assert_true(str_eq(str_n((const char *)chosen, n), STR("http/1.1")));
    client_close(&c);
    c = try_tls(g.tls, &(struct attempt){.alpn = only_h2, .alpn_n = sizeof only_h2 - 1});
    assert_null(c.ssl);
    client_close(&c);
    rig_done(&g);
}

static void a_session_is_resumed_by_its_ticket(void **state)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    struct rig g;
    (void)state;
    rig_init(&g);
    g.config.http_threads = 2; /* the ticket is valid on every loop */
    rig_start(&g);
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        SSL_SESSION *session = NULL;
        for (int i = 0; i < 5; i++) {
            struct client c = try_tls(g.tls, &(struct attempt){.version = versions[v], .session = session});
            struct answer a = {0};
            assert_non_null(c.ssl);
            assert_int_equal(SSL_session_reused(c.ssl), i > 0);
            expect(&c, &a, REQUEST, 200, ""); /* TLS 1.3 sends its tickets after the handshake */
            SSL_SESSION_free(session);
            session = SSL_get1_session(c.ssl);
            SSL_shutdown(c.ssl);
            answer_done(&a);
            client_close(&c);
        }
        SSL_SESSION_free(session);
    }
    rig_done(&g);
}

/* HTTP-46 */
static void a_session_is_resumed_after_the_certificate_was_read_again(void **state)
{
    struct rig g;
    struct answer a = {0};
    char *why = NULL;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    struct client c = try_tls(g.tls, &(struct attempt){0});
    expect(&c, &a, REQUEST, 200, "");
    SSL_SESSION *session = SSL_get1_session(c.ssl);
    SSL_shutdown(c.ssl); /* otherwise OpenSSL treats the session as broken */
    client_close(&c);
    assert_int_equal(http_server_reload(g.server, &why), ERR_NONE);
    c = try_tls(g.tls, &(struct attempt){.session = session});
    assert_non_null(c.ssl);
    assert_true(SSL_session_reused(c.ssl));
    SSL_SESSION_free(session);
    client_close(&c);
    answer_done(&a);
    rig_done(&g);
}

/* ---- the cost of a handshake ---- */

static void check_groups(const struct rig *g, const char *offered, bool taken)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        struct client c = try_tls(g->tls, &(struct attempt){.version = versions[v], .groups = offered});
        assert_int_equal(c.ssl != NULL, taken);
        client_close(&c);
    }
}

/* HTTP-44 */
static void expensive_groups_are_refused_unless_configured(void **state)
{
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    check_groups(&g, "X25519:P-256", true);
    check_groups(&g, "P-256", true);
    check_groups(&g, "P-384:P-256", true); /* after asking for P-256 */
    check_groups(&g, "P-384:P-521:X448", false);
    check_groups(&g, "ffdhe2048:ffdhe3072:ffdhe8192", false);
    http_server_free(g.server);
    g.config.tls_groups = "P-384:P-256";
    rig_start(&g);
    check_groups(&g, "P-384:P-256", true);
    check_groups(&g, "ffdhe2048:ffdhe8192", false);
    rig_done(&g);
}

/* The bytes of a client's first flight. */
static size_t client_hello(const char *groups, char *ret, size_t room)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    assert_int_equal(SSL_CTX_set1_groups_list(ctx, groups), 1);
    SSL *ssl = SSL_new(ctx);
    BIO *out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), out);
    assert_int_equal(SSL_connect(ssl), -1);
    int n = BIO_read(out, ret, (int)room);
    assert_true(n > 0);
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    return (size_t)n;
}

/* HTTP-45 */
static void a_hello_is_not_answered_after_its_sender_has_closed(void **state)
{
    char hello[4096], answer[4096];
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    size_t n = client_hello("X25519", hello, sizeof hello);
    struct client c = client_plain(g.tls);
    client_send(&c, str_n(hello, n));
    assert_true(client_recv(&c, answer, sizeof answer) > 0); /* while its sender is there */
    client_close(&c);
    c = client_plain(g.tls);
    assert_int_equal(send(c.fd, hello, n, MSG_MORE), n); /* in one segment with the end */
    shutdown(c.fd, SHUT_WR);
    assert_int_equal(client_recv(&c, answer, sizeof answer), 0);
    client_close(&c);
    rig_done(&g);
}

static void put_u16(struct buf *b, size_t n)
{
    buf_char(b, (char)(n >> 8));
    buf_char(b, (char)n);
}

/* A TLS 1.2 ClientHello with `suites` cipher suites, of which the last is supported. It fits into one record. */
static void put_hello(struct buf *b, size_t suites)
{
    static const char group_and_signature[] = "\0\x0a\0\x04\0\x02\0\x17\0\x0d\0\x04\0\x02\x04\x03";
    size_t extensions = sizeof group_and_signature - 1, body = 2 + 32 + 1 + 2 + 2 * suites + 2 + 2 + extensions;
    buf_lit(b, "\x16\x03\x01");
    put_u16(b, 4 + body);
    buf_lit(b, "\x01\0");
    put_u16(b, body);
    put_u16(b, 0x0303);
    buf_lit(b, "0123456789abcdef0123456789abcdef");
    buf_char(b, 0); /* no session */
    put_u16(b, 2 * suites);
    for (size_t i = 1; i < suites; i++)
        put_u16(b, 0xc0a0);
    put_u16(b, 0xc02b);
    buf_lit(b, "\x01\0");
    put_u16(b, extensions);
    buf_put(b, group_and_signature, extensions);
}

/* HTTP-45 */
static void a_hello_with_oversized_lists_is_refused(void **state)
{
    static const struct {
        size_t suites;
        char record; /* the first byte of the answer: handshake or alert */
    } cases[] = {{100, 22}, {512, 22}, {513, 21}, {8000, 21}};
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char answer[4096];
        struct buf hello = BUF(20000);
        put_hello(&hello, cases[i].suites);
        struct client c = client_plain(g.tls);
        client_send(&c, buf_view(&hello));
        assert_true(client_recv(&c, answer, sizeof answer) > 0);
        assert_int_equal(answer[0], cases[i].record);
        client_close(&c);
        buf_done(&hello);
    }
    rig_done(&g);
}

/* HTTP-45 */
static void a_hello_that_announces_too_much_is_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        bool waits;
    } cases[] = {{"\x16\x03\x01\x00\x04\x01\x00\x40\x00", 9, true},  /* 16,384 bytes */
                 {"\x16\x03\x01\x00\x04\x01\x00\x40\x01", 9, false}, /* one more */
                 {"\x16\x03\x01\x00\x04\x01\x01\xff\xff", 9, false},
                 {"\x16\x03\x01\x00\x01\x01\x16\x03\x01", 9, false}, /* split into fragments */
                 {"\x16\x03\x01\x00\x04\x01\x01\xff", 8, true}};
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char answer[64];
        struct client c = client_plain(g.tls);
        client_send(&c, str_n(cases[i].bytes, cases[i].n));
        if (cases[i].waits)
            assert_int_equal(poll(&(struct pollfd){.fd = c.fd, .events = POLLIN}, 1, 300), 0);
        else
            assert_int_equal(client_recv(&c, answer, sizeof answer), 0);
        client_close(&c);
    }
    rig_done(&g);
}

static void a_hello_may_arrive_byte_by_byte(void **state)
{
    char hello[4096], answer[4096];
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    size_t n = client_hello("X25519", hello, sizeof hello);
    struct client c = client_plain(g.tls);
    setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    for (size_t i = 0; i < n; i++) {
        client_send(&c, str_n(hello + i, 1));
        usleep(i < 20 ? 2000 : 0);
    }
    assert_true(client_recv(&c, answer, sizeof answer) > 0);
    assert_int_equal(answer[0], 22);
    client_close(&c);
    rig_done(&g);
}

/* ---- certificates ---- */

static void serial_of(struct client *c, unsigned char ret[static 32])
{
    X509 *x = SSL_get1_peer_certificate(c->ssl);
    const ASN1_INTEGER *serial = X509_get0_serialNumber(x);
    memset(ret, 0, 32);
    memcpy(ret, ASN1_STRING_get0_data(serial), (size_t)ASN1_STRING_length(serial));
    X509_free(x);
}

static void a_new_certificate_applies_to_new_connections_only(void **state)
{
    unsigned char before[32], after[32];
    struct rig g;
    struct answer a = {0}, b = {0};
    (void)state;
    rig_init(&g);
    rig_start(&g);
    struct client old = client_tls(g.tls);
    serial_of(&old, before);
    char *why = NULL;
    assert_int_equal(tls_self_signed(g.certificate, g.key), ERR_NONE);
    assert_int_equal(http_server_reload(g.server, &why), ERR_NONE);
    struct client fresh = client_tls(g.tls);
    serial_of(&fresh, after);
    assert_memory_not_equal(before, after, sizeof before);
    expect(&old, &a, REQUEST, 200, "");
    expect(&fresh, &b, REQUEST, 200, "");
    answer_done(&a);
    answer_done(&b);
    client_close(&old);
    client_close(&fresh);
    rig_done(&g);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void reload_is_refused(const struct rig *g, const char *reason)
{
    char *why = NULL;
    assert_int_equal(http_server_reload(g->server, &why), ERR_USAGE);
    assert_non_null(strstr(why, reason));
    free(why);
}

static void an_invalid_certificate_does_not_replace_the_loaded_one(void **state)
{
    unsigned char before[32], after[32];
    char other_key[96];
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    struct client c = client_tls(g.tls);
    serial_of(&c, before);
    client_close(&c);
    snprintf(other_key, sizeof other_key, "%s/other.key", g.dir);
    assert_int_equal(tls_self_signed(g.certificate, other_key), ERR_NONE); /* does not match g.key */
    reload_is_refused(&g, g.key);
    write_file(g.certificate, "no certificate\n");
    reload_is_refused(&g, "no start line");
    unlink(g.certificate);
    reload_is_refused(&g, "No such file");
    c = client_tls(g.tls);
    serial_of(&c, after);
    assert_memory_equal(before, after, sizeof before);
    client_close(&c);
    unlink(other_key);
    rig_done(&g);
}

struct reloader {
    struct rig *g;
    pthread_t thread;
    enum err last;
};

static void *reload_often(void *arg)
{
    struct reloader *r = arg;
    char *why = NULL;
    for (int i = 0; i < 50 && !r->last; i++)
        r->last = http_server_reload(r->g->server, &why);
    free(why);
    return NULL;
}

static void reloading_does_not_disturb_handshakes(void **state)
{
    struct rig g;
    struct reloader r = {.g = &g};
    (void)state;
    rig_init(&g);
    g.config.http_threads = 2;
    rig_start(&g);
    assert_int_equal(pthread_create(&r.thread, NULL, reload_often, &r), 0);
    for (int i = 0; i < 50; i++) {
        struct client c = client_tls(g.tls);
        struct answer a = {0};
        expect(&c, &a, REQUEST, 200, "");
        answer_done(&a);
        client_close(&c);
    }
    pthread_join(r.thread, NULL);
    assert_int_equal(r.last, ERR_NONE);
    rig_done(&g);
}

static X509 *read_certificate(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    X509 *x = PEM_read_X509(f, NULL, NULL, NULL);
    fclose(f);
    assert_non_null(x);
    return x;
}

/* SERVICE-15 */
static void the_sandbox_certificate_is_generated_once_for_this_machine(void **state)
{
    struct rig g;
    struct stat st;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    X509 *x = read_certificate(g.certificate);
    assert_int_equal(X509_check_host(x, "localhost", 0, 0, NULL), 1);
    assert_int_equal(X509_check_ip_asc(x, "127.0.0.1", 0), 1);
    assert_int_equal(X509_check_ip_asc(x, "::1", 0), 1);
    assert_int_equal(X509_check_host(x, "example.com", 0, 0, NULL), 0);
    assert_true(X509_cmp_time(X509_get0_notBefore(x), &(time_t){time(NULL)}) < 0);
    assert_true(X509_cmp_time(X509_get0_notAfter(x), &(time_t){time(NULL) + 3000L * 86400}) > 0);
    assert_int_equal(stat(g.key, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    http_server_free(g.server);
    rig_start(&g);
    X509 *again = read_certificate(g.certificate);
    assert_int_equal(X509_cmp(x, again), 0);
    X509_free(x);
    X509_free(again);
    rig_done(&g);
}

static void the_sandbox_certificate_verifies_when_it_is_trusted(void **state)
{
    struct rig g;
    struct answer a = {0};
    (void)state;
    rig_init(&g);
    rig_start(&g);
    struct client c = client_plain(g.tls);
    c.ctx = SSL_CTX_new(TLS_client_method());
    assert_int_equal(SSL_CTX_load_verify_file(c.ctx, g.certificate), 1);
    SSL_CTX_set_verify(c.ctx, SSL_VERIFY_PEER, NULL);
    c.ssl = SSL_new(c.ctx);
    assert_int_equal(SSL_set1_host(c.ssl, "localhost"), 1);
    assert_int_equal(SSL_set_fd(c.ssl, c.fd), 1);
    assert_int_equal(SSL_connect(c.ssl), 1);
    expect(&c, &a, REQUEST, 200, "");
    answer_done(&a);
    client_close(&c);
    rig_done(&g);
}

static void assert_not_started(struct rig *g, enum err expected, const char *part)
{
    struct http_handler h = {.ctx = g, .head = rig_head, .request = rig_request, .refuse = rig_refuse};
    char *why = NULL;
    struct http_server *s = NULL;
    assert_int_equal(http_server_new(&g->config, NULL, h, &s, &why), expected);
    assert_null(s);
    assert_non_null(why);
    if (!strstr(why, part))
        fail_msg("\"%s\" does not name %s", why, part);
    free(why);
}

static void an_invalid_certificate_is_reported(void **state)
{
    char other_key[96];
    struct rig g;
    (void)state;
    rig_init(&g);
    g.config.tls_certificate = g.certificate;
    g.config.tls_key = g.key;
    assert_not_started(&g, ERR_USAGE, g.certificate);
    assert_int_equal(tls_self_signed(g.certificate, g.key), ERR_NONE);
    snprintf(other_key, sizeof other_key, "%s/other.key", g.dir);
    assert_int_equal(rename(g.key, other_key), 0);
    assert_not_started(&g, ERR_USAGE, g.key);
    assert_int_equal(tls_self_signed(g.certificate, g.key), ERR_NONE);
    g.config.tls_key = other_key;
    assert_not_started(&g, ERR_USAGE, other_key);
    g.config.tls_certificate = g.config.tls_key = "";
    g.config.production = true;
    assert_not_started(&g, ERR_USAGE, "tls.certificate");
    unlink(other_key);
    rig_done(&g);
}

static void encrypt_key(const char *path)
{
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    EVP_PKEY *key = PEM_read_PrivateKey(f, NULL, NULL, NULL);
    assert_non_null(key);
    rewind(f);
    assert_int_equal(PEM_write_PKCS8PrivateKey(f, key, EVP_aes_256_cbc(), "secret", 6, NULL, NULL), 1);
    assert_int_equal(fclose(f), 0);
    EVP_PKEY_free(key);
}

/* On a terminal of its own: OpenSSL's default is to ask there for the pass phrase. */
static void an_encrypted_key_is_refused_without_a_prompt(void **state)
{
    struct rig g;
    char text[256] = "";
    int terminal, status;
    (void)state;
    rig_init(&g);
    g.config.tls_certificate = g.certificate;
    g.config.tls_key = g.key;
    assert_int_equal(tls_self_signed(g.certificate, g.key), ERR_NONE);
    encrypt_key(g.key);
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    assert_true(child >= 0);
    if (child == 0) {
        struct http_server *s = NULL;
        char *why = NULL;
        enum err e = http_server_new(&g.config, NULL, (struct http_handler){0}, &s, &why);
        _exit(e == ERR_USAGE && why && strstr(why, g.key) && strstr(why, "encrypted") ? 0 : 1);
    }
    ssize_t shown = read(terminal, text, sizeof text - 1);
    kill(child, SIGKILL); /* waits for an answer to its prompt, if it has not ended */
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_string_equal(text, "");
    assert_true(shown <= 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(terminal);
    rig_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_tls_1_2_and_1_3_are_accepted),
        cmocka_unit_test(alpn_selects_only_http_1_1),
        cmocka_unit_test(a_session_is_resumed_by_its_ticket),
        cmocka_unit_test(a_session_is_resumed_after_the_certificate_was_read_again),
        cmocka_unit_test(expensive_groups_are_refused_unless_configured),
        cmocka_unit_test(a_hello_is_not_answered_after_its_sender_has_closed),
        cmocka_unit_test(a_hello_with_oversized_lists_is_refused),
        cmocka_unit_test(a_hello_that_announces_too_much_is_refused),
        cmocka_unit_test(a_hello_may_arrive_byte_by_byte),
        cmocka_unit_test(a_new_certificate_applies_to_new_connections_only),
        cmocka_unit_test(an_invalid_certificate_does_not_replace_the_loaded_one),
        cmocka_unit_test(reloading_does_not_disturb_handshakes),
        cmocka_unit_test(the_sandbox_certificate_is_generated_once_for_this_machine),
        cmocka_unit_test(the_sandbox_certificate_verifies_when_it_is_trusted),
        cmocka_unit_test(an_invalid_certificate_is_reported),
        cmocka_unit_test(an_encrypted_key_is_refused_without_a_prompt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
