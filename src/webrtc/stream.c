#include "webrtc/stream.h"

#include <pthread.h>
#include <srtp2/srtp.h>

#include "base/clock.h"
#include "base/library.h"
#include "media/player.h"

#define WINDOW      128 /* packets that may come late */
#define RTCP_LOW    192 /* second byte of RTCP packets (RFC 5761, 4) */
#define RTCP_HIGH   223
#define RTCP_SOURCE 4           /* offset of the SSRC in RTCP, */
#define RTP_SOURCE  8           /* and in RTP */
#define NTP_EPOCH   2208988800u /* 1970 in NTP's seconds */
#define NAME        "portero"

/* ---- SRTP ---- */

#define SRTP(S)                                                                                                        \
    S(srtp_init)                                                                                                       \
    S(srtp_create)                                                                                                     \
    S(srtp_dealloc)                                                                                                    \
    S(srtp_crypto_policy_set_aes_gcm_128_16_auth)                                                                      \
    S(srtp_crypto_policy_set_rtp_default)                                                                              \
    S(srtp_crypto_policy_set_rtcp_default)                                                                             \
    S(srtp_protect)                                                                                                    \
    S(srtp_protect_rtcp)                                                                                               \
    S(srtp_unprotect)                                                                                                  \
    S(srtp_unprotect_rtcp)
LIBRARY(srtp, SRTP);

static pthread_once_t srtp_once = PTHREAD_ONCE_INIT;
static srtp_err_status_t srtp_state = srtp_err_status_init_fail;

static void init_srtp(void)
{
    if (!LIBRARY_LOAD("libsrtp2.so.1", srtp))
        srtp_state = srtp.srtp_init();
}

bool webrtc_stream_prepare(void)
{
    return !pthread_once(&srtp_once, init_srtp) && !srtp_state;
}

static bool make_context(srtp_t *ret, bool gcm, const uint8_t *key, srtp_ssrc_type_t direction)
{
    srtp_policy_t p = {.ssrc = {.type = direction}, .key = (uint8_t *)(uintptr_t)key, .window_size = WINDOW};
    if (gcm) {
        srtp.srtp_crypto_policy_set_aes_gcm_128_16_auth(&p.rtp);
        srtp.srtp_crypto_policy_set_aes_gcm_128_16_auth(&p.rtcp);
    } else {
        srtp.srtp_crypto_policy_set_rtp_default(&p.rtp);
        srtp.srtp_crypto_policy_set_rtcp_default(&p.rtcp);
    }
    return !srtp.srtp_create(ret, &p);
}

void webrtc_stream_init(struct webrtc_stream *s, uint8_t pt)
{
    *s = (struct webrtc_stream){.pt = pt};
    s->mine.ssrc = rand_u32();
    relay_init(&s->mine.relay);
    s->mine.timestamp = rand_u32();
}

bool webrtc_stream_start(struct webrtc_stream *s, const struct webrtc_keys *keys)
{
    srtp_t in = NULL, out = NULL;
    const bool fine = webrtc_stream_prepare() && make_context(&in, keys->gcm, keys->theirs, ssrc_any_inbound) &&
                      make_context(&out, keys->gcm, keys->mine, ssrc_any_outbound);
    s->in = in;
    s->out = out;
    if (!fine)
        webrtc_stream_done(s);
    return fine;
}

void webrtc_stream_done(struct webrtc_stream *s)
{
    if (s->in)
        (void)srtp.srtp_dealloc(s->in);
    if (s->out)
        (void)srtp.srtp_dealloc(s->out);
    s->in = s->out = NULL;
}

/* ---- in ---- */

static bool is_known_source(const struct webrtc_stream *s, uint32_t source)
{
    for (size_t i = 0; i < s->source_count; i++)
        if (s->sources[i] == source)
            return true;
    return false;
}

static uint32_t packet_source(const uint8_t *p, bool rtcp)
{
    uint32_t source;
    memcpy(&source, p + (rtcp ? RTCP_SOURCE : RTP_SOURCE), sizeof source);
    return source;
}

/* Whether the packet is authentic and not a repetition. */
static bool decrypt(struct webrtc_stream *s, uint8_t *p, bool rtcp, int *n)
{
    const uint32_t source = packet_source(p, rtcp);
    const bool known = is_known_source(s, source);
    if (!known && s->source_count == WEBRTC_SOURCES_MAX)
        return false;
    if (rtcp ? srtp.srtp_unprotect_rtcp(s->in, p, n) : srtp.srtp_unprotect(s->in, p, n))
        return false;
    if (!known)
        s->sources[s->source_count++] = source;
    return true;
}

static size_t without_padding(const struct rtp_header *h, const struct mbuf *mb)
{
    const size_t n = mbuf_get_left(mb);
    const uint8_t padding = h->pad && n ? mb->buf[mb->end - 1] : 0;
    return padding <= n ? n - padding : 0;
}

enum webrtc_taken webrtc_stream_take(struct webrtc_stream *s, uint8_t *p, size_t n, struct media_packet *ret)
{
    const bool rtcp = n > 1 && p[1] >= RTCP_LOW && p[1] <= RTCP_HIGH;
    int left = (int)n;
    if (!s->in || n < RTP_HEADER_SIZE || n > WEBRTC_PACKET_MAX || !decrypt(s, p, rtcp, &left))
        return WEBRTC_FORGED;
    struct mbuf mb = {.buf = p, .size = (size_t)left, .end = (size_t)left};
    struct rtp_header h;
    if (rtcp || rtp_hdr_decode(&h, &mb) || h.pt != s->pt)
        return WEBRTC_OTHER;
    const enum order_place place = order_find(&s->order, &h);
    *ret = (struct media_packet){.pt = h.pt,
                                 .marker = h.m,
                                 .begins = place == ORDER_BEGINS,
                                 .late = place == ORDER_LATE,
                                 .seq = h.seq,
                                 .ssrc = h.ssrc,
                                 .timestamp = h.ts,
                                 .payload = mbuf_buf(&mb),
                                 .n = without_padding(&h, &mb)};
    return place == ORDER_STRAY || !ret->n || ret->n > WEBRTC_PAYLOAD_MAX ? WEBRTC_OTHER : WEBRTC_AUDIO;
}

/* ---- out ---- */

/* The timestamp that our stream has reached. */
static uint32_t media_time(const struct webrtc_stream *s, int64_t now_ms)
{
    return s->mine.timestamp + (s->mine.relay.on ? (uint32_t)(now_ms - s->mine.sent_ms) * 8 : 0);
}

static void copy_audio(const struct webrtc_stream *s, const struct media_packet *from, uint8_t *ret)
{
    if (from->pt == s->pt) {
        memcpy(ret, from->payload, from->n);
        return;
    }
    for (size_t i = 0; i < from->n; i++)
        ret[i] = player_encode(s->pt, player_decode(from->pt, from->payload[i]));
}

size_t webrtc_stream_make(struct webrtc_stream *s, const struct media_packet *from, int64_t now_ms,
                          uint8_t ret[static WEBRTC_PACKET_MAX])
{
    struct relay_place at;
    if (!s->out || from->event || !from->n || from->n > WEBRTC_PAYLOAD_MAX ||
        !relay_take(&s->mine.relay, from, media_time(s, now_ms), &at))
        return 0;
    if (!at.late) {
        s->mine.timestamp = at.timestamp;
        s->mine.sent_ms = now_ms;
    }
    const struct rtp_header h = {.ver = RTP_VERSION,
                                 .m = from->marker || at.begins,
                                 .pt = s->pt,
                                 .seq = at.seq,
                                 .ts = at.timestamp,
                                 .ssrc = s->mine.ssrc};
    struct mbuf mb = {.buf = ret, .size = RTP_HEADER_SIZE};
    int n = RTP_HEADER_SIZE + (int)from->n;
    if (rtp_hdr_encode(&mb, &h))
        return 0;
    copy_audio(s, from, ret + RTP_HEADER_SIZE);
    s->mine.packets++;
    s->mine.bytes += (uint32_t)from->n;
    return srtp.srtp_protect(s->out, ret, &n) ? 0 : (size_t)n;
}

/* ---- reports ---- */

static int write_name(struct mbuf *mb, void *arg)
{
    const struct webrtc_stream *s = arg;
    return rtcp_sdes_encode(mb, s->mine.ssrc, 1, RTCP_SDES_CNAME, NAME);
}

static int write_report(struct webrtc_stream *s, struct mbuf *mb, int64_t now_ms)
{
    const int64_t now_us = clock_real_us();
    const uint32_t seconds = (uint32_t)(now_us / US_PER_S) + NTP_EPOCH;
    const uint32_t fraction = (uint32_t)(((uint64_t)(now_us % US_PER_S) << 32) / US_PER_S);
    int (*const no_blocks)(struct mbuf *, void *) = NULL;
    int e = s->mine.relay.on ? rtcp_encode(mb, RTCP_SR, 0, s->mine.ssrc, seconds, fraction, media_time(s, now_ms),
                                           s->mine.packets, s->mine.bytes, no_blocks, NULL)
                             : rtcp_encode(mb, RTCP_RR, 0, s->mine.ssrc, no_blocks, NULL);
    return e ? e : rtcp_encode(mb, RTCP_SDES, 1, write_name, s);
}

size_t webrtc_stream_report(struct webrtc_stream *s, int64_t now_ms, uint8_t ret[static WEBRTC_PACKET_MAX])
{
    int n = 0;
    struct mbuf *mb = s->out ? mbuf_alloc(128) : NULL;
    if (mb && !write_report(s, mb, now_ms) && mb->end + SRTP_MAX_TRAILER_LEN + 4 <= WEBRTC_PACKET_MAX) {
        n = (int)mb->end;
        memcpy(ret, mb->buf, mb->end);
        if (srtp.srtp_protect_rtcp(s->out, ret, &n))
            n = 0;
    }
    mem_deref(mb);
    return (size_t)n;
}
