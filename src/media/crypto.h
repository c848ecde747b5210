/* Inside the media session: SRTP with keys in the SDP (RFC 3711, RFC 4568). */
#pragma once
#include "media/sdes.h"

enum media_srtp {
    MEDIA_SRTP_ACCEPT,   /* if the peer offers it; our own offer has none */
    MEDIA_SRTP_OPTIONAL, /* offer it in RTP/AVP, so that a peer without it still answers */
    MEDIA_SRTP_REQUIRED  /* no audio without it */
};

#define MEDIA_CRYPTO_OFFERS 2

/* Embedded in the session. */
struct media_crypto {
    enum media_srtp wish;
    bool on;                               /* negotiated: packets are encrypted, and others are dropped */
    struct sdes mine[MEDIA_CRYPTO_OFFERS]; /* one of each suite */
    struct sdes theirs;
    struct srtp *out, *in;
    enum srtp_suite out_suite;
    struct udp_helper *helper;
};

/* The profile of our offer's m= line. */
const char *media_crypto_profile(enum media_srtp wish);
/* `rtp` must outlive it. Returns 0 or errno. */
int media_crypto_init(struct media_crypto *c, enum media_srtp wish, struct rtp_sock *rtp, struct sdp_media *audio);
/* Takes the keys of the peer's SDP, and puts ours into the answer. False: no key where one is needed. */
bool media_crypto_take(struct media_crypto *c, struct sdp_media *audio, bool offer);
/* Puts our keys into the next offer, if it has any. Returns 0 or errno. */
int media_crypto_offer(const struct media_crypto *c, struct sdp_media *audio);
void media_crypto_done(struct media_crypto *c);
