/* DTLS 1.2 with a browser, as the server (RFC 5763, RFC 5764). OpenSSL's, without sockets: datagrams come in by
 * webrtc_dtls_take and go out by a function.
 *
 * Certificates are self-signed: the browser's must have the fingerprint of its offer, and nothing else is asked. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEBRTC_PRINT_TEXT 96 /* a SHA-256 fingerprint as text, with its NUL */

/* Our certificate, with its key in memory only. */
struct webrtc_identity;

/* NULL if OpenSSL fails. */
struct webrtc_identity *webrtc_identity_new(void);
void webrtc_identity_free(struct webrtc_identity *i);
/* "AB:CD:…" */
const char *webrtc_identity_print(const struct webrtc_identity *i);

struct webrtc_dtls;

enum webrtc_dtls_state {
    WEBRTC_DTLS_GOING,    /* the handshake */
    WEBRTC_DTLS_UP,       /* the keys are known */
    WEBRTC_DTLS_CLOSED,   /* close_notify came */
    WEBRTC_DTLS_STRANGER, /* no certificate, or one with another fingerprint */
    WEBRTC_DTLS_FAILED
};

/* `print` is the SHA-256 of the expected certificate and must outlive the connection. NULL if OpenSSL fails. */
struct webrtc_dtls *webrtc_dtls_new(const struct webrtc_identity *i, const uint8_t *print,
                                    void (*send)(const uint8_t *p, size_t n, void *arg), void *arg);
void webrtc_dtls_free(struct webrtc_dtls *d);
/* Takes a datagram; from WEBRTC_DTLS_CLOSED on they have no effect. */
enum webrtc_dtls_state webrtc_dtls_take(struct webrtc_dtls *d, const uint8_t *p, size_t n);
/* Repeats a flight that was not answered in time. Call it every few milliseconds during the handshake. */
enum webrtc_dtls_state webrtc_dtls_tick(struct webrtc_dtls *d);
/* Sends close_notify, if the connection is up. */
void webrtc_dtls_close(struct webrtc_dtls *d);

/* The master keys of SRTP, each with its salt. */
struct webrtc_keys {
    bool gcm;                     /* AEAD_AES_128_GCM; false: AES128_CM_SHA1_80 */
    uint8_t theirs[30], mine[30]; /* of 28 or 30 bytes */
};

/* False if no SRTP profile was agreed. The caller wipes *ret. */
bool webrtc_dtls_keys(struct webrtc_dtls *d, struct webrtc_keys *ret);
