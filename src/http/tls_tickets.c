#include "http/tls_tickets.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define PERIOD_US (TLS_TICKETS_PERIOD_S * US_PER_S)

void tls_tickets_init(struct tls_tickets *t)
{
    *t = (struct tls_tickets){.renew_at_us = INT64_MIN};
    pthread_mutex_init(&t->lock, NULL);
}

void tls_tickets_done(struct tls_tickets *t)
{
    pthread_mutex_destroy(&t->lock);
    OPENSSL_cleanse(t, sizeof *t);
}

/* Under the lock. */
static void rotate_ticket_keys(struct tls_tickets *t, int64_t now_us)
{
    if (now_us < t->renew_at_us)
        return;
    if (t->current.given && now_us - t->renew_at_us < PERIOD_US)
        t->previous = t->current;
    else
        OPENSSL_cleanse(&t->previous, sizeof t->previous);
    if (RAND_bytes((unsigned char *)&t->current, offsetof(struct tls_ticket_key, given)) != 1)
        abort(); /* no random source */
    t->current.given = true;
    t->renew_at_us = now_us + PERIOD_US;
}

void tls_tickets_rotate(struct tls_tickets *t, int64_t now_us)
{
    pthread_mutex_lock(&t->lock);
    rotate_ticket_keys(t, now_us);
    pthread_mutex_unlock(&t->lock);
}

/* Finds the key of that name. *ret_old: it no longer encrypts. */
static bool find_key(const struct tls_tickets *t, const unsigned char *name, struct tls_ticket_key *ret, bool *ret_old)
{
    const struct tls_ticket_key *keys[] = {&t->current, &t->previous};
    for (size_t i = 0; i < 2; i++) {
        if (!keys[i]->given || memcmp(keys[i]->name, name, sizeof keys[i]->name) != 0)
            continue;
        *ret = *keys[i];
        *ret_old = i > 0;
        return true;
    }
    return false;
}

/* The scheme that OpenSSL uses without a callback: AES-256-CBC, then HMAC-SHA256 over it. */
static bool use_key(const struct tls_ticket_key *key, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac,
                    bool encrypt)
{
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)(uintptr_t)key->mac, sizeof key->mac),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char[]){"SHA256"}, 0), OSSL_PARAM_construct_end()};
    return EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key->cipher, iv, encrypt) == 1 &&
           EVP_MAC_CTX_set_params(mac, params) == 1;
}

int tls_tickets_key(struct tls_tickets *t, int64_t now_us, unsigned char name[static 16], unsigned char *iv,
                    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, bool encrypt)
{
    struct tls_ticket_key key = {.given = false};
    bool old = false;
    pthread_mutex_lock(&t->lock);
    rotate_ticket_keys(t, now_us);
    bool found = encrypt || find_key(t, name, &key, &old);
    if (encrypt)
        key = t->current;
    pthread_mutex_unlock(&t->lock);
    if (!found)
        return 0;
    if (encrypt)
        memcpy(name, key.name, sizeof key.name);
    bool done = (!encrypt || RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1) &&
                use_key(&key, iv, cipher, mac, encrypt);
    OPENSSL_cleanse(&key, sizeof key);
    return !done ? -1 : old ? 2 : 1;
}
