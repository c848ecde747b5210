/* Inside the media session: the SDP of both sides, and the terms that they agree on. */
#pragma once
#include "media/crypto.h"
#include "media/media.h"

struct media_terms {
    struct sdp_session *sdp;
    struct sdp_media *audio;
    struct media_crypto crypto;
    bool known;    /* there was an SDP of the peer */
    bool send;     /* the peer wants our audio */
    uint8_t pt;    /* of our packets */
    int event_pt;  /* -1: not negotiated */
    struct sa rtp; /* the peer's address in its SDP */
};

/* Describes our side. `rtp` must outlive it. Returns 0 or errno; media_terms_done() in any case. */
int media_terms_init(struct media_terms *t, const struct media_options *o, struct rtp_sock *rtp);
/* As media_take_sdp(). *ret_moved: the peer named another address than before. */
enum err media_terms_take(struct media_terms *t, bool offer, struct mbuf *sdp, bool *ret_moved) CHECKED;
/* As media_make_sdp(). */
enum err media_terms_make(struct media_terms *t, bool offer, struct mbuf **ret) CHECKED;
/* An all-zero struct is fine. */
void media_terms_done(struct media_terms *t);
