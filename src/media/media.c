#include "media/media.h"

#include <poll.h>
#include <rem/rem.h>
#include <stdlib.h>

#include "base/mem.h"
#include "media/echo.h"
#include "media/order.h"
#include "media/peer.h"
#include "media/player.h"
#include "media/ports.h"
#include "media/relay.h"
#include "media/terms.h"

#define FRAME      PLAYER_FRAME
#define PT_DYNAMIC 96
#define EVENT_LEN  4     /* of a payload of RFC 4733 */
#define EARLY_MAX  8     /* two codes */
#define PORT_LOW   16384 /* without media_options.ports: as the defaults of voice.rtp_port_low and _high */
#define PORT_HIGH  32767
#define IN_MAX     ORDER_PAYLOAD /* samples of one packet that are decoded */
#define RELAY_MS   200 /* silence is sent once nothing was relayed for this long: more than the jitter of most lines */

struct media {
    const struct media_events *events;
    void *arg;
    struct rtp_sock *rtp;
    struct media_ports *ports; /* which it is from; NULL: from none */
    struct media_terms terms;
    struct media_peer peer;
    struct tick_entry tick;
    struct mbuf *packet;

    bool listening;
    bool any_events; /* voice.any_events */
    struct order order;
    struct dtmf_in in;
    bool resident;
    struct echo *heard;        /* by a resident; NULL: no audio of ours */
    char early[EARLY_MAX + 1]; /* keys that came before the session was started */

    uint32_t timestamp; /* of the next frame */
    bool ahead;         /* the next frame's packet was already sent */
    bool marker;        /* the next audio packet begins a talk spurt */
    bool playing;
    struct player player;
    struct dtmf_out out;

    struct relay relay;     /* packets of another session, sent in place of silence */
    int64_t relay_until_ms; /* the tick is silent until then */
};

/* ---- in ---- */

static void media_on_key(char key, void *arg)
{
    struct media *m = arg;
    const size_t n = strlen(m->early);
    if (m->tick.le.list && !n)
        m->events->key(key, m->arg);
    else if (n < EARLY_MAX)
        m->early[n] = key;
}

/* Reports the keys that came early. */
static void tell_early_keys(struct media *m)
{
    char keys[sizeof m->early];
    memcpy(keys, m->early, sizeof keys);
    memset(m->early, 0, sizeof m->early);
    for (const char *key = keys; *key && m->listening; key++)
        m->events->key(*key, m->arg);
}

/* Whether the packet comes from our peer. */
static bool accept_source(struct media *m, const struct sa *src)
{
    bool other;
    if (!media_peer_accept(&m->peer, &m->terms.rtp, src, &other))
        return false;
    if (other) { /* the numbers of its stream are others */
        order_end(&m->order);
        dtmf_in_new_stream(&m->in);
    }
    return true;
}

/* Gives the packet to the owner, who may stop the session. False: it did. */
static bool pass_on(struct media *m, const struct media_packet *p)
{
    if (m->events->packet)
        m->events->packet(p, m->arg);
    return m->listening;
}

/* Whether a packet is an RFC 4733 event. Without a negotiated type, a dynamic one and the length must do. */
static bool is_event(const struct media *m, uint8_t pt, size_t n)
{
    if (m->terms.event_pt >= 0 && pt == m->terms.event_pt)
        return true;
    return m->any_events && pt >= PT_DYNAMIC && n == EVENT_LEN;
}

/* In the order in which it was sent. */
static void media_on_content(int64_t came_ms, const struct rtp_header *h, const struct order_content *c, void *arg)
{
    struct media *m = arg;
    int16_t samples[IN_MAX];
    if (!m->listening)
        return;
    if (c->event) {
        dtmf_in_event(&m->in, came_ms, h, c->payload, c->n);
        return;
    }
    const size_t n = player_decode_all(h->pt, c->payload, c->n, samples, IN_MAX);
    dtmf_in_audio(&m->in, came_ms, samples, n);
    if (m->events->audio && m->listening)
        m->events->audio(samples, n, m->arg);
}

/* The keys of a resident who has events are no tones. */
static bool hears_audio(const struct media *m)
{
    return !m->resident || !media_events_negotiated(m);
}

/* Audio as it comes: its echo may be back before a missing packet has come. */
static void note_audio(struct media *m, struct media_packet *p)
{
    int16_t samples[IN_MAX];
    const bool waits = order_waits(&m->order);
    const size_t n = m->heard || waits ? player_decode_all(p->pt, p->payload, p->n, samples, IN_MAX) : 0;
    if (m->heard)
        echo_take(m->heard, m->peer.heard_ms, samples, n);
    p->tone = waits ? dtmf_is_tone(samples, n) : dtmf_in_tone(&m->in);
}

static void media_on_rtp(const struct sa *src, const struct rtp_header *h, struct mbuf *mb, void *arg)
{
    struct media *m = arg;
    if (!m->listening)
        return;
    if (!accept_source(m, src)) {
        media_strays_note(&m->peer.refused, src);
        return;
    }
    size_t n = mbuf_get_left(mb);
    if (h->pad && n) { /* the last byte is the length of the padding */
        uint8_t pad = mb->buf[mb->end - 1];
        n = pad <= n ? n - pad : 0;
    }
    m->peer.heard_ms = tick_now_ms();
    struct media_packet p = {.pt = h->pt,
                             .marker = h->m,
                             .event = is_event(m, h->pt, n),
                             .seq = h->seq,
                             .ssrc = h->ssrc,
                             .timestamp = h->ts,
                             .payload = mbuf_buf(mb),
                             .n = n};
    const struct order_content content = {.payload = p.payload, .n = n, .event = p.event};
    const bool audio = !p.event && (h->pt == PT_PCMU || h->pt == PT_PCMA);
    const enum order_place place = order_find(&m->order, h);
    if (place == ORDER_STRAY || !m->listening)
        return;
    p.begins = place == ORDER_BEGINS;
    p.late = place == ORDER_LATE;
    if (p.event && !pass_on(m, &p))
        return;
    order_take(&m->order, m->peer.heard_ms, h, p.event || (audio && hears_audio(m)) ? &content : NULL);
    if (!audio || !m->listening)
        return;
    if (hears_audio(m))
        note_audio(m, &p);
    (void)pass_on(m, &p);
}

bool media_take_info(struct media *m, struct str type, struct str body)
{
    return dtmf_in_info(&m->in, tick_now_ms(), type, body);
}

const struct dtmf_in *media_keys(const struct media *m)
{
    return &m->in;
}

int64_t media_heard_ms(const struct media *m)
{
    return m->peer.heard_ms;
}

bool media_unread(const struct media *m)
{
    struct pollfd p = {.fd = udp_sock_fd(rtp_sock(m->rtp), sa_af(rtp_local(m->rtp))), .events = POLLIN};
    return order_waits(&m->order) || poll(&p, 1, 0) > 0;
}

/* ---- out ---- */

/* A phone that we called over our own trunk may be muted for long. */
static bool may_send(const struct media *m, struct sa *ret_to)
{
    return m->terms.send && media_peer_at(&m->peer, &m->terms.rtp, m->playing || m->resident, ret_to);
}

static void send_packet(struct media *m, const struct sa *to, const struct rtp_header *h, const uint8_t *payload,
                        size_t n)
{
    m->packet->pos = m->packet->end = 0;
    if (rtp_hdr_encode(m->packet, h) || mbuf_write_mem(m->packet, payload, n))
        return;
    m->packet->pos = 0;
    /* A packet that the kernel refuses is lost, as on any network. */
    (void)udp_send(rtp_sock(m->rtp), to, m->packet);
}

static void send_own(struct media *m, bool marker, uint8_t pt, uint32_t timestamp, const uint8_t *payload, size_t n)
{
    struct sa to;
    if (may_send(m, &to))
        send_packet(m, &to,
                    &(struct rtp_header){.ver = RTP_VERSION,
                                         .m = marker,
                                         .pt = pt,
                                         .seq = relay_own(&m->relay),
                                         .ts = timestamp,
                                         .ssrc = rtp_sess_ssrc(m->rtp)},
                    payload, n);
}

static void send_audio(struct media *m, uint32_t timestamp)
{
    uint8_t frame[FRAME];
    player_fill(&m->player, m->terms.pt, frame);
    send_own(m, m->marker, m->terms.pt, timestamp, frame, sizeof frame);
    m->marker = false;
}

/* Sends the packet of the frame at `timestamp`, in place of relayed ones. */
static void send_frame(struct media *m, uint32_t timestamp)
{
    struct dtmf_packet p;
    if (m->relay.on)
        m->marker = true;
    if (!dtmf_out_active(&m->out)) {
        send_audio(m, timestamp);
    } else if (dtmf_out_next(&m->out, timestamp, &p)) {
        send_own(m, p.marker, (uint8_t)m->terms.event_pt, p.timestamp, p.payload, sizeof p.payload);
        m->marker = true;
    } else {
        send_audio(m, timestamp);
    }
}

static void media_on_tick(void *arg, int64_t now_ms)
{
    struct media *m = arg;
    order_tick(&m->order, now_ms);
    if (!m->listening)
        return;
    if (*m->early) {
        tell_early_keys(m);
        if (!m->listening)
            return;
    }
    if (m->ahead)
        m->ahead = false;
    else if (m->playing || now_ms >= m->relay_until_ms)
        send_frame(m, m->timestamp);
    m->timestamp += FRAME;
    if (m->playing && player_ended(&m->player) && !dtmf_out_active(&m->out)) {
        m->playing = false;
        m->events->played(m->arg);
    }
}

/* Sends the first packet of the new sound without waiting for the tick. */
static void media_begin(struct media *m)
{
    m->playing = true;
    if (m->ahead || !m->tick.le.list)
        return;
    send_frame(m, m->timestamp);
    m->ahead = true;
}

void media_relay(struct media *m, const struct media_packet *p)
{
    uint8_t recoded[IN_MAX];
    struct sa to;
    struct relay_place at;
    const bool muted = m->resident && p->tone;
    const bool foreign = !p->event && (muted || p->pt != m->terms.pt);
    if (!m->tick.le.list || m->playing || p->n > IN_MAX || (p->event && m->terms.event_pt < 0))
        return;
    if (!may_send(m, &to) || !relay_take(&m->relay, p, m->timestamp, &at))
        return;
    for (size_t i = 0; foreign && i < p->n; i++)
        recoded[i] = player_encode(m->terms.pt, muted ? 0 : player_decode(p->pt, p->payload[i]));
    send_packet(m, &to,
                &(struct rtp_header){.ver = RTP_VERSION,
                                     .m = p->marker || at.begins || (m->marker && !at.late),
                                     .pt = p->event ? (uint8_t)m->terms.event_pt : m->terms.pt,
                                     .seq = at.seq,
                                     .ts = at.timestamp,
                                     .ssrc = rtp_sess_ssrc(m->rtp)},
                foreign ? recoded : p->payload, p->n);
    m->marker = m->marker && at.late;
    m->relay_until_ms = tick_now_ms() + RELAY_MS;
    const uint32_t next = at.timestamp + (p->event ? 0 : (uint32_t)p->n);
    if ((int32_t)(next - m->timestamp) > 0) /* our own next packet comes after it */
        m->timestamp = next;
}

void media_bridge(struct media *resident, struct media *visitor)
{
    if (!visitor->heard)
        visitor->heard = mem_new(struct echo);
    resident->in.other = visitor->heard;
}

void media_quiet(struct media *m)
{
    m->playing = false;
    player_clear(&m->player);
    m->out = (struct dtmf_out){0};
}

void media_play(struct media *m, const struct sound *parts, size_t n)
{
    media_quiet(m);
    for (size_t i = 0; i < n; i++)
        player_add(&m->player, parts[i]);
    media_begin(m);
}

bool media_press(struct media *m, const char *keys, const struct release *how)
{
    char all[DTMF_KEYS_MAX + 1];
    dtmf_repeat(keys, how->repeat, all);
    media_quiet(m);
    const bool events = media_events_negotiated(m) && how->mode != RELEASE_INBAND;
    if (events) {
        dtmf_out_start(&m->out, all, how->length_ms, how->gap_ms, how->delay_ms);
    } else {
        if (how->delay_ms)
            player_add(&m->player, sound_silence(how->delay_ms));
        for (const char *key = all; *key; key++) {
            player_add(&m->player, sound_key(*key, how->length_ms));
            player_add(&m->player, sound_silence(how->gap_ms));
        }
    }
    media_begin(m);
    return events;
}

void media_listen(struct media *m, const struct sa *signalling)
{
    m->peer.signalling = *signalling;
    m->peer.heard_ms = tick_now_ms();
    m->listening = true;
}

void media_start(struct media *m, struct tick *tick, const struct sa *signalling)
{
    media_listen(m, signalling);
    m->peer.alive_ms = m->peer.heard_ms;
    if (m->tick.le.list) /* audio began before the call was answered */
        return;
    m->marker = true;
    tick_add(tick, &m->tick, media_on_tick, m);
}

void media_expect(struct media *m, const struct sa *host)
{
    m->peer.host = *host;
}

void media_alive(struct media *m, const struct sa *from)
{
    if (sa_cmp(from, &m->peer.signalling, SA_ADDR))
        m->peer.alive_ms = tick_now_ms();
}

void media_stop(struct media *m)
{
    m->listening = false;
    tick_remove(&m->tick);
    media_quiet(m);
}

/* ---- SDP ---- */

enum err media_take_sdp(struct media *m, bool offer, struct mbuf *sdp)
{
    bool moved;
    const enum err e = media_terms_take(&m->terms, offer, sdp, &moved);
    if (!e && moved) {
        m->peer.chosen = false;
        m->peer.alive_ms = tick_now_ms();
    }
    return e;
}

enum err media_make_sdp(struct media *m, bool offer, struct mbuf **ret)
{
    return media_terms_make(&m->terms, offer, ret);
}

const char *media_codec(const struct media *m)
{
    return m->terms.pt == PT_PCMU ? "PCMU" : "PCMA";
}

bool media_takes_audio(const struct media *m)
{
    return m->terms.send || !m->terms.known;
}

bool media_encrypted(const struct media *m)
{
    return m->terms.crypto.on;
}

bool media_events_negotiated(const struct media *m)
{
    return m->terms.event_pt >= 0;
}

/* The RTCP port is bound, as RFC 3550 requires, but its packets are not parsed. */
static void drop_rtcp(const struct sa *src, struct mbuf *mb, void *arg)
{
    (void)src;
    (void)mb;
    (void)arg;
}

/* ---- life ---- */

static enum err open_port(struct media *m, const struct media_options *o)
{
    m->ports = mem_ref(o->ports);
    if (m->ports)
        return media_ports_take(m->ports, media_on_rtp, m, &m->rtp, &m->peer.strays);
    return rtp_listen(&m->rtp, IPPROTO_UDP, o->laddr, PORT_LOW, PORT_HIGH, false, media_on_rtp, NULL, m) ? ERR_IO
                                                                                                         : ERR_NONE;
}

static void close_port(struct media *m)
{
    if (m->ports && m->rtp)
        media_ports_give(m->ports, m->rtp, &m->peer.refused);
    else
        mem_deref(m->rtp);
    mem_deref(m->ports);
}

enum err media_new(struct media **ret, const struct media_options *options, const struct media_events *events,
                   void *arg)
{
    struct media *m = mem_new(struct media);
    m->events = events;
    m->arg = arg;
    m->order = (struct order){.on_content = media_on_content, .arg = m};
    relay_init(&m->relay);
    m->any_events = options->config && options->config->voice_any_events;
    m->timestamp = rand_u32();
    m->packet = mbuf_alloc(RTP_HEADER_SIZE + FRAME);
    if (!m->packet || !dtmf_in_init(&m->in, media_on_key, m))
        goto fail;
    m->resident = m->in.strict = options->resident;
    if (open_port(m, options))
        goto fail;
    udp_handler_set(rtcp_sock(m->rtp), drop_rtcp, NULL);
    if (media_terms_init(&m->terms, options, m->rtp))
        goto fail;
    *ret = m;
    return ERR_NONE;
fail:
    media_free(m);
    return ERR_IO;
}

void media_free(struct media *m)
{
    if (!m)
        return;
    tick_remove(&m->tick);
    order_done(&m->order);
    dtmf_in_done(&m->in);
    media_terms_done(&m->terms);
    close_port(m);
    mem_deref(m->packet);
    free(m->heard);
    free(m);
}
