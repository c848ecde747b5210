/* Digest authentication of callers (RFC 3261, section 22; RFC 2617 with qop=auth and MD5, which call boxes know).
 *
 * A nonce is a time and a MAC over it and the caller's address, so that challenges cost no memory. A nonce count that
 * was accepted is remembered until the nonce has expired; a request with the same or a lower one is refused. Each
 * process remembers its own: another node accepts a repeated request from the same address for at most a minute. */
#pragma once
#include <re/re.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define SIP_REALM         "portero"
#define SIP_NONCE_MS      60000
#define SIP_NONCES_MAX    4096 /* accepted ones that are remembered; beyond that requests are challenged again */
#define SIP_CHALLENGE_MAX 256

struct sip_nonces {
    struct hash *used;  /* accepted nonces, by their text */
    struct list oldest; /* the same, oldest first */
    unsigned count;
};

int sip_nonces_init(struct sip_nonces *n);
void sip_nonces_done(struct sip_nonces *n);

/* Writes the header line of a challenge for a caller at `src`. `stale`: the password was right, the nonce too old. */
void sip_digest_challenge(const struct sa *src, int64_t now_ms, bool stale, char ret[static SIP_CHALLENGE_MAX]);

enum sip_digest_state {
    SIP_DIGEST_NONE,  /* no usable answer to a challenge of ours */
    SIP_DIGEST_STALE, /* its nonce has expired, or its count was used */
    SIP_DIGEST_URI,   /* it was made for another request URI */
    SIP_DIGEST_FRESH
};

/* An answer to a challenge; points into its message. */
struct sip_digest {
    struct httpauth_digest_resp response;
    uint32_t count;
};

/* Reads the answer in the message's Authorization headers. Its URI must have the host of the request URI and, if both
 * have them, its port, and its user: some telephones leave out the user. Parameters are not compared. SIP_DIGEST_FRESH
 * says nothing about the password. */
enum sip_digest_state sip_digest_read(const struct sip_nonces *n, const struct sip_msg *msg, int64_t now_ms,
                                      struct sip_digest *ret);
/* Whether the answer was made with this password. */
bool sip_digest_proves(const struct sip_digest *d, const struct pl *method, struct str password);
/* Remembers an accepted answer. False: it was accepted before, or too many are remembered. */
bool sip_digest_use(struct sip_nonces *n, const struct sip_digest *d, int64_t now_ms);
