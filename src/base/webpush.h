/* Web Push: encryption of messages for a browser (RFC 8291, with the content coding aes128gcm of RFC 8188), and the
 * signature that tells a push service who sends them (VAPID, RFC 8292). All cryptography is OpenSSL's. */
#pragma once
#include "base/arena.h"

#define WEBPUSH_POINT_LEN       65 /* of P-256, uncompressed */
#define WEBPUSH_AUTH_LEN        16
#define WEBPUSH_KEY_LEN         32
#define WEBPUSH_SALT_LEN        16
#define WEBPUSH_HEAD_LEN        (WEBPUSH_SALT_LEN + 4 + 1 + WEBPUSH_POINT_LEN)
#define WEBPUSH_TAIL_LEN        (1 + 16)                                             /* delimiter and tag */
#define WEBPUSH_PLAIN_MAX       ((size_t)4096 - WEBPUSH_HEAD_LEN - WEBPUSH_TAIL_LEN) /* RFC 8291, section 4 */
#define WEBPUSH_BODY_LEN(plain) (WEBPUSH_HEAD_LEN + (size_t)(plain) + WEBPUSH_TAIL_LEN)

/* A browser's keys, as its PushSubscription gives them. */
struct webpush_receiver {
    unsigned char p256dh[WEBPUSH_POINT_LEN];
    unsigned char auth[WEBPUSH_AUTH_LEN]; /* a secret */
};

/* A key pair, the sender's or one for a single message. */
struct webpush_key {
    unsigned char secret[WEBPUSH_KEY_LEN]; /* big-endian */
    unsigned char point[WEBPUSH_POINT_LEN];
};

/* Reads base64url texts, with or without padding. False unless they have the right lengths and p256dh is a point of
 * P-256. */
bool webpush_receiver_parse(struct str p256dh, struct str auth, struct webpush_receiver *ret);

/* Makes a key pair. The caller must wipe it. */
void webpush_key_new(struct webpush_key *ret);
/* Computes the point of a secret. False if the secret is not 1 … n-1. */
bool webpush_key_from(const unsigned char secret[static WEBPUSH_KEY_LEN], struct webpush_key *ret);

/* Encrypts at most WEBPUSH_PLAIN_MAX bytes with a new key and salt. Writes
 * WEBPUSH_BODY_LEN(plain.n) bytes: the body of the request. False if the receiver's point is not valid. */
bool webpush_encrypt(const struct webpush_receiver *to, struct str plain, unsigned char *ret);
/* The same with a key and a salt, neither of which may be used twice. */
bool webpush_encrypt_with(const struct webpush_receiver *to, const struct webpush_key *key,
                          const unsigned char salt[static WEBPUSH_SALT_LEN], struct str plain, unsigned char *ret);

/* The value of the header field Authorization, in the arena: "vapid t=…, k=…". `audience` is the origin of the push
 * service, `subject` a mailto: or https: URI of the operator; neither may need escaping in JSON. `expires_s` is at most
 * a day ahead, by real time. */
struct str webpush_authorization(const struct webpush_key *key, struct str audience, struct str subject,
                                 int64_t expires_s, struct arena *a);
