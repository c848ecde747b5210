#include "handset/handset.h"

#include <errno.h>
#include <rem/rem.h>
#include <stdlib.h>

#include "sip/guard.h"

#define HASH_SIZE      16
#define FDS            256
#define TONE_MS        100
#define TIMEOUT_MS     60000
#define LOUD           300  /* mean amplitude above which a packet is sound, not silence */
#define QUIET_MS       400  /* received silence that ends a greeting */
#define NO_AUDIO_MS    3000 /* without a packet: counts as silence */
#define NO_GREETING_MS 1000 /* without a sound: there is no greeting */
#define WAV_MAX        (60 * SOUND_RATE * 2)
#define FLUSH_MS       200 /* after our own BYE */
#define DRAIN_MS       100 /* after the peer's BYE, for audio that came before it */

/* ---- reports ---- */

void handset_report(struct handset *h, const char *event, const char *detail)
{
    if (h->o->json && detail)
        fprintf(h->out, "{\"event\":\"%s\",\"detail\":\"%s\"}\n", event, detail);
    else if (h->o->json)
        fprintf(h->out, "{\"event\":\"%s\"}\n", event);
    else
        fprintf(h->out, "%s%s%s\n", event, detail ? " " : "", detail ? detail : "");
    fflush(h->out);
}

void handset_fail(struct handset *h, const char *what, int error)
{
    char text[80] = "";
    (void)snprintf(h->why, sizeof h->why, "%s%s%s", what, error ? ": " : "",
                   error ? str_error(error, text, sizeof text) : "");
    h->failed = true;
}

/* ---- pressing keys ---- */

/* Counts sounds from now on as the next greeting. A fast service plays it before the last key is released. */
static void expect_greeting(struct handset *h)
{
    h->heard = false;
    h->quiet_samples = 0;
}

static void wait_for_greeting(struct handset *h)
{
    h->playing = false;
    h->waited_ms = tick_now_ms();
}

/* Counts silence in received audio, not in wall time: on a busy machine, packets come late. */
static bool greeting_over(const struct handset *h, int64_t now_ms)
{
    const int64_t waited_ms = now_ms - h->waited_ms;
    if (!h->started && h->o->delay_ms >= 0)
        return waited_ms >= h->o->delay_ms;
    if (!h->heard)
        return waited_ms >= (h->started && h->o->wait_ms ? h->o->wait_ms : NO_GREETING_MS);
    return h->quiet_samples >= SOUND_MS(QUIET_MS) || now_ms - h->audio_ms >= NO_AUDIO_MS;
}

static void info_sent(int err, const struct sip_msg *msg, void *arg)
{
    (void)err;
    (void)msg;
    (void)arg;
}

static void send_info(struct handset *h, char key)
{
    struct mbuf *body = mbuf_alloc(64);
    if (body && !mbuf_printf(body, "Signal=%c\r\nDuration=%d\r\n", key, TONE_MS)) {
        body->pos = 0;
        (void)sipsess_info(h->session, "application/dtmf-relay", body, info_sent, NULL);
    }
    mem_deref(body);
}

static bool key_left(const struct handset *h)
{
    return *h->digits && *h->digits != ',';
}

static void code_pressed(struct handset *h)
{
    h->in_code = false;
    if (*h->digits == ',')
        h->digits++;
    wait_for_greeting(h);
}

/* Presses one key; on_played() presses the next. */
static void press_key(struct handset *h)
{
    const char key[] = {*h->digits++, '\0'};
    expect_greeting(h);
    h->playing = h->in_code = true;
    const struct release how = {.length_ms = h->o->tone_ms ? h->o->tone_ms : TONE_MS,
                                .gap_ms = h->o->gap_ms ? h->o->gap_ms : TONE_MS,
                                .mode = h->o->inband ? RELEASE_INBAND : RELEASE_AUTO};
    (void)media_press(h->media, key, &how);
}

static void press_keys_by_info(struct handset *h)
{
    expect_greeting(h);
    while (key_left(h))
        send_info(h, *h->digits++);
    code_pressed(h);
}

static void play_wav(struct handset *h)
{
    uint32_t n = (uint32_t)(h->wav->end / sizeof(int16_t));
    struct sound s = {.samples = (const int16_t *)(const void *)h->wav->buf, .loop = n, .length = n};
    h->playing = h->wav_played = true;
    media_play(h->media, &s, 1);
}

void handset_act(struct handset *h, int64_t now_ms)
{
    if (h->playing || !greeting_over(h, now_ms))
        return;
    h->started = true;
    if (h->wav && !h->wav_played) {
        play_wav(h);
    } else if (*h->digits == ',') {
        h->digits++;
        expect_greeting(h);
        wait_for_greeting(h);
    } else if (key_left(h) && h->o->info) {
        press_keys_by_info(h);
    } else if (key_left(h)) {
        press_key(h);
    }
}

bool handset_idle(const struct handset *h, int64_t now_ms, int64_t ms)
{
    return !h->playing && !*h->digits && (!h->wav || h->wav_played) && now_ms - h->waited_ms >= ms;
}

/* ---- events of the call ---- */

static void on_key(char key, void *arg)
{
    struct handset *h = arg;
    char text[] = {key, '\0'};
    handset_report(h, "tone", text);
    h->heard_key = true;
}

static void on_played(void *arg)
{
    struct handset *h = arg;
    if (!h->in_code) { /* the file */
        expect_greeting(h);
        wait_for_greeting(h);
    } else if (key_left(h)) {
        press_key(h);
    } else {
        code_pressed(h);
    }
}

static void on_audio(const int16_t *samples, size_t n, void *arg)
{
    struct handset *h = arg;
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += abs(samples[i]);
    h->audio_ms = tick_now_ms();
    if (n && sum / (int64_t)n > LOUD) {
        h->heard = true;
        h->quiet_samples = 0;
    } else {
        h->quiet_samples += n;
    }
}

static const struct media_events heard_events = {.key = on_key, .played = on_played, .audio = on_audio};

void handset_answered(struct handset *h, const struct sa *peer)
{
    h->answered = true;
    handset_report(h, "answered", NULL);
    media_start(h->media, h->tick, peer);
    h->audio_ms = tick_now_ms();
    expect_greeting(h);
    wait_for_greeting(h);
}

bool handset_timed_out(const struct handset *h, int64_t now_ms)
{
    return now_ms - h->began_ms > (h->o->timeout_ms ? h->o->timeout_ms : TIMEOUT_MS);
}

/* ---- the end ---- */

static void on_end(void *arg)
{
    (void)arg;
    re_cancel();
}

void handset_leave(struct handset *h, uint64_t after_ms)
{
    h->closed = true;
    tick_remove(&h->entry);
    if (h->media)
        media_stop(h->media);
    tmr_start(&h->end_timer, after_ms, on_end, NULL);
}

void handset_finish(struct handset *h)
{
    handset_leave(h, FLUSH_MS);
    h->session = mem_deref(h->session);
}

static void on_drained(void *arg)
{
    struct handset *h = arg;
    handset_report(h, "hangup", NULL);
    handset_leave(h, 0);
}

void handset_hung_up(struct handset *h)
{
    tick_remove(&h->entry);
    tmr_start(&h->end_timer, DRAIN_MS, on_drained, h);
}

/* ---- setting up ---- */

static bool load_wav(struct handset *h)
{
    struct aufile *file;
    struct aufile_prm prm;
    int e = aufile_open(&file, &prm, h->o->wav, AUFILE_READ);
    if (e) {
        handset_fail(h, "cannot read the WAV file", e);
        return false;
    }
    bool ok = prm.srate == SOUND_RATE && prm.channels == 1 && prm.fmt == AUFMT_S16LE;
    h->wav = mbuf_alloc(WAV_MAX);
    size_t n = WAV_MAX;
    ok = ok && h->wav && !aufile_read(file, h->wav->buf, &n) && n >= sizeof(int16_t);
    if (ok)
        h->wav->end = n;
    else
        handset_fail(h, "the WAV file is not 8 kHz mono 16 bit PCM", 0);
    mem_deref(file);
    return ok;
}

bool handset_init(struct handset *h, const struct handset_options *o, FILE *out)
{
    *h = (struct handset){.o = o, .out = out, .digits = o->digits ? o->digits : "", .began_ms = tick_now_ms()};
    rand_init();
    int e = fd_setsize(FDS);
    if (e || sound_init()) {
        handset_fail(h, "cannot start", e ? e : ENOMEM);
        return false;
    }
    return !o->wav || load_wav(h);
}

/* Sees each request first. Refuses malformed ones, and answers OPTIONS, with which a trunk's server is probed. */
static bool on_request(const struct sip_msg *msg, void *arg)
{
    struct handset *h = arg;
    const struct sip_verdict v = sip_guard(msg);
    const bool options = !v.status && !pl_strcmp(&msg->met, "OPTIONS");
    if (options)
        (void)sip_reply(h->sip, msg, 200, "OK");
    else if (v.status > 0 && pl_strcmp(&msg->met, "ACK"))
        (void)sip_reply(h->sip, msg, (uint16_t)v.status, v.reason);
    return options || v.status;
}

int handset_open(struct handset *h, const struct sa *local, enum sip_transp transport, const char *agent,
                 sipsess_conn_h *on_call, void *arg)
{
    int e = sip_alloc(&h->sip, NULL, HASH_SIZE, HASH_SIZE, HASH_SIZE, agent, NULL, arg);
    if (!e)
        e = sip_transp_add(h->sip, transport, local);
    if (!e)
        e = sip_listen(&h->requests, h->sip, true, on_request, h);
    if (!e)
        e = sipsess_listen(&h->sessions, h->sip, HASH_SIZE, on_call, arg);
    if (!e && tick_new(&h->tick))
        e = ENOMEM;
    return e;
}

int handset_media(struct handset *h, const struct sa *local)
{
    const struct media_options options = {.laddr = local, .events = !h->o->inband};
    return media_new(&h->media, &options, &heard_events, h) ? EADDRNOTAVAIL : 0;
}

int handset_loop(struct handset *h, void (*on_tick)(void *arg, int64_t now_ms), void *arg)
{
    tick_add(h->tick, &h->entry, on_tick, arg);
    return re_main(NULL);
}

void handset_done(struct handset *h)
{
    tmr_cancel(&h->end_timer);
    h->session = mem_deref(h->session);
    if (h->sessions)
        sipsess_close_all(h->sessions);
    if (h->sip) {
        sip_transp_flush(h->sip);
        sip_close(h->sip, true);
    }
    h->sessions = mem_deref(h->sessions);
    h->requests = mem_deref(h->requests);
    h->sip = mem_deref(h->sip);
    tick_remove(&h->entry);
    media_free(h->media);
    tick_free(h->tick);
    h->wav = mem_deref(h->wav);
}
