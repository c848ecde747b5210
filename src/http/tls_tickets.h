/* The keys that encrypt session tickets (RFC 5077, RFC 8446 section 4.6.1). A key encrypts for an hour and decrypts for
 * another hour. Then it is erased, so that a later intruder cannot decrypt recorded sessions. Any thread. */
#pragma once
#include <openssl/evp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define TLS_TICKETS_PERIOD_S 3600 /* a ticket must not be used for longer: SSL_CTX_set_timeout */

struct tls_ticket_key {
    unsigned char name[16], cipher[32], mac[32];
    bool given; /* false: no key yet */
};

struct tls_tickets {
    pthread_mutex_t lock;
    struct tls_ticket_key current, previous; /* under the lock, as all below */
    int64_t renew_at_us;                     /* monotonic */
};

void tls_tickets_init(struct tls_tickets *t);
void tls_tickets_done(struct tls_tickets *t);
/* Replaces expired keys. now_us: clock_monotonic_us(). */
void tls_tickets_rotate(struct tls_tickets *t, int64_t now_us);

/* The body of the callback of SSL_CTX_set_tlsext_ticket_key_evp_cb, at now_us. To encrypt, it sets name and iv and
 * returns
 * 1. To decrypt, it returns 1, or 2 if the client must get a new ticket, or 0 if the key is unknown. -1: OpenSSL
 * failed.
 */
int tls_tickets_key(struct tls_tickets *t, int64_t now_us, unsigned char name[static 16], unsigned char *iv,
                    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, bool encrypt);
