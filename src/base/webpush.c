#include "base/webpush.h"

#include <assert.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <stdlib.h>

#include "base/crypto.h"

#define RECORD_SIZE 4096
#define TAG_LEN     16
#define CEK_LEN     16
#define NONCE_LEN   12
#define HALF_LEN    32  /* r or s of a signature */
#define TEXT_MAX    128 /* of a base64url text of a browser's key */

/* OpenSSL fails here only without memory or its providers, and then nothing works. */
#define must(ok) ((ok) ? (void)0 : abort())

/* ---- keys ---- */

/* A key of P-256 for OpenSSL; `secret` may be NULL. NULL if the point is not valid. */
static EVP_PKEY *pkey_of(const unsigned char *point, const unsigned char *secret)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *c = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
    BIGNUM *n = secret ? BN_bin2bn(secret, WEBPUSH_KEY_LEN, NULL) : NULL;
    must(c && b && (n || !secret) &&
         OSSL_PARAM_BLD_push_utf8_string(b, OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1, 0) &&
         OSSL_PARAM_BLD_push_octet_string(b, OSSL_PKEY_PARAM_PUB_KEY, point, WEBPUSH_POINT_LEN) &&
         (!n || OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_PRIV_KEY, n)));
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(b);
    must(params && EVP_PKEY_fromdata_init(c) > 0);
    if (EVP_PKEY_fromdata(c, &key, n ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, params) <= 0)
        key = NULL;
    OSSL_PARAM_free(params);
    BN_clear_free(n);
    OSSL_PARAM_BLD_free(b);
    EVP_PKEY_CTX_free(c);
    return key;
}

static bool is_point(const unsigned char point[static WEBPUSH_POINT_LEN])
{
    EVP_PKEY *key = point[0] == POINT_CONVERSION_UNCOMPRESSED ? pkey_of(point, NULL) : NULL;
    EVP_PKEY_free(key);
    return key != NULL;
}

static bool parse_bytes(struct str text, unsigned char *ret, size_t n)
{
    char first[2 * TEXT_MAX];
    struct arena a;
    struct str bytes;
    while (text.n && text.p[text.n - 1] == '=')
        text.n--;
    if (text.n > TEXT_MAX)
        return false;
    arena_init(&a, first, sizeof first);
    const bool ok = base64url_decode(&a, text, &bytes) && bytes.n == n;
    if (ok)
        memcpy(ret, bytes.p, n);
    arena_done(&a);
    return ok;
}

bool webpush_receiver_parse(struct str p256dh, struct str auth, struct webpush_receiver *ret)
{
    struct webpush_receiver r = {.auth = {0}};
    if (!parse_bytes(p256dh, r.p256dh, sizeof r.p256dh) || !parse_bytes(auth, r.auth, sizeof r.auth) ||
        !is_point(r.p256dh))
        return false;
    *ret = r;
    return true;
}

bool webpush_key_from(const unsigned char secret[static WEBPUSH_KEY_LEN], struct webpush_key *ret)
{
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    BIGNUM *n = BN_bin2bn(secret, WEBPUSH_KEY_LEN, NULL);
    must(group && n);
    EC_POINT *point = EC_POINT_new(group);
    const bool ok = !BN_is_zero(n) && BN_cmp(n, EC_GROUP_get0_order(group)) < 0;
    must(point);
    if (ok) {
        must(EC_POINT_mul(group, point, n, NULL, NULL, NULL) &&
             EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, ret->point, WEBPUSH_POINT_LEN, NULL) ==
                 WEBPUSH_POINT_LEN);
        memmove(ret->secret, secret, WEBPUSH_KEY_LEN);
    }
    EC_POINT_free(point);
    BN_clear_free(n);
    EC_GROUP_free(group);
    return ok;
}

void webpush_key_new(struct webpush_key *ret)
{
    unsigned char secret[WEBPUSH_KEY_LEN];
    do
        crypto_random(secret, sizeof secret);
    while (!webpush_key_from(secret, ret));
    crypto_wipe(secret, sizeof secret);
}

/* ---- encryption ---- */

static bool agree(const struct webpush_key *mine, const unsigned char *theirs,
                  unsigned char ret[static WEBPUSH_KEY_LEN])
{
    EVP_PKEY *peer = pkey_of(theirs, NULL);
    if (!peer)
        return false;
    EVP_PKEY *key = pkey_of(mine->point, mine->secret);
    EVP_PKEY_CTX *c = key ? EVP_PKEY_CTX_new(key, NULL) : NULL;
    size_t n = WEBPUSH_KEY_LEN;
    must(c && EVP_PKEY_derive_init(c) > 0 && EVP_PKEY_derive_set_peer(c, peer) > 0 && EVP_PKEY_derive(c, ret, &n) > 0 &&
         n == WEBPUSH_KEY_LEN);
    EVP_PKEY_CTX_free(c);
    EVP_PKEY_free(key);
    EVP_PKEY_free(peer);
    return true;
}

/* The first block of HKDF-Expand (RFC 5869, section 2.3), which is all that is needed. `info` ends with a byte 1. */
static void expand(const unsigned char *key, struct str info, unsigned char ret[static SHA256_LEN])
{
    crypto_hmac_sha256(str_n((const char *)key, SHA256_LEN), info, ret);
}

struct content_keys {
    unsigned char cek[SHA256_LEN], nonce[SHA256_LEN]; /* the first bytes count */
};

/* RFC 8291, section 3.4. */
static void derive_keys(const struct webpush_receiver *to, const struct webpush_key *key, const unsigned char *salt,
                        const unsigned char *shared, struct content_keys *ret)
{
    static const char cek_info[] = "Content-Encoding: aes128gcm\0\1", nonce_info[] = "Content-Encoding: nonce\0\1";
    static const char label[] = "WebPush: info"; /* with its NUL */
    unsigned char prk[SHA256_LEN], ikm[SHA256_LEN];
    char info[sizeof label + 2 * WEBPUSH_POINT_LEN + 1];
    memcpy(info, label, sizeof label);
    memcpy(info + sizeof label, to->p256dh, WEBPUSH_POINT_LEN);
    memcpy(info + sizeof label + WEBPUSH_POINT_LEN, key->point, WEBPUSH_POINT_LEN);
    info[sizeof info - 1] = 1;
    crypto_hmac_sha256(str_n((const char *)to->auth, WEBPUSH_AUTH_LEN), str_n((const char *)shared, WEBPUSH_KEY_LEN),
                       prk);
    expand(prk, str_n(info, sizeof info), ikm);
    crypto_hmac_sha256(str_n((const char *)salt, WEBPUSH_SALT_LEN), str_n((const char *)ikm, sizeof ikm), prk);
    expand(prk, str_n(cek_info, sizeof cek_info - 1), ret->cek);
    expand(prk, str_n(nonce_info, sizeof nonce_info - 1), ret->nonce);
    crypto_wipe(prk, sizeof prk);
    crypto_wipe(ikm, sizeof ikm);
}

static void write_head(const struct webpush_key *key, const unsigned char *salt, unsigned char *ret)
{
    memcpy(ret, salt, WEBPUSH_SALT_LEN);
    ret[WEBPUSH_SALT_LEN] = ret[WEBPUSH_SALT_LEN + 1] = 0;
    ret[WEBPUSH_SALT_LEN + 2] = RECORD_SIZE >> 8;
    ret[WEBPUSH_SALT_LEN + 3] = RECORD_SIZE & 0xFF;
    ret[WEBPUSH_SALT_LEN + 4] = WEBPUSH_POINT_LEN;
    memcpy(ret + WEBPUSH_SALT_LEN + 5, key->point, WEBPUSH_POINT_LEN);
}

/* The only record: text, delimiter 2, tag (RFC 8188, section 2). */
static void encrypt_record(const struct content_keys *keys, struct str plain, unsigned char *ret)
{
    static const unsigned char delimiter = 2;
    int n = 0, last = 0, more = 0;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    must(c && EVP_EncryptInit_ex2(c, EVP_aes_128_gcm(), keys->cek, keys->nonce, NULL) &&
         EVP_EncryptUpdate(c, ret, &n, (const unsigned char *)(plain.p ? plain.p : ""), (int)plain.n) &&
         EVP_EncryptUpdate(c, ret + n, &more, &delimiter, 1) && EVP_EncryptFinal_ex(c, ret + n + more, &last) &&
         EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, TAG_LEN, ret + plain.n + 1));
    EVP_CIPHER_CTX_free(c);
}

bool webpush_encrypt_with(const struct webpush_receiver *to, const struct webpush_key *key,
                          const unsigned char salt[static WEBPUSH_SALT_LEN], struct str plain, unsigned char *ret)
{
    unsigned char shared[WEBPUSH_KEY_LEN];
    struct content_keys keys;
    assert(plain.n <= WEBPUSH_PLAIN_MAX);
    if (!agree(key, to->p256dh, shared))
        return false;
    derive_keys(to, key, salt, shared, &keys);
    write_head(key, salt, ret);
    encrypt_record(&keys, plain, ret + WEBPUSH_HEAD_LEN);
    crypto_wipe(shared, sizeof shared);
    crypto_wipe(&keys, sizeof keys);
    return true;
}

bool webpush_encrypt(const struct webpush_receiver *to, struct str plain, unsigned char *ret)
{
    struct webpush_key key;
    unsigned char salt[WEBPUSH_SALT_LEN];
    webpush_key_new(&key);
    crypto_random(salt, sizeof salt);
    const bool ok = webpush_encrypt_with(to, &key, salt, plain, ret);
    crypto_wipe(&key, sizeof key);
    return ok;
}

/* ---- the sender's signature ---- */

/* ES256 (RFC 7518, section 3.4): r and s, each 32 bytes. */
static void sign(const struct webpush_key *key, struct str text, unsigned char ret[static 2 * HALF_LEN])
{
    unsigned char der[80];
    size_t n = sizeof der;
    EVP_PKEY *pkey = pkey_of(key->point, key->secret);
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    must(pkey && c && EVP_DigestSignInit(c, NULL, EVP_sha256(), NULL, pkey) > 0 &&
         EVP_DigestSign(c, der, &n, (const unsigned char *)text.p, text.n) > 0);
    const unsigned char *p = der;
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &p, (long)n);
    must(sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), ret, HALF_LEN) == HALF_LEN &&
         BN_bn2binpad(ECDSA_SIG_get0_s(sig), ret + HALF_LEN, HALF_LEN) == HALF_LEN);
    ECDSA_SIG_free(sig);
    EVP_MD_CTX_free(c);
    EVP_PKEY_free(pkey);
}

struct str webpush_authorization(const struct webpush_key *key, struct str audience, struct str subject,
                                 int64_t expires_s, struct arena *a)
{
    const struct str head = base64url_encode(a, STR("{\"typ\":\"JWT\",\"alg\":\"ES256\"}"));
    const struct str claims =
        base64url_encode(a, arena_printf(a, "{\"aud\":\"%.*s\",\"exp\":%lld,\"sub\":\"%.*s\"}", STR_ARG(audience),
                                         (long long)expires_s, STR_ARG(subject)));
    const struct str text = arena_printf(a, "%.*s.%.*s", STR_ARG(head), STR_ARG(claims));
    unsigned char signature[2 * HALF_LEN];
    sign(key, text, signature);
    return arena_printf(a, "vapid t=%.*s.%.*s, k=%.*s", STR_ARG(text),
                        STR_ARG(base64url_encode(a, str_n((const char *)signature, sizeof signature))),
                        STR_ARG(base64url_encode(a, str_n((const char *)key->point, WEBPUSH_POINT_LEN))));
}
