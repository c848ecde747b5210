/* A browser's side of a session: checks, DTLS and SRTP, over UDP on loopback. */
#pragma once
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <re/re.h>
#include <srtp2/srtp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BROWSER_UFRAG  "Brow"
#define BROWSER_GCM    "SRTP_AEAD_AES_128_GCM"
#define BROWSER_SHA1   "SRTP_AES128_CM_SHA1_80"
#define BROWSER_PACKET 2048

struct browser {
    int fd, inner; /* of UDP; of OpenSSL */
    struct sa at, service;
    char ufrag[64], password[64]; /* of the service */
    char print[96];               /* of our certificate */
    SSL_CTX *context;
    SSL *ssl;
    srtp_t in, out;
    bool up;
    unsigned lose; /* percent of the datagrams, each way */
    unsigned dice; /* for the loss; the same in each run */
    bool swap;     /* the second datagram of DTLS goes first */
    uint8_t held[BROWSER_PACKET];
    size_t held_n;
    unsigned answers, errors, heard, reports, unreadable; /* that came */
    struct {
        uint16_t seq;
        uint32_t timestamp;
        bool marker;
        uint8_t pt, payload[BROWSER_PACKET];
        size_t n;
    } last;
    uint16_t seq; /* of our next packet */
};

/* ---- life ---- */

static inline void browser_bind(struct browser *b, const char *host)
{
    struct sockaddr_storage at;
    socklen_t n = sizeof at;
    if (sa_set_str(&b->at, host, 0))
        abort();
    b->fd = socket(sa_af(&b->at), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (b->fd < 0 || bind(b->fd, &b->at.u.sa, b->at.len) || getsockname(b->fd, (struct sockaddr *)&at, &n) ||
        sa_set_sa(&b->at, (struct sockaddr *)&at))
        abort();
}

static inline int browser_trust(X509_STORE_CTX *chain, void *arg)
{
    (void)chain;
    (void)arg;
    return 1;
}

static inline void browser_certify(struct browser *b)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    uint8_t digest[32];
    unsigned n;
    X509_gmtime_adj(X509_getm_notBefore(x), -86400);
    X509_gmtime_adj(X509_getm_notAfter(x), 86400);
    if (!X509_set_pubkey(x, key) || !X509_sign(x, key, EVP_sha256()) || !X509_digest(x, EVP_sha256(), digest, &n) ||
        SSL_CTX_use_certificate(b->context, x) != 1 || SSL_CTX_use_PrivateKey(b->context, key) != 1)
        abort();
    for (size_t i = 0; i < sizeof digest; i++)
        (void)snprintf(b->print + 3 * i, 4, "%02X%s", digest[i], i + 1 < sizeof digest ? ":" : "");
    X509_free(x);
    EVP_PKEY_free(key);
}

static inline unsigned browser_timer(SSL *ssl, unsigned last_us)
{
    (void)ssl;
    return last_us ? 2 * last_us : 50000; /* as Chromium */
}

static inline void browser_new(struct browser *b, const char *profiles, bool certificate)
{
    int pair[2];
    *b = (struct browser){.dice = 1, .seq = 65500};
    browser_bind(b, "127.0.0.1");
    b->context = SSL_CTX_new(DTLS_client_method());
    if (!b->context || (profiles && SSL_CTX_set_tlsext_use_srtp(b->context, profiles)) ||
        socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair))
        abort();
    SSL_CTX_set_cert_verify_callback(b->context, browser_trust, NULL);
    SSL_CTX_set_options(b->context, SSL_OP_NO_QUERY_MTU);
    if (certificate)
        browser_certify(b);
    b->ssl = SSL_new(b->context);
    b->inner = pair[1];
    BIO *bio = BIO_new_socket(pair[0], BIO_CLOSE);
    SSL_set_bio(b->ssl, bio, bio);
    SSL_set_connect_state(b->ssl);
    DTLS_set_timer_cb(b->ssl, browser_timer);
    SSL_set_mtu(b->ssl, 1200);
}

static inline void browser_free(struct browser *b)
{
    SSL_free(b->ssl);
    SSL_CTX_free(b->context);
    if (b->in)
        (void)srtp_dealloc(b->in);
    if (b->out)
        (void)srtp_dealloc(b->out);
    close(b->inner);
    close(b->fd);
}

/* ---- SDP ---- */

static inline const char *browser_offer(const struct browser *b, const char *direction)
{
    static char text[2048];
    (void)snprintf(text, sizeof text,
                   "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n"
                   "m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8\r\nc=IN IP4 0.0.0.0\r\na=rtpmap:111 opus/48000/2\r\n"
                   "a=rtpmap:0 PCMU/8000\r\na=rtpmap:8 PCMA/8000\r\na=ice-ufrag:" BROWSER_UFRAG
                   "\r\na=ice-pwd:0123456789012345678901\r\na=fingerprint:sha-256 %s\r\na=setup:actpass\r\n"
                   "a=mid:0\r\na=%s\r\na=rtcp-mux\r\n",
                   b->print, direction);
    return text;
}

static inline void browser_read_answer(struct browser *b, const char *answer)
{
    const char *user = strstr(answer, "a=ice-ufrag:"), *password = strstr(answer, "a=ice-pwd:"),
               *candidate = strstr(answer, "a=candidate:");
    char host[64];
    unsigned port;
    if (!user || !password || !candidate || sscanf(user + 12, "%63s", b->ufrag) != 1 ||
        sscanf(password + 10, "%63s", b->password) != 1 ||
        sscanf(candidate, "a=candidate:%*s 1 udp %*u %63s %u", host, &port) != 2 ||
        sa_set_str(&b->service, host, (uint16_t)port))
        abort();
}

/* ---- datagrams ---- */

static inline bool browser_loses(struct browser *b)
{
    b->dice = b->dice * 1103515245u + 12345u;
    return (b->dice >> 16) % 100 < b->lose;
}

static inline void browser_put(struct browser *b, const void *p, size_t n)
{
    if (!browser_loses(b) && sendto(b->fd, p, n, 0, &b->service.u.sa, b->service.len) < 0)
        abort();
}

enum browser_check_kind { BROWSER_PLAIN, BROWSER_NOMINATES, BROWSER_CONTROLLED };

/* Sends a check with this name and password. */
static inline void browser_check_as(struct browser *b, const char *name, const char *password,
                                    enum browser_check_kind kind)
{
    static const uint8_t tid[STUN_TID_SIZE] = {1, 2, 3};
    const uint64_t breaker = 7;
    const uint32_t priority = 1;
    struct mbuf *mb = mbuf_alloc(256);
    if (stun_msg_encode(mb, STUN_METHOD_BINDING, STUN_CLASS_REQUEST, tid, NULL, (const uint8_t *)password,
                        strlen(password), true, 0, 4, STUN_ATTR_USERNAME, name, STUN_ATTR_PRIORITY, &priority,
                        kind == BROWSER_CONTROLLED ? STUN_ATTR_CONTROLLED : STUN_ATTR_CONTROLLING, &breaker,
                        STUN_ATTR_USE_CAND, kind == BROWSER_NOMINATES ? &priority : NULL))
        abort();
    browser_put(b, mb->buf, mb->end);
    mem_deref(mb);
}

static inline void browser_check(struct browser *b, enum browser_check_kind kind)
{
    char name[160];
    (void)snprintf(name, sizeof name, "%s:" BROWSER_UFRAG, b->ufrag);
    browser_check_as(b, name, b->password, kind);
}

static inline void browser_send_dtls(struct browser *b)
{
    uint8_t p[BROWSER_PACKET];
    for (ssize_t n; (n = recv(b->inner, p, sizeof p, 0)) > 0;) {
        if (b->swap && !b->held_n) {
            memcpy(b->held, p, (size_t)n);
            b->held_n = (size_t)n;
            continue;
        }
        browser_put(b, p, (size_t)n);
        if (b->swap)
            browser_put(b, b->held, b->held_n);
        b->swap = false;
    }
}

static inline void browser_derive(struct browser *b)
{
    const SRTP_PROTECTION_PROFILE *profile = SSL_get_selected_srtp_profile(b->ssl);
    if (!profile)
        abort();
    const bool gcm = profile->id == SRTP_AEAD_AES_128_GCM;
    const size_t salt = gcm ? 12 : 14;
    uint8_t all[60], mine[30], theirs[30];
    if (SSL_export_keying_material(b->ssl, all, 2 * (16 + salt), "EXTRACTOR-dtls_srtp", 19, NULL, 0, 0) != 1)
        abort();
    memcpy(mine, all, 16);
    memcpy(theirs, all + 16, 16);
    memcpy(mine + 16, all + 32, salt);
    memcpy(theirs + 16, all + 32 + salt, salt);
    srtp_policy_t p = {.ssrc = {.type = ssrc_any_outbound}, .key = mine, .window_size = 128};
    (gcm ? srtp_crypto_policy_set_aes_gcm_128_16_auth : srtp_crypto_policy_set_rtp_default)(&p.rtp);
    (gcm ? srtp_crypto_policy_set_aes_gcm_128_16_auth : srtp_crypto_policy_set_rtcp_default)(&p.rtcp);
    if (srtp_create(&b->out, &p))
        abort();
    p.ssrc.type = ssrc_any_inbound;
    p.key = theirs;
    if (srtp_create(&b->in, &p))
        abort();
}

static inline void browser_take_stun(struct browser *b, const uint8_t *p, size_t n)
{
    struct stun_msg *m;
    struct stun_unknown_attr unknown;
    struct mbuf *mb = mbuf_alloc(n);
    (void)mbuf_write_mem(mb, p, n);
    mb->pos = 0;
    if (stun_msg_decode(&m, mb, &unknown) || stun_msg_chk_fingerprint(m) ||
        stun_msg_chk_mi(m, (const uint8_t *)b->password, strlen(b->password)))
        abort();
    const struct stun_attr *mapped = stun_msg_attr(m, STUN_ATTR_XOR_MAPPED_ADDR);
    if (stun_msg_class(m) != STUN_CLASS_SUCCESS_RESP)
        b->errors++;
    else if (mapped && sa_cmp(&mapped->v.sa, &b->at, SA_ALL))
        b->answers++;
    mem_deref(m);
    mem_deref(mb);
}

static inline void browser_take_media(struct browser *b, uint8_t *p, int n)
{
    struct rtp_header h;
    if (p[1] >= 192 && p[1] <= 223) {
        if (srtp_unprotect_rtcp(b->in, p, &n))
            b->unreadable++;
        else
            b->reports++;
        return;
    }
    if (srtp_unprotect(b->in, p, &n)) {
        b->unreadable++;
        return;
    }
    struct mbuf mb = {.buf = p, .size = (size_t)n, .end = (size_t)n};
    if (rtp_hdr_decode(&h, &mb))
        abort();
    b->heard++;
    b->last.seq = h.seq;
    b->last.timestamp = h.ts;
    b->last.marker = h.m;
    b->last.pt = h.pt;
    b->last.n = mbuf_get_left(&mb);
    memcpy(b->last.payload, mbuf_buf(&mb), b->last.n);
}

static inline void browser_receive(struct browser *b)
{
    _Alignas(16) uint8_t p[BROWSER_PACKET];
    for (ssize_t n; (n = recv(b->fd, p, sizeof p, 0)) > 0;) {
        if (browser_loses(b))
            continue;
        if (p[0] <= 3)
            browser_take_stun(b, p, (size_t)n);
        else if (p[0] >= 20 && p[0] <= 63)
            (void)send(b->inner, p, (size_t)n, 0);
        else if (b->up)
            browser_take_media(b, p, (int)n);
    }
}

/* Takes and sends whatever waits. `shakes`: goes on with the handshake. */
static inline void browser_turn(struct browser *b, bool shakes)
{
    browser_receive(b);
    if (shakes && !b->up) {
        (void)DTLSv1_handle_timeout(b->ssl);
        b->up = SSL_do_handshake(b->ssl) == 1;
        if (b->up)
            browser_derive(b);
    } else if (b->up) {
        char unread[64];
        (void)SSL_read(b->ssl, unread, sizeof unread);
    }
    browser_send_dtls(b);
}

/* Makes an SRTP packet of `n` bytes of audio, each of them `byte`. Returns its length. */
static inline size_t browser_make(struct browser *b, uint8_t pt, uint8_t byte, size_t n, uint8_t *ret)
{
    const struct rtp_header h = {.ver = 2, .pt = pt, .seq = b->seq, .ts = b->seq * 160u, .ssrc = 77};
    struct mbuf mb = {.buf = ret, .size = RTP_HEADER_SIZE};
    int length = (int)(RTP_HEADER_SIZE + n);
    b->seq++;
    memset(ret + RTP_HEADER_SIZE, byte, n);
    if (rtp_hdr_encode(&mb, &h) || srtp_protect(b->out, ret, &length))
        abort();
    return (size_t)length;
}

static inline void browser_talk(struct browser *b, uint8_t pt, uint8_t byte)
{
    uint8_t p[BROWSER_PACKET];
    browser_put(b, p, browser_make(b, pt, byte, 160, p));
}
