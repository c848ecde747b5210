/* Browsers that talk in calls: one UDP port for all of them (ICE-lite, DTLS-SRTP, G.711).
 *
 * Lives on one thread that runs libre's loop. A session begins with the browser's SDP offer. The browser then checks
 * the addresses of our answer (RFC 8445); a check with the session's password proves an address of the browser, and
 * packets go to such an address only: the candidates of the offer are never read. After that the browser begins the
 * DTLS handshake, whose certificate must have the fingerprint of the offer.
 *
 * Packets are passed on as they arrive, with the distances of their sequence numbers and timestamps. */
#pragma once
#include <re/re.h>

#include "base/err.h"
#include "base/str.h"
#include "media/media.h"
#include "media/tick.h"

#define WEBRTC_OFFER_MAX    16384 /* bytes of an offer */
#define WEBRTC_ANSWER_MAX   8192
#define WEBRTC_SESSIONS_MAX 512
#define WEBRTC_OWNER_MAX    32 /* sessions of one owner */

struct webrtc;
struct webrtc_session;

/* ---- the endpoint ---- */

struct webrtc_options {
    const struct sa *listen;      /* address and port; port 0 is a free one */
    const struct sa *external;    /* also offered to browsers, with the bound port; may be NULL */
    struct tick *tick;            /* must outlive the endpoint */
    int64_t (*now_ms)(void *arg); /* the monotonic clock; NULL: tick_now_ms() */
    void *arg;
};

/* Binds the port and makes a certificate. ERR_IO with errno: the port cannot be bound, or no memory. */
enum err webrtc_new(struct webrtc **ret, const struct webrtc_options *options) CHECKED;
/* Closes the sessions that are left, without a report. NULL is fine. */
void webrtc_free(struct webrtc *w);
/* The bound address. */
const struct sa *webrtc_address(const struct webrtc *w);
/* Whether browsers on other machines have no address to reach: none but loopback would be offered. */
bool webrtc_is_local(const struct webrtc *w);
unsigned webrtc_count(const struct webrtc *w);

/* ---- sessions ---- */

/* The reason why an offer is refused. */
enum webrtc_refusal {
    WEBRTC_TAKEN,          /* it is not */
    WEBRTC_TOO_LONG,       /* more than WEBRTC_OFFER_MAX bytes */
    WEBRTC_NOT_SDP,        /* cannot be read */
    WEBRTC_NO_G711,        /* no audio section that offers PCMU or PCMA with DTLS-SRTP */
    WEBRTC_NO_BUNDLE,      /* the audio section is not in the BUNDLE group, or has no rtcp-mux */
    WEBRTC_NO_ICE,         /* no ICE user name */
    WEBRTC_NO_FINGERPRINT, /* no SHA-256 fingerprint */
    WEBRTC_NOT_ACTIVE,     /* the browser does not want to begin the DTLS handshake */
    WEBRTC_OWNER_HAS_MANY, /* WEBRTC_OWNER_MAX */
    WEBRTC_FULL,           /* WEBRTC_SESSIONS_MAX, or no memory */
};

/* One sentence for developers of clients, without a period. */
const char *webrtc_refusal_text(enum webrtc_refusal r);

/* The reason why a session is gone. */
enum webrtc_end {
    WEBRTC_CLOSED,         /* the browser said so: the page was closed, or hung up */
    WEBRTC_SILENT,         /* no check for 30 s: the browser or its network is gone */
    WEBRTC_UNREACHED,      /* no check in the first 15 s: the browser cannot reach our port */
    WEBRTC_NO_HANDSHAKE,   /* checked, but DTLS failed or was not complete after 15 s */
    WEBRTC_NOT_THE_OFFERER /* the certificate is not the offer's */
};

/* A word for the log and the call's record. */
const char *webrtc_end_text(enum webrtc_end end);

/* Each may call any function of a session, webrtc_close() as well. */
struct webrtc_events {
    void (*ready)(void *arg); /* once: the browser has proved that it made the offer; webrtc_send() works from now on */
    void (*packet)(const struct media_packet *p, void *arg); /* G.711 in the format asked for, never an event */
    void (*gone)(enum webrtc_end end, void *arg); /* the last report; the owner still has to call webrtc_close() */
};

struct webrtc_request {
    struct str offer;
    uint64_t owner; /* an account, say: the number that WEBRTC_OWNER_MAX holds for */
    uint8_t pt;     /* PT_PCMU or PT_PCMA: the format of the other leg, the only one in the answer */
};

/* Takes an offer. `events` is not copied and must outlive the session. Writes the SDP of the answer, NUL-terminated.
 * A recvonly offer gets a sendonly answer. */
enum webrtc_refusal webrtc_open(struct webrtc *w, const struct webrtc_request *request,
                                const struct webrtc_events *events, void *arg, char answer[static WEBRTC_ANSWER_MAX],
                                struct webrtc_session **ret) CHECKED;
/* Tells the browser and frees the session. NULL is fine. */
void webrtc_close(struct webrtc_session *s);
/* Sends a packet of another session: in our own stream, with the distances of its sequence numbers and timestamps, and
 * recoded if this session has another format. Drops it before `ready`, events, and if the browser only talks. */
void webrtc_send(struct webrtc_session *s, const struct media_packet *p);
bool webrtc_ready(const struct webrtc_session *s);
/* Whether the offer lets the browser talk, or it only listens. */
bool webrtc_may_talk(const struct webrtc_session *s);
/* Arrival of the last check or packet, as tick_now_ms(): the browser is there, even if its microphone is off. */
int64_t webrtc_alive_ms(const struct webrtc_session *s);

struct webrtc_counts {
    uint64_t in, out; /* packets with audio */
    uint64_t refused; /* forged, repeated or malformed ones */
};

struct webrtc_counts webrtc_counts(const struct webrtc_session *s);
