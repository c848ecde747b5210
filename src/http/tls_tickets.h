/* The keys that session tickets are sealed with (RFC 5077, RFC 8446 section 4.6.1). A key seals for an hour and opens
 * for another one; then it is erased, and nobody who gets into the process later can open what it had sealed. Any
 * thread. */
#pragma once
#include <openssl/evp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define TLS_TICKETS_PERIOD_S 3600 /* a ticket must not be used for longer: SSL_CTX_set_timeout */

struct tls_ticket_key {
    unsigned char name[16], cipher[32], mac[32];
    bool given; /* false: there is no such key */
};

struct tls_tickets {
    pthread_mutex_t lock;
    struct tls_ticket_key current, previous; /* under the lock, as all below */
    int64_t renew_at_us;                     /* monotonic */
};

void tls_tickets_init(struct tls_tickets *t);
void tls_tickets_done(struct tls_tickets *t);
/* Replaces the keys whose time is over. now_us: clock_monotonic_us(). */
void tls_tickets_rotate(struct tls_tickets *t, int64_t now_us);

/* What SSL_CTX_set_tlsext_ticket_key_evp_cb asks for, at now_us. Sealing sets name and iv, and 1 is returned. Opening
 * returns 1, 2 if the client is to get a new ticket, or 0 if the key is not known. -1: the library failed. */
int tls_tickets_key(struct tls_tickets *t, int64_t now_us, unsigned char name[static 16], unsigned char *iv,
                    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, bool seal);
