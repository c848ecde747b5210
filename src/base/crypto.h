/* Cryptography, all of it OpenSSL's: random, SHA-256, HMAC, AES-256-GCM. */
#pragma once
#include "base/arena.h"
#include "base/err.h"

#define SHA256_LEN 32
#define SHA1_LEN   20

/* Fills p from the system's random source. Aborts if there is no randomness. */
void crypto_random(void *p, size_t n);
/* A uniform integer in 0..bound-1. */
uint32_t crypto_uniform(uint32_t bound);
/* Writes n uniform base62 characters and a NUL. 43 of them hold 256 bits. */
void crypto_base62(char *ret, size_t n);

void crypto_sha256(struct str data, unsigned char ret[static SHA256_LEN]);
/* The SHA-256 of bytes that come in portions. */
struct digest *crypto_digest_begin(void);
void crypto_digest_add(struct digest *d, struct str portion);
/* Frees it. */
void crypto_digest_end(struct digest *d, unsigned char ret[static SHA256_LEN]);
/* The first 8 bytes of the SHA-256, big-endian: a lookup key for a text. */
int64_t crypto_hash64(struct str data);
void crypto_hmac_sha256(struct str key, struct str data, unsigned char ret[static SHA256_LEN]);
/* For signatures of providers that have nothing newer. */
void crypto_hmac_sha1(struct str key, struct str data, unsigned char ret[static SHA1_LEN]);
/* Constant time for equal lengths. */
bool crypto_equal(const void *a, const void *b, size_t n);
/* Overwrites memory; the compiler does not optimise it away. */
void crypto_wipe(void *p, size_t n);

/* Lower-case hex of n bytes: 2n characters and a NUL. */
void hex_encode(const void *p, size_t n, char *ret);
#define BASE64_LEN(n) (((n) + 2) / 3 * 4)
/* RFC 4648 base64 with padding: BASE64_LEN(n) characters and a NUL. */
void base64_standard_encode(const void *p, size_t n, char *ret);
/* RFC 4648 base64url without padding. */
struct str base64url_encode(struct arena *a, struct str bytes);
bool base64url_decode(struct arena *a, struct str text, struct str *ret);

/* The master keys (32 bytes). From each, one key per purpose is derived: HMAC-SHA256(master, purpose). A previous key
 * is set while the secrets of the store are re-sealed with the current one (domain/master.h). */
enum master_key { MASTER_CURRENT, MASTER_PREVIOUS };
#define MASTER_CHECK_LEN 32 /* hex characters */

/* Sets both keys; previous may be NULL. Must be called once, before threads start. */
void crypto_set_master(const unsigned char current[static SHA256_LEN], const unsigned char *previous);
/* Writes a check value that identifies the key and does not reveal it. False, and an empty text, without such a key. */
bool crypto_master_check(enum master_key which, char ret[static MASTER_CHECK_LEN + 1]);
/* The MAC with the current key. `purpose` is a short constant, e.g. "otp", "cursor". */
void crypto_derived_mac(const char *purpose, struct str data, unsigned char ret[static SHA256_LEN]);
/* Writes n base62 characters that follow from the key, the purpose and the data, and a NUL. They are uniform for all
 * who lack the key. False without such a key. */
bool crypto_derived_base62(enum master_key which, const char *purpose, struct str data, char *ret, size_t n);
/* Whether `mac` is the first n bytes of the MAC with one of the keys. Constant time. */
bool crypto_is_derived_mac(const char *purpose, struct str data, const unsigned char *mac, size_t n);
/* AES-256-GCM with the derived key of `purpose`. Returns a 12-byte nonce, the ciphertext and a 16-byte tag, in the
 * arena. Use master_seal (domain/master.h) for secrets of the store: it selects the key. */
struct str crypto_seal(enum master_key which, const char *purpose, struct str plain, struct arena *a);
/* False if the bytes were not sealed with one of the keys and this purpose, or were altered. */
bool crypto_open(const char *purpose, struct str sealed, struct arena *a, struct str *ret_plain);
/* crypto_open with one key only. */
bool crypto_open_with(enum master_key which, const char *purpose, struct str sealed, struct arena *a,
                      struct str *ret_plain);
