#include "webrtc/dtls.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"

#define PROFILES   "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80"
#define CIPHERS    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305"
#define GROUPS     "X25519:P-256"
#define EXPORTER   "EXTRACTOR-dtls_srtp" /* RFC 5764, 4.2 */
#define MTU        1200
#define CHAIN_MAX  16384 /* bytes of the browser's certificates */
#define KEY_LEN    16
#define VALID_S    (366L * 86400)
#define FIRST_US   100000 /* until a flight is repeated for the first time; then twice as long each time, up to */
#define LONGEST_US 2000000

struct webrtc_identity {
    SSL_CTX *context;
    BIO_METHOD *method;
    char print[WEBRTC_PRINT_TEXT];
};

struct webrtc_dtls {
    SSL *ssl;
    enum webrtc_dtls_state state;
    const uint8_t *print; /* of the expected certificate */
    const uint8_t *in;    /* the datagram that is being taken; NULL: none */
    size_t in_n;
    void (*send)(const uint8_t *p, size_t n, void *arg);
    void *arg;
};

/* ---- datagrams for OpenSSL ---- */

static int dtls_write(BIO *b, const char *p, int n)
{
    struct webrtc_dtls *d = BIO_get_data(b);
    BIO_clear_retry_flags(b);
    d->send((const uint8_t *)p, (size_t)n, d->arg);
    return n; /* a datagram that the kernel refuses is lost, as on any network */
}

static int dtls_read(BIO *b, char *p, int size)
{
    struct webrtc_dtls *d = BIO_get_data(b);
    BIO_clear_retry_flags(b);
    if (!d->in) {
        BIO_set_retry_read(b);
        return -1;
    }
    const int n = d->in_n < (size_t)size ? (int)d->in_n : size;
    memcpy(p, d->in, (size_t)n);
    d->in = NULL;
    return n;
}

static long dtls_control(BIO *b, int command, long number, void *p)
{
    (void)b;
    (void)number;
    (void)p;
    return command == BIO_CTRL_FLUSH;
}

static int dtls_create(BIO *b)
{
    BIO_set_init(b, 1);
    return 1;
}

static BIO_METHOD *make_method(void)
{
    BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "browser");
    if (m && BIO_meth_set_write(m, dtls_write) && BIO_meth_set_read(m, dtls_read) &&
        BIO_meth_set_ctrl(m, dtls_control) && BIO_meth_set_create(m, dtls_create))
        return m;
    BIO_meth_free(m);
    return NULL;
}

/* ---- our certificate ---- */

static bool fill(X509 *x, EVP_PKEY *key)
{
    uint32_t serial;
    crypto_random(&serial, sizeof serial);
    X509_NAME *name = X509_get_subject_name(x);
    return X509_set_version(x, X509_VERSION_3) &&
           ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), (uint64_t)serial + 1) &&
           X509_gmtime_adj(X509_getm_notBefore(x), -VALID_S) && X509_gmtime_adj(X509_getm_notAfter(x), VALID_S) &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"portero", -1, -1, 0) &&
           X509_set_issuer_name(x, name) && X509_set_pubkey(x, key) && X509_sign(x, key, EVP_sha256());
}

static bool print_of(const X509 *x, uint8_t ret[static SHA256_LEN])
{
    unsigned n = 0;
    return X509_digest(x, EVP_sha256(), ret, &n) && n == SHA256_LEN;
}

static bool write_print(const X509 *x, char ret[static WEBRTC_PRINT_TEXT])
{
    uint8_t digest[SHA256_LEN];
    if (!print_of(x, digest))
        return false;
    for (size_t i = 0; i < SHA256_LEN; i++)
        (void)snprintf(ret + 3 * i, 4, "%02X%s", digest[i], i + 1 < SHA256_LEN ? ":" : "");
    return true;
}

static bool certify(struct webrtc_identity *i)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    const bool fine = key && x && fill(x, key) && write_print(x, i->print) &&
                      SSL_CTX_use_certificate(i->context, x) == 1 && SSL_CTX_use_PrivateKey(i->context, key) == 1;
    X509_free(x);
    EVP_PKEY_free(key);
    return fine;
}

/* In place of OpenSSL's check of the chain. */
static int on_certificate(X509_STORE_CTX *chain, void *arg)
{
    (void)arg;
    uint8_t digest[SHA256_LEN];
    const SSL *ssl = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
    const struct webrtc_dtls *d = SSL_get_app_data(ssl);
    const X509 *x = X509_STORE_CTX_get0_cert(chain);
    if (x && print_of(x, digest) && crypto_equal(digest, d->print, sizeof digest))
        return 1;
    X509_STORE_CTX_set_error(chain, X509_V_ERR_CERT_UNTRUSTED);
    return 0;
}

static bool set_up_dtls_context(SSL_CTX *c)
{
    SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_QUERY_MTU);
    SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF); /* a resumed session would show no certificate */
    SSL_CTX_set_max_cert_list(c, CHAIN_MAX);
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(c, on_certificate, NULL);
    return SSL_CTX_set_min_proto_version(c, DTLS1_2_VERSION) && SSL_CTX_set_cipher_list(c, CIPHERS) &&
           SSL_CTX_set1_groups_list(c, GROUPS) && !SSL_CTX_set_tlsext_use_srtp(c, PROFILES);
}

struct webrtc_identity *webrtc_identity_new(void)
{
    struct webrtc_identity *i = mem_new(struct webrtc_identity);
    i->method = make_method();
    i->context = SSL_CTX_new(DTLS_server_method());
    if (i->method && i->context && set_up_dtls_context(i->context) && certify(i))
        return i;
    ERR_clear_error();
    webrtc_identity_free(i);
    return NULL;
}

void webrtc_identity_free(struct webrtc_identity *i)
{
    if (!i)
        return;
    SSL_CTX_free(i->context);
    BIO_meth_free(i->method);
    free(i);
}

const char *webrtc_identity_print(const struct webrtc_identity *i)
{
    return i->print;
}

/* ---- a connection ---- */

static unsigned handshake_wait_us(SSL *ssl, unsigned last_us)
{
    (void)ssl;
    const unsigned next = last_us ? last_us * 2 : FIRST_US;
    return next < LONGEST_US ? next : LONGEST_US;
}

struct webrtc_dtls *webrtc_dtls_new(const struct webrtc_identity *i, const uint8_t *print,
                                    void (*send)(const uint8_t *p, size_t n, void *arg), void *arg)
{
    struct webrtc_dtls *d = mem_new(struct webrtc_dtls);
    *d = (struct webrtc_dtls){.ssl = SSL_new(i->context), .print = print, .send = send, .arg = arg};
    BIO *b = d->ssl ? BIO_new(i->method) : NULL;
    if (!b) {
        ERR_clear_error();
        webrtc_dtls_free(d);
        return NULL;
    }
    BIO_set_data(b, d);
    SSL_set_bio(d->ssl, b, b);
    SSL_set_app_data(d->ssl, d);
    SSL_set_accept_state(d->ssl);
    DTLS_set_timer_cb(d->ssl, handshake_wait_us);
    (void)SSL_set_mtu(d->ssl, MTU);
    return d;
}

void webrtc_dtls_free(struct webrtc_dtls *d)
{
    if (!d)
        return;
    SSL_free(d->ssl);
    free(d);
}

static enum webrtc_dtls_state failure_of(const struct webrtc_dtls *d)
{
    const unsigned long e = ERR_peek_error();
    const bool unknown =
        SSL_get_verify_result(d->ssl) != X509_V_OK || ERR_GET_REASON(e) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE;
    return unknown ? WEBRTC_DTLS_STRANGER : WEBRTC_DTLS_FAILED;
}

static bool waits(const struct webrtc_dtls *d, int result)
{
    const int e = SSL_get_error(d->ssl, result);
    return e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE;
}

static void continue_handshake(struct webrtc_dtls *d)
{
    const int result = SSL_do_handshake(d->ssl);
    if (result == 1)
        d->state = WEBRTC_DTLS_UP;
    else if (!waits(d, result))
        d->state = failure_of(d);
}

/* No data is exchanged: only close_notify matters, and a flight of the browser that it repeats. */
static void read_rest(struct webrtc_dtls *d)
{
    char unread[2048];
    int result;
    do
        result = SSL_read(d->ssl, unread, sizeof unread);
    while (result > 0);
    if (SSL_get_shutdown(d->ssl) & SSL_RECEIVED_SHUTDOWN)
        d->state = WEBRTC_DTLS_CLOSED;
    else if (!waits(d, result))
        d->state = WEBRTC_DTLS_FAILED;
}

enum webrtc_dtls_state webrtc_dtls_take(struct webrtc_dtls *d, const uint8_t *p, size_t n)
{
    d->in = p;
    d->in_n = n;
    if (d->state == WEBRTC_DTLS_GOING)
        continue_handshake(d);
    if (d->state == WEBRTC_DTLS_UP && d->in)
        read_rest(d);
    d->in = NULL;
    ERR_clear_error();
    return d->state;
}

enum webrtc_dtls_state webrtc_dtls_tick(struct webrtc_dtls *d)
{
    if (d->state == WEBRTC_DTLS_GOING && DTLSv1_handle_timeout(d->ssl) < 0)
        d->state = WEBRTC_DTLS_FAILED;
    ERR_clear_error();
    return d->state;
}

void webrtc_dtls_close(struct webrtc_dtls *d)
{
    if (d->state == WEBRTC_DTLS_UP)
        (void)SSL_shutdown(d->ssl);
    ERR_clear_error();
}

bool webrtc_dtls_keys(struct webrtc_dtls *d, struct webrtc_keys *ret)
{
    const SRTP_PROTECTION_PROFILE *profile = SSL_get_selected_srtp_profile(d->ssl);
    uint8_t all[sizeof ret->theirs + sizeof ret->mine];
    if (!profile)
        return false;
    ret->gcm = profile->id == SRTP_AEAD_AES_128_GCM;
    const size_t salt = ret->gcm ? 12 : 14;
    if (SSL_export_keying_material(d->ssl, all, 2 * (KEY_LEN + salt), EXPORTER, strlen(EXPORTER), NULL, 0, 0) != 1)
        return false;
    memcpy(ret->theirs, all, KEY_LEN); /* the client's key, the server's, the client's salt, the server's */
    memcpy(ret->mine, all + KEY_LEN, KEY_LEN);
    memcpy(ret->theirs + KEY_LEN, all + 2 * KEY_LEN, salt);
    memcpy(ret->mine + KEY_LEN, all + 2 * KEY_LEN + salt, salt);
    crypto_wipe(all, sizeof all);
    return true;
}
