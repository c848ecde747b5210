/* One call's audio: an RTP session with G.711 both ways and RFC 4733 events, negotiated by SDP.
 *
 * Lives on one thread that runs libre's loop. Sends a packet every tick once started: sound, events or silence. Takes
 * packets only from the host that was negotiated or one the signalling comes from, and from one port of it, chosen once
 * (symmetric RTP), so that nobody else can press keys in a call. Sends there and nowhere else: an address that was only
 * named, as anybody's could be, gets nothing. A peer that sends nothing gets its packets where its SIP was answered. */
#pragma once
#include <re/re.h>

#include "voice/dtmf.h"
#include "voice/sound.h"
#include "voice/tick.h"

struct media;

struct media_events {
    void (*key)(char key, void *arg);                           /* pressed at the other end, once per press */
    void (*played)(void *arg);                                  /* what was started last has been sent */
    void (*audio)(const int16_t *samples, size_t n, void *arg); /* decoded; may be NULL */
};

struct media_options {
    const struct sa *laddr; /* local address; the port is ignored */
    bool events;            /* offer and accept RFC 4733 */
};

/* `events` is not copied. */
enum err media_new(struct media **ret, const struct media_options *options, const struct media_events *events,
                   void *arg) CHECKED;
/* Not from within one of its events. */
void media_free(struct media *m);

/* ---- SDP ---- */

/* Our description, as an offer or as the answer to what media_take_sdp took. The caller derefs *ret. */
enum err media_make_sdp(struct media *m, bool offer, struct mbuf **ret) CHECKED;
/* The peer's, an offer or an answer. ERR_USAGE if there is no audio we can send and receive: the call cannot be. */
enum err media_take_sdp(struct media *m, bool offer, struct mbuf *sdp) CHECKED;

/* ---- running ---- */

/* Packets flow from now on. `signalling` is where the peer's SIP comes from, and an answer of ours has reached it. */
void media_start(struct media *m, struct tick *tick, const struct sa *signalling);
/* Another host the peer's packets may come from. */
void media_expect(struct media *m, const struct sa *host);
/* A message of the peer came from there: one that sends no packets gets ours for a moment longer. */
void media_alive(struct media *m, const struct sa *from);
/* No packet in or out, and no event, from now on. Unlike media_free(), it may be called from within an event. */
void media_stop(struct media *m);
/* Plays the parts (copied; their samples must live until then) in place of what is being played. */
void media_play(struct media *m, const struct sound *parts, size_t n);
/* Presses the keys: as events if the peer takes them, in-band otherwise or if `inband`. The first packet leaves at
 * once. Keys beyond DTMF_KEYS_MAX are dropped. */
void media_press(struct media *m, const char *keys, int64_t tone_ms, int64_t gap_ms, bool inband);
/* Silence from now on; `played` is not called. */
void media_quiet(struct media *m);
/* A SIP INFO that may hold a key. */
bool media_take_info(struct media *m, struct str type, struct str body);
/* The keys that came in, and how. */
const struct dtmf_in *media_keys(const struct media *m);
/* When the last packet of the peer came in, tick_now_ms(). */
int64_t media_heard_ms(const struct media *m);
/* "PCMU", and whether keys go out as events. */
const char *media_codec(const struct media *m);
bool media_events_negotiated(const struct media *m);
