#include "webrtc/webrtc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "webrtc/address.h"
#include "webrtc/private.h"

#define BEGIN_MS  15000 /* until the handshake is complete */
#define SILENT_MS 30000 /* between two checks (RFC 7675, 5.1) */
#define REPORT_MS 5000
#define HASH_SIZE 512

/* ---- texts ---- */

const char *webrtc_refusal_text(enum webrtc_refusal r)
{
    static const char *const texts[] = {
        [WEBRTC_TAKEN] = "The offer is taken",
        [WEBRTC_TOO_LONG] = "The offer is longer than 16384 bytes",
        [WEBRTC_NOT_SDP] = "The offer is not SDP as browsers write it",
        [WEBRTC_NO_G711] = "The offer has no audio section of UDP/TLS/RTP/SAVPF with the call's format, PCMU or PCMA",
        [WEBRTC_NO_BUNDLE] = "The audio section must have rtcp-mux and be in the BUNDLE group",
        [WEBRTC_NO_ICE] = "The offer has no ice-ufrag",
        [WEBRTC_NO_FINGERPRINT] = "The offer has no sha-256 fingerprint",
        [WEBRTC_NOT_ACTIVE] = "The offer must have setup actpass or active",
        [WEBRTC_OWNER_HAS_MANY] = "The account has too many browsers in calls",
        [WEBRTC_FULL] = "Too many browsers are in calls",
    };
    return texts[r];
}

const char *webrtc_end_text(enum webrtc_end end)
{
    static const char *const texts[] = {
        [WEBRTC_CLOSED] = "closed",
        [WEBRTC_SILENT] = "silent",
        [WEBRTC_UNREACHED] = "unreached",
        [WEBRTC_NO_HANDSHAKE] = "no_handshake",
        [WEBRTC_NOT_THE_OFFERER] = "other_certificate",
    };
    return texts[end];
}

/* ---- the end of a session ---- */

static void end_session(struct webrtc_session *s, enum webrtc_end why)
{
    s->state = WEBRTC_STATE_GONE;
    webrtc_check_forget(s);
    webrtc_stream_done(&s->stream);
    s->events->gone(why, s->arg);
}

/* Takes the session out of the endpoint. */
static void take_session_out(struct webrtc_session *s)
{
    struct webrtc *w = s->endpoint;
    if (s->dtls && s->state != WEBRTC_STATE_GONE)
        webrtc_dtls_close(s->dtls);
    s->state = WEBRTC_STATE_GONE;
    webrtc_check_forget(s);
    w->slots[s->slot] = NULL;
    s->endpoint = NULL;
    if (!--w->count)
        tick_remove(&w->entry);
}

void webrtc_close(struct webrtc_session *s)
{
    if (!s)
        return;
    take_session_out(s);
    mem_deref(s);
}

static void session_destructor(void *arg)
{
    struct webrtc_session *s = arg;
    webrtc_dtls_free(s->dtls);
    webrtc_stream_done(&s->stream);
    crypto_wipe(s->password, sizeof s->password);
}

/* ---- datagrams ---- */

static void send_datagram(const uint8_t *p, size_t n, void *arg)
{
    const struct webrtc_session *s = arg;
    if (s->endpoint && s->path)
        webrtc_socket_send(s->endpoint->socket, &s->path->local, &s->path->remote, p, n);
}

static void begin_talk(struct webrtc_session *s)
{
    struct webrtc_keys keys;
    const bool fine = webrtc_dtls_keys(s->dtls, &keys) && webrtc_stream_start(&s->stream, &keys);
    crypto_wipe(&keys, sizeof keys);
    if (!fine) {
        end_session(s, WEBRTC_NO_HANDSHAKE);
        return;
    }
    s->state = WEBRTC_STATE_READY;
    s->report_ms = s->endpoint->now_ms(s->endpoint->arg);
    s->events->ready(s->arg);
}

static void follow_dtls(struct webrtc_session *s, enum webrtc_dtls_state state)
{
    const bool ready = s->state == WEBRTC_STATE_READY;
    if (state == WEBRTC_DTLS_UP && !ready)
        begin_talk(s);
    else if (state == WEBRTC_DTLS_STRANGER)
        end_session(s, WEBRTC_NOT_THE_OFFERER);
    else if (state == WEBRTC_DTLS_CLOSED || (state == WEBRTC_DTLS_FAILED && ready))
        end_session(s, WEBRTC_CLOSED);
    else if (state == WEBRTC_DTLS_FAILED)
        end_session(s, WEBRTC_NO_HANDSHAKE);
}

/* The browser begins the handshake on a pair of addresses that works for it. */
static void take_dtls(struct webrtc_session *s, struct webrtc_path *path, const uint8_t *p, size_t n)
{
    if (!s->nominated)
        s->path = path;
    if (!s->dtls)
        s->dtls = webrtc_dtls_new(s->endpoint->identity, s->print, send_datagram, s);
    if (s->dtls)
        follow_dtls(s, webrtc_dtls_take(s->dtls, p, n));
}

static void take_media(struct webrtc_session *s, uint8_t *p, size_t n)
{
    struct media_packet packet;
    const enum webrtc_taken taken = webrtc_stream_take(&s->stream, p, n, &packet);
    if (taken == WEBRTC_FORGED) {
        s->counts.refused++;
        return;
    }
    s->heard_ms = s->endpoint->now_ms(s->endpoint->arg);
    if (taken != WEBRTC_AUDIO || !s->talks)
        return;
    s->counts.in++;
    s->events->packet(&packet, s->arg);
}

/* RFC 7983: the first byte tells STUN, DTLS and RTP apart. */
void webrtc_take(uint8_t *p, size_t n, const struct sa *from, const struct sa *to, void *arg)
{
    struct webrtc *w = arg;
    if (n < 2)
        return;
    if (p[0] <= 3) {
        webrtc_check_take(w, p, n, from, to);
        return;
    }
    struct webrtc_path *path = w->count ? webrtc_check_path(w, from, to) : NULL;
    if (!path)
        return;
    struct webrtc_session *s = mem_ref(path->session);
    if (p[0] >= 20 && p[0] <= 63)
        take_dtls(s, path, p, n);
    else if (p[0] >= 128 && p[0] <= 191 && s->state == WEBRTC_STATE_READY)
        take_media(s, p, n);
    mem_deref(s);
}

/* ---- time ---- */

static void send_report(struct webrtc_session *s, int64_t now_ms)
{
    const size_t n = webrtc_stream_report(&s->stream, now_ms, s->endpoint->out);
    s->report_ms = now_ms + REPORT_MS;
    if (n)
        send_datagram(s->endpoint->out, n, s);
}

static void tick_session(struct webrtc_session *s, int64_t now_ms)
{
    if (s->state == WEBRTC_STATE_OPEN && s->dtls)
        follow_dtls(s, webrtc_dtls_tick(s->dtls));
    if (s->state == WEBRTC_STATE_OPEN && now_ms - s->opened_ms >= BEGIN_MS)
        end_session(s, s->path ? WEBRTC_NO_HANDSHAKE : WEBRTC_UNREACHED);
    else if (s->state == WEBRTC_STATE_READY && now_ms - s->checked_ms >= SILENT_MS)
        end_session(s, WEBRTC_SILENT);
    else if (s->state == WEBRTC_STATE_READY && now_ms >= s->report_ms)
        send_report(s, now_ms);
}

void webrtc_on_tick(void *arg, int64_t now_ms)
{
    struct webrtc *w = arg;
    for (size_t i = 0; i < WEBRTC_SESSIONS_MAX && w->count; i++) {
        struct webrtc_session *s = mem_ref(w->slots[i]);
        if (s)
            tick_session(s, now_ms);
        mem_deref(s);
    }
}

static void rtc_on_tick(void *arg, int64_t now_ms)
{
    (void)now_ms;
    const struct webrtc *w = arg;
    webrtc_on_tick(arg, w->now_ms(w->arg));
}

/* ---- sessions ---- */

static bool find_slot(const struct webrtc *w, unsigned *ret)
{
    for (unsigned i = 0; i < WEBRTC_SESSIONS_MAX; i++) {
        if (w->slots[i])
            continue;
        *ret = i;
        return true;
    }
    return false;
}

static unsigned count_of(const struct webrtc *w, uint64_t owner)
{
    unsigned n = 0;
    for (size_t i = 0; i < WEBRTC_SESSIONS_MAX; i++)
        n += w->slots[i] && w->slots[i]->owner == owner;
    return n;
}

static struct webrtc_session *make_session(const struct webrtc_request *r, const struct webrtc_offer *offer,
                                           unsigned slot)
{
    struct webrtc_session *s = mem_zalloc(sizeof *s, session_destructor);
    if (!s)
        return NULL;
    s->slot = slot;
    s->owner = r->owner;
    s->listens = offer->listens;
    s->talks = offer->talks;
    memcpy(s->remote_ufrag, offer->ufrag, sizeof s->remote_ufrag);
    memcpy(s->print, offer->print, sizeof s->print);
    (void)snprintf(s->ufrag, sizeof s->ufrag, "%0*x", WEBRTC_SLOT_LEN, slot);
    crypto_base62(s->ufrag + WEBRTC_SLOT_LEN, WEBRTC_UFRAG_LEN - WEBRTC_SLOT_LEN);
    crypto_base62(s->password, WEBRTC_PASSWORD_LEN);
    webrtc_stream_init(&s->stream, r->pt);
    return s;
}

static bool write_session_answer(const struct webrtc *w, const struct webrtc_session *s,
                                 const struct webrtc_offer *offer, char answer[static WEBRTC_ANSWER_MAX])
{
    struct sa candidates[WEBRTC_CANDIDATES_MAX];
    const struct sa *external = sa_isset(&w->external, SA_ADDR) ? &w->external : NULL;
    const struct webrtc_answer a = {.ufrag = s->ufrag,
                                    .password = s->password,
                                    .print = webrtc_identity_print(w->identity),
                                    .ssrc = s->stream.mine.ssrc,
                                    .pt = s->stream.pt,
                                    .candidates = candidates,
                                    .count = webrtc_address_list(webrtc_address(w), external, candidates)};
    return webrtc_sdp_answer(offer, &a, answer);
}

static void attach(struct webrtc *w, struct webrtc_session *s, const struct webrtc_events *events, void *arg)
{
    s->endpoint = w;
    s->events = events;
    s->arg = arg;
    s->opened_ms = s->checked_ms = w->now_ms(w->arg);
    w->slots[s->slot] = s;
    if (!w->count++)
        tick_add(w->tick, &w->entry, rtc_on_tick, w);
}

enum webrtc_refusal webrtc_open(struct webrtc *w, const struct webrtc_request *request,
                                const struct webrtc_events *events, void *arg, char answer[static WEBRTC_ANSWER_MAX],
                                struct webrtc_session **ret)
{
    struct webrtc_offer offer;
    unsigned slot;
    if (count_of(w, request->owner) >= WEBRTC_OWNER_MAX)
        return WEBRTC_OWNER_HAS_MANY;
    if (!find_slot(w, &slot))
        return WEBRTC_FULL;
    const enum webrtc_refusal r = webrtc_sdp_read(request->offer, request->pt, &offer);
    if (r)
        return r;
    struct webrtc_session *s = make_session(request, &offer, slot);
    if (!s)
        return WEBRTC_FULL;
    if (!write_session_answer(w, s, &offer, answer)) {
        mem_deref(s);
        return WEBRTC_NOT_SDP; /* too many sections to refuse */
    }
    attach(w, s, events, arg);
    *ret = s;
    return WEBRTC_TAKEN;
}

void webrtc_send(struct webrtc_session *s, const struct media_packet *p)
{
    if (s->state != WEBRTC_STATE_READY || !s->listens || !s->path)
        return;
    struct webrtc *w = s->endpoint;
    const size_t n = webrtc_stream_make(&s->stream, p, w->now_ms(w->arg), w->out);
    if (!n)
        return;
    s->counts.out++;
    send_datagram(w->out, n, s);
}

bool webrtc_ready(const struct webrtc_session *s)
{
    return s->state == WEBRTC_STATE_READY;
}

bool webrtc_may_talk(const struct webrtc_session *s)
{
    return s->talks;
}

int64_t webrtc_alive_ms(const struct webrtc_session *s)
{
    return s->heard_ms > s->checked_ms ? s->heard_ms : s->checked_ms;
}

struct webrtc_counts webrtc_counts(const struct webrtc_session *s)
{
    return s->counts;
}

/* ---- the endpoint ---- */

static int64_t rtc_now_ms(void *arg)
{
    (void)arg;
    return tick_now_ms();
}

enum err webrtc_new(struct webrtc **ret, const struct webrtc_options *o)
{
    struct webrtc *w = mem_new(struct webrtc);
    w->tick = o->tick;
    w->now_ms = o->now_ms ? o->now_ms : rtc_now_ms;
    w->arg = o->arg;
    if (o->external)
        w->external = *o->external;
    w->identity = webrtc_identity_new();
    int e = w->identity && webrtc_stream_prepare() ? hash_alloc(&w->paths, HASH_SIZE) : ENOMEM;
    if (!e && webrtc_socket_open(&w->socket, o->listen, webrtc_take, w))
        e = errno;
    if (!e) {
        *ret = w;
        return ERR_NONE;
    }
    webrtc_free(w);
    errno = e;
    return ERR_IO;
}

void webrtc_free(struct webrtc *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < WEBRTC_SESSIONS_MAX; i++)
        webrtc_close(w->slots[i]);
    webrtc_socket_close(w->socket);
    webrtc_identity_free(w->identity);
    mem_deref(w->paths);
    free(w);
}

const struct sa *webrtc_address(const struct webrtc *w)
{
    return webrtc_socket_address(w->socket);
}

bool webrtc_is_local(const struct webrtc *w)
{
    struct sa candidates[WEBRTC_CANDIDATES_MAX];
    const struct sa *external = sa_isset(&w->external, SA_ADDR) ? &w->external : NULL;
    const size_t n = webrtc_address_list(webrtc_address(w), external, candidates);
    for (size_t i = 0; i < n; i++)
        if (!sa_is_loopback(&candidates[i]))
            return false;
    return true;
}

unsigned webrtc_count(const struct webrtc *w)
{
    return w->count;
}
