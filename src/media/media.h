/* One call's audio: an RTP or SRTP session with G.711 both ways and RFC 4733 events, negotiated by SDP.
 *
 * Lives on one thread that runs libre's loop. Once started, sends a packet every tick: sound, events or silence.
 * Accepts packets from one address at a time, so that nobody else can press keys in a call: the one of the SDP; another
 * port of the negotiated host, or a host of the signalling, only while no packet comes from it (symmetric RTP behind
 * NAT). Sends only to that address: an address that is merely named in SDP could be a third party's and gets no packet.
 * A peer that sends no packets gets ours at the host of its SIP. */
#pragma once
#include <re/re.h>

#include "call/sound.h"
#include "domain/door_settings.h"
#include "media/crypto.h"
#include "media/dtmf.h"
#include "media/tick.h"

struct media;
struct media_ports;

/* A packet of the peer: G.711 audio, or an RFC 4733 event. */
struct media_packet {
    uint8_t pt;
    bool marker;
    bool begins; /* a stream, after the last packet's */
    bool late;   /* a later one came before it */
    bool event;
    bool tone; /* of a key, in the audio */
    uint16_t seq;
    uint32_t ssrc, timestamp;
    const uint8_t *payload; /* as long as the call of the handler */
    size_t n;
};

struct media_events {
    void (*key)(char key, void *arg);                           /* once per press at the other end */
    void (*played)(void *arg);                                  /* the last media_play or media_press has been sent */
    void (*audio)(const int16_t *samples, size_t n, void *arg); /* decoded; may be NULL */
    void (*packet)(const struct media_packet *p, void *arg);    /* accepted; may be NULL */
};

struct media_options {
    const struct sa *laddr;      /* local address; the port is ignored */
    const struct config *config; /* external address, voice.any_events; NULL: the defaults */
    struct media_ports *ports;   /* of laddr; NULL: a random port */
    const struct sa *peer;       /* of its SIP, which the external address depends on; may be NULL */
    bool events;                 /* offer and accept RFC 4733 */
    bool resident;               /* of a resident's phone: only its own keys count (media_bridge) */
    enum media_srtp srtp;        /* how our own offers and answers handle it */
};

/* `events` is not copied and must outlive the session. ERR_IO if no port can be bound. */
enum err media_new(struct media **ret, const struct media_options *options, const struct media_events *events,
                   void *arg) CHECKED;
/* Must not be called from within an event of this session. */
void media_free(struct media *m);

/* ---- SDP ---- */

/* Our SDP, as an offer or as the answer to the SDP that media_take_sdp took. The caller derefs *ret. */
enum err media_make_sdp(struct media *m, bool offer, struct mbuf **ret) CHECKED;
/* Takes the peer's SDP, an offer or an answer. ERR_USAGE if it has no audio format in common with ours, no usable key
 * where RTP/SAVP needs one, or more text than is read (media/sdp_text.h). */
enum err media_take_sdp(struct media *m, bool offer, struct mbuf *sdp) CHECKED;

/* ---- running ---- */

/* Accepts packets, and sends none: for the time until the peer has proved that it received our SDP. The keys of that
 * time, eight at most, are reported after media_start(). */
void media_listen(struct media *m, const struct sa *signalling);
/* Starts the flow of packets (or lets it go on), before or after the call is answered. `signalling` is the source of
 * the peer's SIP; it must have proved that it received our SDP. */
void media_start(struct media *m, struct tick *tick, const struct sa *signalling);
/* Adds a host that the peer's packets may come from. */
void media_expect(struct media *m, const struct sa *host);
/* A SIP message of the peer came from there: extends the time for which a peer that sends no packets gets ours. */
void media_alive(struct media *m, const struct sa *from);
/* Stops packets and events. Unlike media_free(), it may be called from within an event. */
void media_stop(struct media *m);
/* Plays the parts in place of the current sound. Copies the parts; their samples must live until they are played. */
void media_play(struct media *m, const struct sound *parts, size_t n);
/* Presses the keys in the form `how`: in-band if it says so or the peer does not accept events, otherwise as events; a
 * `repeat` of 0 is 1. Sends the first packet at once. Keys beyond DTMF_KEYS_MAX are dropped. Returns whether they go
 * out as events. */
bool media_press(struct media *m, const char *keys, const struct release *how);
/* Stops the current sound; `played` is not called. */
void media_quiet(struct media *m);
/* Sends a packet of another session in place of silence: in our own stream, in the negotiated G.711 format, events with
 * the negotiated type. Drops it while a sound or key plays, while the peer holds the call, and events that the peer
 * does not accept. Once packets are relayed, silence is sent only when none came for 200 ms. */
void media_relay(struct media *m, const struct media_packet *p);
/* A resident and a visitor begin to hear each other. A key of the visitor that an echo returns is no key of the
 * resident: packets with the tone of a key are relayed to a resident as silence, and tones in the audio of a resident
 * are a key only where RFC 4733 was not negotiated, from -30 dBm0 on, and if the visitor's audio of the last second
 * had none of that key. The visitor's session must live until the resident's is stopped. */
void media_bridge(struct media *resident, struct media *visitor);
/* Takes the body of a SIP INFO; false if it holds no key. */
bool media_take_info(struct media *m, struct str type, struct str body);
/* The received keys, with counters by source. */
const struct dtmf_in *media_keys(const struct media *m);
/* Arrival of the peer's last packet, as tick_now_ms(). */
int64_t media_heard_ms(const struct media *m);
/* Whether packets of the peer were not read yet, or a key waits for a missing packet before it. */
bool media_unread(const struct media *m);
/* Whether the packets are SRTP. */
bool media_encrypted(const struct media *m);
/* Whether the peer takes our audio: not if its SDP holds the call, only sends, or has no address. Without its SDP: yes.
 */
bool media_takes_audio(const struct media *m);
/* "PCMU" or "PCMA". */
const char *media_codec(const struct media *m);
bool media_events_negotiated(const struct media *m);
