/* The packets of a browser's session: SRTP and SRTCP (libsrtp2), and the numbers of our stream. No sockets, and the
 * time is passed in. */
#pragma once
#include "media/media.h"
#include "media/order.h"
#include "media/relay.h"
#include "webrtc/dtls.h"

#define WEBRTC_PAYLOAD_MAX 960  /* 120 ms, far above any ptime in use */
#define WEBRTC_PACKET_MAX  1500 /* with SRTP's trailer */
#define WEBRTC_SOURCES_MAX 8    /* SSRCs that a browser may use in a session */

struct webrtc_stream {
    uint8_t pt;     /* both ways */
    void *in, *out; /* srtp_t; NULL: not ready */

    uint32_t sources[WEBRTC_SOURCES_MAX]; /* SSRCs of authentic packets: libsrtp2 keeps a context for each */
    size_t source_count;
    struct order order; /* of its audio packets */

    struct { /* our stream */
        uint32_t ssrc;
        struct relay relay;
        uint32_t timestamp;      /* of the newest packet */
        int64_t sent_ms;         /* when the newest packet went out */
        uint32_t packets, bytes; /* as reports count them */
    } mine;
};

/* Loads libsrtp2 and prepares it, once for the process. False if that fails. */
bool webrtc_stream_prepare(void) CHECKED;
/* Chooses our SSRC and first numbers. */
void webrtc_stream_init(struct webrtc_stream *s, uint8_t pt);
void webrtc_stream_done(struct webrtc_stream *s);
/* From now on packets are taken and made. False if libsrtp2 fails. */
bool webrtc_stream_start(struct webrtc_stream *s, const struct webrtc_keys *keys) CHECKED;

enum webrtc_taken { WEBRTC_FORGED, WEBRTC_AUDIO, WEBRTC_OTHER };

/* Decrypts an SRTP or SRTCP packet in place. WEBRTC_AUDIO: *ret is a packet of the format, whose payload is within
 * `p`. WEBRTC_OTHER: an authentic packet that is of no use. */
enum webrtc_taken webrtc_stream_take(struct webrtc_stream *s, uint8_t *p, size_t n, struct media_packet *ret);
/* Makes the SRTP packet that relays `from`. Returns its length, or 0. */
size_t webrtc_stream_make(struct webrtc_stream *s, const struct media_packet *from, int64_t now_ms,
                          uint8_t ret[static WEBRTC_PACKET_MAX]);
/* Makes a sender report (SRTCP), or one without a sender if no packet was sent yet. Returns its length, or 0. */
size_t webrtc_stream_report(struct webrtc_stream *s, int64_t now_ms, uint8_t ret[static WEBRTC_PACKET_MAX]);
