/* Everything secret goes through here, and all of it is OpenSSL's: random, SHA-256, HMAC, AES-256-GCM. */
#pragma once
#include "base/arena.h"
#include "base/err.h"

#define SHA256_LEN 32

/* Fills p from the system's random source. Cannot fail: no randomness ends the process. */
void crypto_random(void *p, size_t n);
/* A uniform integer in 0..bound-1. */
uint32_t crypto_uniform(uint32_t bound);
/* Writes n uniform base62 characters and a NUL. 43 of them hold 256 bits. */
void crypto_base62(char *ret, size_t n);

void crypto_sha256(struct str data, unsigned char ret[static SHA256_LEN]);
/* The first 8 bytes of its SHA-256, most significant first: a key to look a text up by. */
int64_t crypto_hash64(struct str data);
void crypto_hmac_sha256(struct str key, struct str data, unsigned char ret[static SHA256_LEN]);
/* Constant time for equal lengths. */
bool crypto_equal(const void *a, const void *b, size_t n);
/* Overwrites memory in a way the compiler keeps. */
void crypto_wipe(void *p, size_t n);

/* Lower-case hex of n bytes: 2n characters and a NUL. */
void hex_encode(const void *p, size_t n, char *ret);
/* RFC 4648 base64url without padding. */
struct str base64url_encode(struct arena *a, struct str bytes);
bool base64url_decode(struct arena *a, struct str text, struct str *ret);

/* The master keys (32 bytes), and the keys derived from each, one per purpose: HMAC-SHA256(master, purpose). There is a
 * previous one while the store's secrets move from it to the current one (domain/master.h). */
enum master_key { MASTER_CURRENT, MASTER_PREVIOUS };
#define MASTER_CHECK_LEN 32 /* hex characters */

/* Sets both; previous may be NULL. Once at start, before any thread. */
void crypto_set_master(const unsigned char current[static SHA256_LEN], const unsigned char *previous);
/* A check value, which tells a key from others and tells nothing else of it. False, and an empty text, if there is no
 * such key. */
bool crypto_master_check(enum master_key which, char ret[static MASTER_CHECK_LEN + 1]);
/* With the current key. purpose is a short constant, e.g. "otp", "cursor". */
void crypto_derived_mac(const char *purpose, struct str data, unsigned char ret[static SHA256_LEN]);
/* Whether these are the first n bytes of the MAC under one of the keys, in constant time. */
bool crypto_is_derived_mac(const char *purpose, struct str data, const unsigned char *mac, size_t n);
/* AES-256-GCM with the derived key of `purpose`; sealed = 12-byte nonce, ciphertext, 16-byte tag, in the arena. Secrets
 * of the store are sealed by master_seal (domain/master.h), which knows the key. */
struct str crypto_seal(enum master_key which, const char *purpose, struct str plain, struct arena *a);
/* False if the bytes were not sealed with one of the keys and this purpose, or were altered. */
bool crypto_open(const char *purpose, struct str sealed, struct arena *a, struct str *ret_plain);
/* The same with one key alone. */
bool crypto_open_with(enum master_key which, const char *purpose, struct str sealed, struct arena *a,
                      struct str *ret_plain);
