#include "voice/buzz.h"

#include <errno.h>
#include <rem/rem.h>
#include <stdlib.h>

#include "base/mem.h"
#include "voice/media.h"
#include "voice/reach.h"

#define HASH_SIZE      16
#define FDS            256
#define TONE_MS        100
#define TIMEOUT_MS     60000
#define SILENT_MS      3000  /* without any answer: print advice */
#define GIVE_UP_MS     10000 /* without any answer: end the call */
#define LOUD           300   /* mean amplitude above which a packet is sound, not silence */
#define QUIET_MS       400   /* received silence that ends a greeting */
#define NO_AUDIO_MS    3000  /* without a packet: counts as silence */
#define NO_GREETING_MS 1000  /* without a sound: there is no greeting */
#define WAV_MAX        (60 * SOUND_RATE * 2)
#define FLUSH_MS       200 /* after our own BYE */
#define DRAIN_MS       100 /* after the peer's BYE, for audio that came before it */

struct buzz {
    const struct buzz_options *o;
    FILE *out;
    int status;
    char why[400];

    struct sip *sip;
    struct sipsess_sock *sessions;
    struct sipsess *session;
    struct media *media;
    struct tick *tick;
    struct tick_entry entry;
    struct tmr end_timer;
    struct mbuf *wav;
    struct sa server;
    bool tcp;

    const char *digits; /* not pressed yet */
    bool wav_played, started;
    bool reached; /* some message came back */
    bool advised; /* the advice was printed */
    bool answered, closed;
    bool playing;         /* a key or the file */
    bool in_code;         /* from the first key of a code to its last */
    int64_t began_ms;     /* the call was placed */
    int64_t waited_ms;    /* start of the wait for a greeting */
    int64_t audio_ms;     /* arrival of the last packet of audio */
    bool heard;           /* a sound since the last key went down */
    size_t quiet_samples; /* received since the last sound */
};

/* ---- reports ---- */

static void buzz_report(struct buzz *b, const char *event, const char *detail)
{
    if (b->o->json && detail)
        fprintf(b->out, "{\"event\":\"%s\",\"detail\":\"%s\"}\n", event, detail);
    else if (b->o->json)
        fprintf(b->out, "{\"event\":\"%s\"}\n", event);
    else
        fprintf(b->out, "%s%s%s\n", event, detail ? " " : "", detail ? detail : "");
    fflush(b->out);
}

static void buzz_fail(struct buzz *b, const char *what, int error)
{
    char text[80] = "";
    (void)snprintf(b->why, sizeof b->why, "%s%s%s", what, error ? ": " : "",
                   error ? str_error(error, text, sizeof text) : "");
    b->status = BUZZ_FAILED;
}

/* ---- pressing keys ---- */

/* Counts sounds from now on as the next greeting. A fast service plays it before the last key is released. */
static void expect_greeting(struct buzz *b)
{
    b->heard = false;
    b->quiet_samples = 0;
}

static void wait_for_greeting(struct buzz *b)
{
    b->playing = false;
    b->waited_ms = tick_now_ms();
}

/* Counts silence in received audio, not in wall time: on a busy machine, packets come late. */
static bool greeting_over(const struct buzz *b, int64_t now_ms)
{
    const int64_t waited_ms = now_ms - b->waited_ms;
    if (!b->started && b->o->delay_ms >= 0)
        return waited_ms >= b->o->delay_ms;
    if (!b->heard)
        return waited_ms >= (b->started && b->o->wait_ms ? b->o->wait_ms : NO_GREETING_MS);
    return b->quiet_samples >= SOUND_MS(QUIET_MS) || now_ms - b->audio_ms >= NO_AUDIO_MS;
}

static void info_sent(int err, const struct sip_msg *msg, void *arg)
{
    (void)err;
    (void)msg;
    (void)arg;
}

static void send_info(struct buzz *b, char key)
{
    struct mbuf *body = mbuf_alloc(64);
    if (body && !mbuf_printf(body, "Signal=%c\r\nDuration=%d\r\n", key, TONE_MS)) {
        body->pos = 0;
        (void)sipsess_info(b->session, "application/dtmf-relay", body, info_sent, NULL);
    }
    mem_deref(body);
}

static bool key_left(const struct buzz *b)
{
    return *b->digits && *b->digits != ',';
}

static void code_pressed(struct buzz *b)
{
    b->in_code = false;
    if (*b->digits == ',')
        b->digits++;
    wait_for_greeting(b);
}

/* Presses one key; on_played() presses the next. */
static void press_key(struct buzz *b)
{
    const char key[] = {*b->digits++, '\0'};
    expect_greeting(b);
    b->playing = b->in_code = true;
    const struct release how = {.length_ms = b->o->tone_ms ? b->o->tone_ms : TONE_MS,
                                .gap_ms = b->o->gap_ms ? b->o->gap_ms : TONE_MS,
                                .mode = b->o->inband ? RELEASE_INBAND : RELEASE_AUTO};
    (void)media_press(b->media, key, &how);
}

static void press_keys_by_info(struct buzz *b)
{
    expect_greeting(b);
    while (key_left(b))
        send_info(b, *b->digits++);
    code_pressed(b);
}

static void play_wav(struct buzz *b)
{
    uint32_t n = (uint32_t)(b->wav->end / sizeof(int16_t));
    struct sound s = {.samples = (const int16_t *)(const void *)b->wav->buf, .loop = n, .length = n};
    b->playing = b->wav_played = true;
    media_play(b->media, &s, 1);
}

/* Takes the next step of the script, unless something plays or the greeting has not ended. */
static void buzz_act(struct buzz *b, int64_t now_ms)
{
    if (b->playing || !greeting_over(b, now_ms))
        return;
    b->started = true;
    if (b->wav && !b->wav_played) {
        play_wav(b);
    } else if (*b->digits == ',') {
        b->digits++;
        expect_greeting(b);
        wait_for_greeting(b);
    } else if (key_left(b) && b->o->info) {
        press_keys_by_info(b);
    } else if (key_left(b)) {
        press_key(b);
    }
}

/* ---- events of the call ---- */

static void buzz_on_key(char key, void *arg)
{
    struct buzz *b = arg;
    char text[] = {key, '\0'};
    buzz_report(b, "tone", text);
    b->status = BUZZ_OPENED;
}

static void buzz_on_played(void *arg)
{
    struct buzz *b = arg;
    if (!b->in_code) { /* the file */
        expect_greeting(b);
        wait_for_greeting(b);
    } else if (key_left(b)) {
        press_key(b);
    } else {
        code_pressed(b);
    }
}

static void buzz_on_audio(const int16_t *samples, size_t n, void *arg)
{
    struct buzz *b = arg;
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += abs(samples[i]);
    b->audio_ms = tick_now_ms();
    if (n && sum / (int64_t)n > LOUD) {
        b->heard = true;
        b->quiet_samples = 0;
    } else {
        b->quiet_samples += n;
    }
}

static const struct media_events buzz_media_events = {
    .key = buzz_on_key, .played = buzz_on_played, .audio = buzz_on_audio};

static void buzz_on_end(void *arg)
{
    (void)arg;
    re_cancel();
}

/* Leaves the loop after the last messages were sent. */
static void buzz_finish(struct buzz *b, uint64_t after_ms)
{
    b->closed = true;
    tick_remove(&b->entry);
    media_stop(b->media);
    tmr_start(&b->end_timer, after_ms, buzz_on_end, NULL);
}

/* No message came back, not even 100 Trying (RFC 3261, 17.2.1). The first report includes advice. */
static void fail_unanswered(struct buzz *b, int64_t waited_ms)
{
    static const char advice[] = ": is the service running, is --sip right, does a firewall drop ";
    (void)re_snprintf(b->why, sizeof b->why, "no response from %J after %u s%s%s", &b->server,
                      (unsigned)(waited_ms / 1000), b->advised ? "" : advice,
                      b->advised ? ""
                      : b->tcp   ? "it?"
                                 : "UDP?");
    b->status = BUZZ_FAILED;
}

static void advise(struct buzz *b, int64_t waited_ms)
{
    const int status = b->status;
    fail_unanswered(b, waited_ms);
    b->status = status;
    b->advised = true;
    if (b->o->notes)
        fprintf(b->o->notes, "portero: %s\n", b->why);
}

/* Sees every message. Any that comes in shows that the service is there. */
static void buzz_on_trace(bool sent, enum sip_transp tp, const struct sa *src, const struct sa *dst,
                          const uint8_t *packet, size_t n, void *arg)
{
    struct buzz *b = arg;
    (void)tp, (void)src, (void)dst, (void)packet, (void)n;
    b->reached = b->reached || !sent;
}

static void buzz_on_tick(void *arg, int64_t now_ms)
{
    struct buzz *b = arg;
    const int64_t waited_ms = now_ms - b->began_ms, most_ms = b->o->timeout_ms ? b->o->timeout_ms : TIMEOUT_MS;
    if (waited_ms > most_ms || (!b->reached && waited_ms > GIVE_UP_MS)) {
        if (b->answered)
            buzz_report(b, "timeout", NULL);
        else
            fail_unanswered(b, waited_ms);
        buzz_finish(b, FLUSH_MS);
        b->session = mem_deref(b->session);
    } else if (!b->reached && !b->advised && waited_ms >= SILENT_MS) {
        advise(b, waited_ms);
    } else if (b->answered) {
        buzz_act(b, now_ms);
    }
}

static void buzz_on_established(const struct sip_msg *msg, void *arg)
{
    struct buzz *b = arg;
    b->answered = true;
    buzz_report(b, "answered", NULL);
    media_start(b->media, b->tick, &msg->src);
    b->audio_ms = tick_now_ms();
    expect_greeting(b);
    wait_for_greeting(b);
}

static void on_drained(void *arg)
{
    struct buzz *b = arg;
    buzz_report(b, "hangup", NULL);
    buzz_finish(b, 0);
}

static void buzz_on_close(int err, const struct sip_msg *msg, void *arg)
{
    struct buzz *b = arg;
    if (b->closed)
        return;
    if (b->answered) {
        tick_remove(&b->entry);
        tmr_start(&b->end_timer, DRAIN_MS, on_drained, b);
        return;
    }
    if (msg && msg->scode >= 300) {
        char code[16];
        (void)snprintf(code, sizeof code, "%u", msg->scode);
        buzz_report(b, "rejected", code);
    } else {
        char what[80];
        (void)re_snprintf(what, sizeof what, "no response from %J", &b->server);
        buzz_fail(b, what, err);
    }
    buzz_finish(b, 0);
}

static int buzz_on_sdp_answer(const struct sip_msg *msg, void *arg)
{
    struct buzz *b = arg;
    return media_take_sdp(b->media, false, msg->mb) ? EPROTO : 0;
}

/* ---- setting up ---- */

struct service {
    struct str host;
    uint16_t port;
    bool tcp;
};

static bool take_prefix(struct str *s, struct str prefix)
{
    if (!str_starts(*s, prefix))
        return false;
    *s = str_from(*s, prefix.n);
    return true;
}

static bool read_service(const char *text, struct service *ret)
{
    struct str host, port, parameters, at = str_cut(str_z(text), ';', &parameters);
    bool tcp = take_prefix(&at, STR("tcp:"));
    if (!tcp && !take_prefix(&at, STR("udp:")))
        (void)take_prefix(&at, STR("sip:"));
    if (parameters.p && !str_eqi(parameters, STR("transport=tcp")))
        return false;
    if (take_prefix(&at, STR("["))) {
        host = str_cut(at, ']', &port);
        if (!take_prefix(&port, STR(":")))
            return false;
    } else {
        host = str_cut(at, ':', &port);
    }
    uint64_t number;
    if (!host.n || !str_to_u64(port, UINT16_MAX, &number) || number == 0)
        return false;
    *ret = (struct service){.host = host, .port = (uint16_t)number, .tcp = tcp || parameters.p};
    return true;
}

bool buzz_is_service(const char *text)
{
    struct service unused;
    return read_service(text, &unused);
}

static bool find_server(struct buzz *b)
{
    struct service at;
    char host[256], what[300];
    if (!read_service(b->o->sip, &at)) {
        buzz_fail(b, "--sip is not HOST:PORT", 0);
        return false;
    }
    (void)snprintf(host, sizeof host, "%.*s", STR_ARG(at.host));
    b->tcp = at.tcp;
    int e = at.host.n < sizeof host ? reach_find(host, at.port, at.tcp, &b->server) : ENOENT;
    if (e == ENOENT)
        buzz_fail(b, "--sip: host not found", 0);
    else if (e) {
        (void)snprintf(what, sizeof what, "no response from any address of %s", host);
        buzz_fail(b, what, e);
    }
    return !e;
}

static bool load_wav(struct buzz *b)
{
    struct aufile *file;
    struct aufile_prm prm;
    int e = aufile_open(&file, &prm, b->o->wav, AUFILE_READ);
    if (e) {
        buzz_fail(b, "cannot read the WAV file", e);
        return false;
    }
    bool ok = prm.srate == SOUND_RATE && prm.channels == 1 && prm.fmt == AUFMT_S16LE;
    b->wav = mbuf_alloc(WAV_MAX);
    size_t n = WAV_MAX;
    ok = ok && b->wav && !aufile_read(file, b->wav->buf, &n) && n >= sizeof(int16_t);
    if (ok)
        b->wav->end = n;
    else
        buzz_fail(b, "the WAV file is not 8 kHz mono 16 bit PCM", 0);
    mem_deref(file);
    return ok;
}

/* The local address of the route to the service. */
static int local_address(const struct buzz *b, struct sa *ret)
{
    struct udp_sock *probe;
    struct sa any;
    sa_init(&any, sa_af(&b->server));
    int e = udp_listen(&probe, &any, NULL, NULL);
    if (e)
        return e;
    e = udp_connect(probe, &b->server);
    if (!e)
        e = udp_local_get(probe, ret);
    mem_deref(probe);
    sa_set_port(ret, 0);
    return e;
}

static int buzz_place(struct buzz *b, const struct sa *local)
{
    char to[128], from[160];
    (void)re_snprintf(to, sizeof to, "sip:%s@%J%s", b->o->to, &b->server, b->tcp ? ";transport=tcp" : "");
    (void)re_snprintf(from, sizeof from, "sip:%s@%j", b->o->from ? b->o->from : "callbox", local);
    struct mbuf *sdp;
    if (media_make_sdp(b->media, true, &sdp))
        return ENOMEM;
    int e = sipsess_connect(&b->session, b->sessions, to, NULL, from, "callbox", NULL, 0, "application/sdp", sdp, NULL,
                            NULL, false, NULL, buzz_on_sdp_answer, NULL, buzz_on_established, NULL, NULL, buzz_on_close,
                            b, NULL);
    mem_deref(sdp);
    return e;
}

static int buzz_start(struct buzz *b)
{
    struct sa local;
    int e = local_address(b, &local);
    if (!e)
        e = sip_alloc(&b->sip, NULL, HASH_SIZE, HASH_SIZE, HASH_SIZE, "portero-buzz/" PORTERO_VERSION, NULL, b);
    if (!e)
        sip_set_trace_handler(b->sip, buzz_on_trace);
    if (!e)
        e = sip_transp_add(b->sip, b->tcp ? SIP_TRANSP_TCP : SIP_TRANSP_UDP, &local);
    if (!e)
        e = sipsess_listen(&b->sessions, b->sip, HASH_SIZE, NULL, NULL);
    if (!e && (tick_new(&b->tick) || sound_init()))
        e = ENOMEM;
    struct media_options options = {.laddr = &local, .events = !b->o->inband};
    if (!e && media_new(&b->media, &options, &buzz_media_events, b))
        e = EADDRNOTAVAIL;
    return e ? e : buzz_place(b, &local);
}

static void buzz_call(struct buzz *b)
{
    rand_init();
    b->began_ms = tick_now_ms();
    int e = fd_setsize(FDS);
    if (!e)
        e = buzz_start(b);
    if (!e) {
        tick_add(b->tick, &b->entry, buzz_on_tick, b);
        e = re_main(NULL);
    }
    if (e)
        buzz_fail(b, "cannot place the call", e);
    tmr_cancel(&b->end_timer);
    mem_deref(b->session);
    sipsess_close_all(b->sessions);
    sip_transp_flush(b->sip);
    sip_close(b->sip, true);
    mem_deref(b->sessions);
    mem_deref(b->sip);
    tick_remove(&b->entry);
    media_free(b->media);
    tick_free(b->tick);
}

int buzz_run(const struct buzz_options *o, FILE *out, char **ret_why)
{
    struct buzz b = {.o = o, .out = out, .status = BUZZ_NOT_OPENED, .digits = o->digits ? o->digits : ""};
    if (re_thread_init())
        buzz_fail(&b, "no memory", 0);
    else if (find_server(&b) && (!o->wav || load_wav(&b)))
        buzz_call(&b);
    mem_deref(b.wav);
    re_thread_close();
    if (b.status == BUZZ_FAILED)
        *ret_why = mem_strdup(b.why);
    return b.status;
}
