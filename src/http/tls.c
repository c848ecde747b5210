#include "http/tls.h"

#include <openssl/err.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/loaded.h"
#include "base/mem.h"
#include "base/metric.h"
#include "http/tls_tickets.h"
#include "net/tls.h"

/* Bytes of a ClientHello's lists. Browsers need a fraction; libssl would process 60,000 of each. */
#define CIPHERS_MAX    1024
#define EXTENSION_MAX  2048
#define KEY_SHARES_MAX 8192 /* a post-quantum one has more than 1,000 */

#define HELLO_START 9     /* bytes: a record's header (RFC 8446 section 5.1), and a handshake message's (section 4) */
#define HELLO_MAX   16384 /* a record; libssl would go up to 131,396 */

#define RECORD_MAX 8192 /* libssl holds one for a peer that does not read; smaller ones cost more than they save */

struct http_tls {
    char *certificate, *key, *groups; /* the first two are paths */
    struct tls_tickets tickets;
    pthread_mutex_t lock;
    SSL_CTX *ctx; /* under the lock; each connection holds a reference */
};

/* RFC 7301: a handshake without a common protocol fails. */
static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_n, const unsigned char *in,
                           unsigned in_n, void *arg)
{
    static const unsigned char protocols[] = "\x08http/1.1";
    unsigned char *chosen;
    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto(&chosen, out_n, protocols, sizeof protocols - 1, in, in_n) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* An encrypted key does not load: sets *arg. Without this callback OpenSSL would ask for the pass phrase on the
 * terminal. NOLINTNEXTLINE(readability-non-const-parameter): the type is OpenSSL's */
static int no_pass_phrase(char *buf, int size, int rwflag, void *arg)
{
    (void)buf;
    (void)size;
    (void)rwflag;
    *(bool *)arg = true;
    return -1;
}

/* Refuses a ClientHello with oversized lists before any of it is processed. */
static int check_hello(SSL *ssl, int *alert, void *arg)
{
    const unsigned char *p;
    size_t n = 0;
    int *types = NULL;
    (void)arg;
    bool fine = SSL_client_hello_get0_ciphers(ssl, &p) <= CIPHERS_MAX &&
                SSL_client_hello_get1_extensions_present(ssl, &types, &n) == 1;
    for (size_t i = 0; fine && i < n; i++) {
        size_t most = types[i] == TLSEXT_TYPE_key_share ? KEY_SHARES_MAX : EXTENSION_MAX, length = 0;
        fine = SSL_client_hello_get0_ext(ssl, (unsigned)types[i], &p, &length) == 1 && length <= most;
    }
    OPENSSL_free(types);
    *alert = SSL_AD_ILLEGAL_PARAMETER;
    return fine ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_ERROR;
}

static int ticket_key(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac,
                      int encrypt)
{
    struct http_tls *t = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    return tls_tickets_key(&t->tickets, clock_monotonic_us(), name, iv, cipher, mac, encrypt);
}

static bool configure_context(SSL_CTX *ctx, const struct http_tls *t)
{
    static const unsigned char id[] = "portero";
    /* An end of input without close_notify is harmless here: every request has a length. */
    SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA |
                                 SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx,
                     SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    net_tls_bound(ctx);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_max_send_fragment(ctx, RECORD_MAX);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF); /* resumption is by tickets, which the client keeps */
    SSL_CTX_set_timeout(ctx, TLS_TICKETS_PERIOD_S);
    SSL_CTX_set_app_data(ctx, (void *)(uintptr_t)t);
    SSL_CTX_set_client_hello_cb(ctx, check_hello, NULL);
    SSL_CTX_set_alpn_select_cb(ctx, select_protocol, NULL);
    return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
           SSL_CTX_set1_groups_list(ctx, t->groups) == 1 &&
           SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, ticket_key) == 1 &&
           SSL_CTX_set_session_id_context(ctx, id, sizeof id - 1) == 1;
}

/* The first error is the cause ("No such file or directory", "no start line"); later ones say "system lib". */
static const char *first_reason(void)
{
    unsigned long first = ERR_peek_error();
    const char *reason =
        ERR_SYSTEM_ERROR(first) ? strerrordesc_np((int)ERR_GET_REASON(first)) : ERR_reason_error_string(first);
    return reason ? reason : "cannot be read";
}

static bool load_key(SSL_CTX *ctx, const char *path, bool *ret_encrypted)
{
    SSL_CTX_set_default_passwd_cb(ctx, no_pass_phrase);
    SSL_CTX_set_default_passwd_cb_userdata(ctx, ret_encrypted);
    bool loaded = SSL_CTX_use_PrivateKey_file(ctx, path, SSL_FILETYPE_PEM) == 1 && SSL_CTX_check_private_key(ctx) == 1;
    SSL_CTX_set_default_passwd_cb_userdata(ctx, NULL);
    return loaded;
}

static void note_certificate_end(const SSL_CTX *ctx)
{
    struct tm end;
    if (ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(ctx)), &end) == 1)
        metric_set(metrics.certificate_end, (int64_t)timegm(&end) * US_PER_S);
}

/* As `openssl x509 -fingerprint -sha256` writes it. */
static void note_certificate(const struct http_tls *t, const SSL_CTX *ctx)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    char text[LOADED_FINGERPRINT_MAX] = "";
    unsigned n = 0;
    if (X509_digest(SSL_CTX_get0_certificate(ctx), EVP_sha256(), digest, &n) == 1)
        for (unsigned i = 0; i < n; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%02X", i ? ":" : "", digest[i]);
    loaded_certificate(t->certificate, text);
}

static enum err load_context(const struct http_tls *t, SSL_CTX **ret, char **ret_why)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    const char *at = t->certificate;
    bool encrypted = false;
    ERR_clear_error();
    if (!ctx || !configure_context(ctx, t) || SSL_CTX_use_certificate_chain_file(ctx, t->certificate) != 1)
        goto fail;
    at = t->key;
    if (!load_key(ctx, t->key, &encrypted))
        goto fail;
    note_certificate_end(ctx);
    note_certificate(t, ctx);
    *ret = ctx;
    return ERR_NONE;
fail:;
    enum err e = err_why(ret_why, ERR_USAGE, "%s: %s", at, encrypted ? "the key is encrypted" : first_reason());
    ERR_clear_error();
    SSL_CTX_free(ctx);
    return e;
}

enum err http_tls_new(const char *certificate, const char *key, const char *groups, struct http_tls **ret,
                      char **ret_why)
{
    struct http_tls *t = mem_new(struct http_tls);
    t->certificate = mem_strdup(certificate);
    t->key = mem_strdup(key);
    t->groups = mem_strdup(groups);
    tls_tickets_init(&t->tickets);
    pthread_mutex_init(&t->lock, NULL);
    enum err e = load_context(t, &t->ctx, ret_why);
    if (e) {
        http_tls_free(t);
        return e;
    }
    *ret = t;
    return ERR_NONE;
}

void http_tls_free(struct http_tls *t)
{
    if (!t)
        return;
    SSL_CTX_free(t->ctx);
    pthread_mutex_destroy(&t->lock);
    free(t->certificate);
    free(t->key);
    free(t->groups);
    tls_tickets_done(&t->tickets);
    free(t);
}

enum err http_tls_reload(struct http_tls *t, char **ret_why)
{
    SSL_CTX *fresh = NULL;
    enum err e = load_context(t, &fresh, ret_why);
    if (e)
        return e;
    pthread_mutex_lock(&t->lock);
    SSL_CTX *old = t->ctx;
    t->ctx = fresh;
    pthread_mutex_unlock(&t->lock);
    SSL_CTX_free(old);
    return ERR_NONE;
}

void http_tls_tick(struct http_tls *t)
{
    tls_tickets_rotate(&t->tickets, clock_monotonic_us());
}

bool http_tls_is_gone(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) == 1;
}

static void wake_at(int fd, int bytes)
{
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes,
                     sizeof bytes); /* a socket without it wakes us for each byte */
}

enum http_tls_hello http_tls_look(int fd)
{
    unsigned char p[HELLO_START];
    if (http_tls_is_gone(fd))
        return HTTP_TLS_HELLO_REFUSED;
    if (recv(fd, p, sizeof p, MSG_PEEK | MSG_DONTWAIT) < HELLO_START)
        return HTTP_TLS_HELLO_MORE;
    wake_at(fd, 1);
    bool handshake = p[0] == SSL3_RT_HANDSHAKE, hello = p[5] == SSL3_MT_CLIENT_HELLO;
    unsigned record = (unsigned)p[3] << 8 | p[4], message = (unsigned)p[6] << 16 | (unsigned)p[7] << 8 | p[8];
    bool too_long = handshake && (record < SSL3_HM_HEADER_LENGTH || (hello && message > HELLO_MAX));
    return too_long ? HTTP_TLS_HELLO_REFUSED : HTTP_TLS_HELLO_FINE; /* libssl checks the rest */
}

SSL *http_tls_accept(struct http_tls *t, int fd)
{
    pthread_mutex_lock(&t->lock);
    SSL *ssl = SSL_new(t->ctx);
    pthread_mutex_unlock(&t->lock);
    if (!ssl || SSL_set_fd(ssl, fd) != 1) {
        SSL_free(ssl);
        ERR_clear_error();
        return NULL;
    }
    SSL_set_accept_state(ssl);
    wake_at(fd, HELLO_START);
    return ssl;
}
