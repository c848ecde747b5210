#include "media/crypto.h"

#include <string.h>

#include "base/crypto.h"

#define LAYER 10 /* of the helper: next to the socket */

static const char crypto[] = "crypto";

const char *media_crypto_profile(enum media_srtp wish)
{
    return wish == MEDIA_SRTP_REQUIRED ? "RTP/SAVP" : "RTP/AVP";
}

/* ---- packets ---- */

static bool on_send(int *err, struct sa *dst, struct mbuf *mb, void *arg)
{
    (void)dst;
    struct media_crypto *c = arg;
    if (c->on)
        *err = srtp_encrypt(c->out, mb);
    return c->on && *err;
}

static bool on_receive(struct sa *src, struct mbuf *mb, void *arg)
{
    (void)src;
    struct media_crypto *c = arg;
    return c->on && srtp_decrypt(c->in, mb);
}

/* ---- negotiation ---- */

/* Profiles that the peer may use. libre takes the first m= line that has one of them. */
static int set_profiles(enum media_srtp wish, struct sdp_media *audio)
{
    if (wish == MEDIA_SRTP_REQUIRED)
        return sdp_media_set_alt_protos(audio, 2, "RTP/SAVP", "RTP/SAVPF");
    return sdp_media_set_alt_protos(audio, 4, "RTP/AVP", "RTP/SAVP", "RTP/AVPF", "RTP/SAVPF");
}

int media_crypto_init(struct media_crypto *c, enum media_srtp wish, struct rtp_sock *rtp, struct sdp_media *audio)
{
    *c = (struct media_crypto){.wish = wish};
    for (unsigned i = 0; i < MEDIA_CRYPTO_OFFERS; i++) {
        c->mine[i].tag = i + 1;
        c->mine[i].suite = i ? SRTP_AES_CM_128_HMAC_SHA1_32 : SRTP_AES_CM_128_HMAC_SHA1_80;
        crypto_random(c->mine[i].key, SDES_KEY_LEN);
    }
    const int e = set_profiles(wish, audio);
    return e ? e : udp_register_helper(&c->helper, rtp_sock(rtp), LAYER, on_send, on_receive, c);
}

struct search {
    const struct media_crypto *c;
    bool offer;
    struct sdes found;
};

/* The first line of an offer that we can use, or the line of an answer that takes one of ours. */
static bool on_line(const char *name, const char *value, void *arg)
{
    (void)name;
    struct search *s = arg;
    struct sdes line;
    if (!value || !sdes_read(str_z(value), &line))
        return false;
    bool mine = s->offer;
    for (size_t i = 0; !s->offer && i < MEDIA_CRYPTO_OFFERS; i++)
        mine = mine || (line.tag == s->c->mine[i].tag && line.suite == s->c->mine[i].suite);
    if (mine)
        s->found = line;
    memset(line.key, 0, sizeof line.key);
    return mine;
}

static struct sdes *mine_of(struct media_crypto *c, enum srtp_suite suite)
{
    return &c->mine[suite == c->mine[0].suite ? 0 : 1];
}

static bool make_contexts(struct media_crypto *c, const struct sdes *theirs)
{
    const struct sdes *mine = mine_of(c, theirs->suite);
    if (!c->out || c->out_suite != mine->suite) {
        c->out = mem_deref(c->out);
        c->out_suite = mine->suite;
        if (srtp_alloc(&c->out, mine->suite, mine->key, SDES_KEY_LEN, 0))
            return false;
    }
    const bool same = c->in && theirs->suite == c->theirs.suite && !memcmp(theirs->key, c->theirs.key, SDES_KEY_LEN);
    if (!same) { /* a new offer with the same key goes on with its counters */
        c->in = mem_deref(c->in);
        if (srtp_alloc(&c->in, theirs->suite, theirs->key, SDES_KEY_LEN, 0))
            return false;
    }
    c->theirs = *theirs;
    return true;
}

/* The answer repeats the tag of the line that it takes, with our key of that suite. */
static int write_answer(const struct media_crypto *c, struct sdp_media *audio)
{
    char text[SDES_TEXT_MAX];
    struct sdes answer = *mine_of((struct media_crypto *)c, c->theirs.suite);
    answer.tag = c->theirs.tag;
    sdes_write(&answer, text);
    const int e = sdp_media_set_lattr(audio, true, crypto, "%s", text);
    memset(text, 0, sizeof text);
    return e;
}

bool media_crypto_take(struct media_crypto *c, struct sdp_media *audio, bool offer)
{
    struct search s = {.c = c, .offer = offer};
    const bool asked = offer || c->on || c->wish != MEDIA_SRTP_ACCEPT;
    const bool found = asked && sdp_media_rattr_apply(audio, crypto, on_line, &s);
    const bool needed = strstr(sdp_media_proto(audio), "SAVP") || c->wish == MEDIA_SRTP_REQUIRED;
    c->on = false;
    sdp_media_del_lattr(audio, crypto);
    if (!found)
        return !needed;
    c->on = make_contexts(c, &s.found) && (!offer || !write_answer(c, audio));
    memset(&s, 0, sizeof s);
    return c->on;
}

int media_crypto_offer(const struct media_crypto *c, struct sdp_media *audio)
{
    char text[SDES_TEXT_MAX];
    int e = 0;
    sdp_media_del_lattr(audio, crypto);
    for (size_t i = 0; !e && i < MEDIA_CRYPTO_OFFERS; i++) {
        if (c->on ? c->out_suite != c->mine[i].suite : c->wish == MEDIA_SRTP_ACCEPT)
            continue;
        sdes_write(&c->mine[i], text);
        e = sdp_media_set_lattr(audio, false, crypto, "%s", text);
    }
    memset(text, 0, sizeof text);
    return e;
}

void media_crypto_done(struct media_crypto *c)
{
    c->helper = mem_deref(c->helper);
    c->out = mem_deref(c->out);
    c->in = mem_deref(c->in);
    memset(c->mine, 0, sizeof c->mine);
    memset(&c->theirs, 0, sizeof c->theirs);
}
