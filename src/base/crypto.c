#include "base/crypto.h"

#include <assert.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

#define NONCE_LEN 12
#define TAG_LEN   16

/* OpenSSL fails here only without memory or its providers, and then nothing works. */
#define must(ok) ((ok) ? (void)0 : abort())

/* Fetched once: implicit fetching costs more than hashing a key. */
static EVP_MD *sha256;
static EVP_MAC *hmac;
static EVP_CIPHER *aes;
static pthread_key_t contexts_key;
static pthread_once_t started = PTHREAD_ONCE_INIT;

static struct {
    unsigned char key[SHA256_LEN];
    bool set;
} masters[MASTER_PREVIOUS + 1];

/* Contexts of a thread, reused, freed at its end. */
struct contexts {
    EVP_MD_CTX *digest;
    EVP_MAC_CTX *mac;
};
static _Thread_local struct contexts *mine;

static void free_contexts(void *p)
{
    struct contexts *c = p;
    EVP_MD_CTX_free(c->digest);
    EVP_MAC_CTX_free(c->mac);
    free(c);
    mine = NULL;
}

static void fetch_algorithms(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    aes = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    must(sha256 && hmac && aes && pthread_key_create(&contexts_key, free_contexts) == 0);
}

static struct contexts *contexts(void)
{
    if (mine)
        return mine;
    pthread_once(&started, fetch_algorithms);
    struct contexts *c = mem_new(struct contexts);
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char[]){"SHA256"}, 0),
                           OSSL_PARAM_construct_end()};
    c->digest = EVP_MD_CTX_new();
    c->mac = EVP_MAC_CTX_new(hmac);
    must(c->digest && c->mac && EVP_MAC_CTX_set_params(c->mac, params) && pthread_setspecific(contexts_key, c) == 0);
    return mine = c;
}

void crypto_random(void *p, size_t n)
{
    must(n <= INT32_MAX && RAND_bytes(p, (int)n) == 1);
}

uint32_t crypto_uniform(uint32_t bound)
{
    assert(bound > 0);
    uint32_t unfair = -bound % bound; /* 2^32 mod bound: lower values would bias towards small results */
    uint32_t v;
    do
        crypto_random(&v, sizeof v);
    while (v < unfair);
    return v % bound;
}

/* Writes at most n characters, one for each byte; skips bytes that would favour the first characters. Returns their
 * number. */
static size_t put_base62(const unsigned char *bytes, size_t count, char *ret, size_t n)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    size_t done = 0;
    for (size_t i = 0; i < count && done < n; i++)
        if (bytes[i] < 248) /* 4 * 62 */
            ret[done++] = digits[bytes[i] % 62];
    return done;
}

void crypto_base62(char *ret, size_t n)
{
    unsigned char bytes[64];
    for (size_t done = 0; done < n;) {
        crypto_random(bytes, sizeof bytes);
        done += put_base62(bytes, sizeof bytes, ret + done, n - done);
    }
    ret[n] = '\0';
    crypto_wipe(bytes, sizeof bytes);
}

void crypto_sha256(struct str data, unsigned char ret[static SHA256_LEN])
{
    EVP_MD_CTX *c = contexts()->digest;
    must(EVP_DigestInit_ex2(c, sha256, NULL) && EVP_DigestUpdate(c, data.p, data.n) &&
         EVP_DigestFinal_ex(c, ret, NULL));
}

struct digest {
    EVP_MD_CTX *context;
};

struct digest *crypto_digest_begin(void)
{
    struct digest *d = mem_new(struct digest);
    (void)contexts();
    d->context = EVP_MD_CTX_new();
    must(d->context && EVP_DigestInit_ex2(d->context, sha256, NULL));
    return d;
}

void crypto_digest_add(struct digest *d, struct str portion)
{
    must(EVP_DigestUpdate(d->context, portion.p, portion.n));
}

void crypto_digest_end(struct digest *d, unsigned char ret[static SHA256_LEN])
{
    must(EVP_DigestFinal_ex(d->context, ret, NULL));
    EVP_MD_CTX_free(d->context);
    free(d);
}

int64_t crypto_hash64(struct str data)
{
    unsigned char hash[SHA256_LEN];
    crypto_sha256(data, hash);
    uint64_t n = 0;
    for (int i = 0; i < 8; i++)
        n = n << 8 | hash[i];
    return (int64_t)n;
}

void crypto_hmac_sha256(struct str key, struct str data, unsigned char ret[static SHA256_LEN])
{
    EVP_MAC_CTX *c = contexts()->mac;
    size_t n;
    must(EVP_MAC_init(c, (const unsigned char *)(key.p ? key.p : ""), key.n, NULL) &&
         EVP_MAC_update(c, (const unsigned char *)data.p, data.n) && EVP_MAC_final(c, ret, &n, SHA256_LEN));
}

void crypto_hmac_sha1(struct str key, struct str data, unsigned char ret[static SHA1_LEN])
{
    must(key.n <= INT32_MAX &&
         HMAC(EVP_sha1(), key.p ? key.p : "", (int)key.n, (const unsigned char *)data.p, data.n, ret, NULL));
}

bool crypto_equal(const void *a, const void *b, size_t n)
{
    return CRYPTO_memcmp(a, b, n) == 0;
}

void crypto_wipe(void *p, size_t n)
{
    OPENSSL_cleanse(p, n);
}

void hex_encode(const void *p, size_t n, char *ret)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = p;
    for (size_t i = 0; i < n; i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret[2 * n] = '\0';
}

void base64_standard_encode(const void *p, size_t n, char *ret)
{
    must(n <= INT32_MAX / 2);
    EVP_EncodeBlock((unsigned char *)ret, p, (int)n);
}

struct str base64url_encode(struct arena *a, struct str bytes)
{
    char *p = arena_alloc(a, (bytes.n + 2) / 3 * 4 + 1);
    must(bytes.n <= INT32_MAX / 2);
    size_t n = (size_t)EVP_EncodeBlock((unsigned char *)p, (const unsigned char *)bytes.p, (int)bytes.n);
    while (n && p[n - 1] == '=')
        n--;
    for (size_t i = 0; i < n; i++)
        p[i] = p[i] == '+' ? '-' : p[i] == '/' ? '_' : p[i];
    p[n] = '\0';
    return (struct str){p, n};
}

/* The base64 character for a base64url character; 0 for others. */
static char to_standard(char c)
{
    bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return letter || (c >= '0' && c <= '9') ? c : c == '-' ? '+' : c == '_' ? '/' : '\0';
}

bool base64url_decode(struct arena *a, struct str text, struct str *ret)
{
    size_t pad = (4 - text.n % 4) % 4;
    if (pad == 3 || text.n > INT32_MAX / 2)
        return false;
    char *standard = arena_alloc(a, text.n + pad + 1);
    for (size_t i = 0; i < text.n; i++)
        if ((standard[i] = to_standard(text.p[i])) == '\0')
            return false;
    memset(standard + text.n, '=', pad);
    size_t quads = (text.n + pad) / 4;
    char *p = arena_alloc(a, quads * 3 + 1);
    if (EVP_DecodeBlock((unsigned char *)p, (const unsigned char *)standard, (int)(quads * 4)) < 0)
        return false;
    struct str bytes = {p, quads * 3 - pad};
    p[bytes.n] = '\0';
    if (!str_eq(base64url_encode(a, bytes), text))
        return false; /* bits beyond the last byte: not the canonical encoding */
    *ret = bytes;
    return true;
}

void crypto_set_master(const unsigned char current[static SHA256_LEN], const unsigned char *previous)
{
    const unsigned char *const keys[] = {[MASTER_CURRENT] = current, [MASTER_PREVIOUS] = previous};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        masters[i].set = keys[i] != NULL;
        if (keys[i])
            memcpy(masters[i].key, keys[i], SHA256_LEN);
        else
            crypto_wipe(masters[i].key, SHA256_LEN);
    }
}

static void derive(enum master_key which, const char *purpose, unsigned char ret[static SHA256_LEN])
{
    assert(masters[which].set);
    crypto_hmac_sha256(str_n((const char *)masters[which].key, SHA256_LEN), str_z(purpose), ret);
}

static void derived_mac(enum master_key which, const char *purpose, struct str data,
                        unsigned char ret[static SHA256_LEN])
{
    unsigned char key[SHA256_LEN];
    derive(which, purpose, key);
    crypto_hmac_sha256(str_n((const char *)key, sizeof key), data, ret);
    crypto_wipe(key, sizeof key);
}

bool crypto_master_check(enum master_key which, char ret[static MASTER_CHECK_LEN + 1])
{
    unsigned char mac[SHA256_LEN];
    ret[0] = '\0';
    if (!masters[which].set)
        return false;
    derived_mac(which, "check", STR_NONE, mac);
    hex_encode(mac, MASTER_CHECK_LEN / 2, ret);
    return true;
}

void crypto_derived_mac(const char *purpose, struct str data, unsigned char ret[static SHA256_LEN])
{
    derived_mac(MASTER_CURRENT, purpose, data, ret);
}

bool crypto_derived_base62(enum master_key which, const char *purpose, struct str data, char *ret, size_t n)
{
    unsigned char mac[SHA256_LEN], last[SHA256_LEN];
    if (!masters[which].set)
        return false;
    derived_mac(which, purpose, data, mac);
    for (size_t done = put_base62(mac, sizeof mac, ret, n); done < n;) {
        memcpy(last, mac, sizeof last);
        derived_mac(which, purpose, str_n((const char *)last, sizeof last), mac);
        done += put_base62(mac, sizeof mac, ret + done, n - done);
    }
    ret[n] = '\0';
    crypto_wipe(mac, sizeof mac);
    crypto_wipe(last, sizeof last);
    return true;
}

bool crypto_is_derived_mac(const char *purpose, struct str data, const unsigned char *mac, size_t n)
{
    bool is = false;
    assert(n <= SHA256_LEN);
    for (enum master_key which = MASTER_CURRENT; which <= MASTER_PREVIOUS; which++) {
        unsigned char want[SHA256_LEN];
        if (!masters[which].set)
            continue;
        derived_mac(which, purpose, data, want);
        is |= crypto_equal(mac, want, n);
        crypto_wipe(want, sizeof want);
    }
    return is;
}

struct str crypto_seal(enum master_key which, const char *purpose, struct str plain, struct arena *a)
{
    unsigned char key[SHA256_LEN];
    int n, last;
    must(plain.n <= INT32_MAX - NONCE_LEN - TAG_LEN);
    size_t size = NONCE_LEN + plain.n + TAG_LEN;
    unsigned char *out = arena_alloc(a, size + 1);
    crypto_random(out, NONCE_LEN);
    derive(which, purpose, key);
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    must(c && EVP_EncryptInit_ex2(c, aes, key, out, NULL) &&
         EVP_EncryptUpdate(c, out + NONCE_LEN, &n, (const unsigned char *)(plain.p ? plain.p : ""), (int)plain.n) &&
         EVP_EncryptFinal_ex(c, out + NONCE_LEN + n, &last) &&
         EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, TAG_LEN, out + NONCE_LEN + plain.n));
    EVP_CIPHER_CTX_free(c);
    crypto_wipe(key, sizeof key);
    return (struct str){(char *)out, size};
}

bool crypto_open(const char *purpose, struct str sealed, struct arena *a, struct str *ret_plain)
{
    return crypto_open_with(MASTER_CURRENT, purpose, sealed, a, ret_plain) ||
           crypto_open_with(MASTER_PREVIOUS, purpose, sealed, a, ret_plain);
}

bool crypto_open_with(enum master_key which, const char *purpose, struct str sealed, struct arena *a,
                      struct str *ret_plain)
{
    if (!masters[which].set || sealed.n < NONCE_LEN + TAG_LEN || sealed.n > INT32_MAX)
        return false;
    const unsigned char *in = (const unsigned char *)sealed.p;
    unsigned char key[SHA256_LEN], tag[TAG_LEN];
    size_t size = sealed.n - NONCE_LEN - TAG_LEN;
    unsigned char *out = arena_alloc(a, size + 1);
    int n, last;
    memcpy(tag, in + NONCE_LEN + size, TAG_LEN);
    derive(which, purpose, key);
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    must(c && EVP_DecryptInit_ex2(c, aes, key, in, NULL) &&
         EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, TAG_LEN, tag) &&
         EVP_DecryptUpdate(c, out, &n, in + NONCE_LEN, (int)size));
    bool genuine = EVP_DecryptFinal_ex(c, out + n, &last) == 1;
    EVP_CIPHER_CTX_free(c);
    crypto_wipe(key, sizeof key);
    if (!genuine) {
        crypto_wipe(out, size);
        return false;
    }
    out[size] = '\0';
    *ret_plain = (struct str){(char *)out, size};
    return true;
}
