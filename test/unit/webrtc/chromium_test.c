/* Chromium talks with the service: a tone of 1000 Hz as its microphone arrives, and it hears a tone of 440 Hz. In a
 * network namespace in which only loopback exists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <re/re.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "media/player.h"
#include "webrtc/webrtc.h"

#define INSIDE      "PORTERO_TEST_NETWORK" /* set in the namespace */
#define PATIENCE_MS 120000
#define RATE        48000 /* of the microphone */
#define MIC_HZ      1000
#define DOOR_HZ     440
#define LEVEL       8000

static const char page[] =
    "<!doctype html><audio id=a autoplay></audio><script>(async () => { try {"
    "const mic = await navigator.mediaDevices.getUserMedia({audio: {echoCancellation: false, noiseSuppression: false, "
    "autoGainControl: false}});"
    "const pc = new RTCPeerConnection(), t = pc.addTransceiver('audio', {direction: 'sendrecv'});"
    "pc.ontrack = e => { const s = new MediaStream([e.track]); document.getElementById('a').srcObject = s;"
    "const c = new AudioContext(), n = c.createAnalyser(); n.fftSize = 8192; c.createMediaStreamSource(s).connect(n);"
    "let tries = 0; const look = async () => { const f = new Float32Array(n.frequencyBinCount), w = new "
    "Float32Array(n.fftSize);"
    "n.getFloatFrequencyData(f); n.getFloatTimeDomainData(w); let k = 1; f.forEach((v, i) => { if (i && v > f[k]) k = "
    "i; "
    "});"
    "const level = Math.sqrt(w.reduce((a, v) => a + v * v, 0) / w.length);"
    "if (level < 0.1 && tries++ < 300) return setTimeout(look, 100);"
    "await new Promise(r => setTimeout(r, 2000)); n.getFloatFrequencyData(f); k = 1; f.forEach((v, i) => { if (i && v "
    "> "
    "f[k]) k = i; });"
    "let lost = -1; (await pc.getStats()).forEach(x => { if (x.type == 'inbound-rtp') lost = x.packetsLost; });"
    "const body = JSON.stringify({hz: k * c.sampleRate / n.fftSize, level, lost}); pc.close();"
    "fetch('/result', {method: 'POST', body}); }; look(); };"
    "await pc.setLocalDescription();"
    "const r = await fetch('/offer', {method: 'POST', body: pc.localDescription.sdp});"
    "await pc.setRemoteDescription({type: 'answer', sdp: await r.text()});"
    "await t.sender.replaceTrack(mic.getAudioTracks()[0]);" /* listen first, then talk, without a new offer */
    "} catch (e) { fetch('/result', {method: 'POST', body: 'failed: ' + e}); } })()</script>";

static struct {
    struct webrtc *w;
    struct webrtc_session *session;
    struct tick *tick;
    struct tick_entry entry;
    struct http_sock *http;
    uint8_t pt;
    unsigned sent;
    unsigned frames;
    double energy, energy_mic; /* of what came; at the tone's frequency */
    bool gone;
    enum webrtc_end end;
    char result[300];
} t;

/* ---- the service ---- */

static void send_tone(void *arg, int64_t now_ms)
{
    (void)arg;
    (void)now_ms;
    uint8_t payload[PLAYER_FRAME];
    for (unsigned i = 0; i < PLAYER_FRAME; i++) {
        const double at = (t.sent * (double)PLAYER_FRAME + i) / 8000;
        payload[i] = player_encode(t.pt, (int16_t)(LEVEL * sin(2 * M_PI * DOOR_HZ * at)));
    }
    if (t.session)
        webrtc_send(t.session, &(struct media_packet){.pt = t.pt,
                                                      .seq = (uint16_t)t.sent,
                                                      .ssrc = 1,
                                                      .timestamp = t.sent * PLAYER_FRAME,
                                                      .payload = payload,
                                                      .n = sizeof payload});
    t.sent++;
}

static void on_ready(void *arg)
{
    (void)arg;
    tick_add(t.tick, &t.entry, send_tone, NULL);
}

/* Sums the energy, and that at the frequency of the microphone's tone. */
static void on_packet(const struct media_packet *p, void *arg)
{
    (void)arg;
    double re = 0, im = 0, energy = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double v = player_decode(p->pt, p->payload[i]), at = 2 * M_PI * MIC_HZ * (double)i / 8000;
        energy += v * v;
        re += v * cos(at);
        im += v * sin(at);
    }
    t.frames++;
    t.energy += energy;
    t.energy_mic += 2 * (re * re + im * im) / (double)p->n;
}

static void on_gone(enum webrtc_end end, void *arg)
{
    (void)arg;
    t.gone = true;
    t.end = end;
    if (*t.result)
        re_cancel();
}

static void on_http(struct http_conn *conn, const struct http_msg *msg, void *arg)
{
    (void)arg;
    static const struct webrtc_events events = {.ready = on_ready, .packet = on_packet, .gone = on_gone};
    char answer[WEBRTC_ANSWER_MAX];
    const struct str body = str_n((const char *)mbuf_buf(msg->mb), mbuf_get_left(msg->mb));
    if (!pl_strcmp(&msg->path, "/")) {
        http_creply(conn, 200, "OK", "text/html", "%s", page);
    } else if (!pl_strcmp(&msg->path, "/offer")) {
        const enum webrtc_refusal r =
            webrtc_open(t.w, &(struct webrtc_request){.offer = body, .pt = t.pt}, &events, NULL, answer, &t.session);
        http_creply(conn, r ? 400 : 201, "Answer", "text/plain", "%s", r ? webrtc_refusal_text(r) : answer);
    } else if (!pl_strcmp(&msg->path, "/result")) {
        (void)snprintf(t.result, sizeof t.result, "%.*s", STR_ARG(body));
        http_creply(conn, 200, "OK", "text/plain", "");
        if (t.gone || *t.result != '{')
            re_cancel();
    } else {
        http_ereply(conn, 404, "Not Found");
    }
}

/* ---- the browser ---- */

static void put_u32(FILE *f, uint32_t v)
{
    (void)fwrite(&v, 4, 1, f); /* little-endian, as the machines of this test */
}

static void write_microphone(const char *path)
{
    const uint32_t samples = RATE * 2;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    (void)fwrite("RIFF", 4, 1, f);
    put_u32(f, 36 + samples * 2);
    (void)fwrite("WAVEfmt ", 8, 1, f);
    put_u32(f, 16);
    put_u32(f, 1 | 1 << 16); /* PCM, mono */
    put_u32(f, RATE);
    put_u32(f, RATE * 2);
    put_u32(f, 2 | 16 << 16);
    (void)fwrite("data", 4, 1, f);
    put_u32(f, samples * 2);
    for (uint32_t i = 0; i < samples; i++) {
        const int16_t v = (int16_t)(LEVEL * sin(2 * M_PI * MIC_HZ * i / RATE));
        (void)fwrite(&v, 2, 1, f);
    }
    fclose(f);
}

static pid_t start_browser(const char *dir, const struct sa *http)
{
    char profile[200], microphone[300], url[64];
    (void)snprintf(profile, sizeof profile, "--user-data-dir=%s", dir);
    (void)snprintf(microphone, sizeof microphone, "--use-file-for-fake-audio-capture=%s/tone.wav", dir);
    (void)re_snprintf(url, sizeof url, "http://%J/", http);
    const pid_t pid = fork();
    if (pid)
        return pid;
    (void)setpgid(0, 0);
    const int nowhere = open("/dev/null", O_WRONLY);
    if (dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0)
        _exit(127);
    execlp("chromium", "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
           "--disable-features=WebRtcHideLocalIpsWithMdns", "--allow-loopback-in-peer-connection",
           "--autoplay-policy=no-user-gesture-required", "--use-fake-ui-for-media-stream",
           "--use-fake-device-for-media-stream", profile, microphone, url, (char *)NULL);
    _exit(127);
}

static void stop_browser(pid_t pid, const char *dir)
{
    char command[300];
    (void)kill(-pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

static void on_patience(void *arg)
{
    (void)arg;
    re_cancel();
}

static void talk_in(uint8_t pt)
{
    char dir[] = "/tmp/portero-browser-XXXXXX", path[100];
    struct sa at, http;
    struct tmr patience;
    double hz = 0, level = 0;
    int lost = -1;
    memset(&t, 0, sizeof t);
    t.pt = pt;
    tmr_init(&patience);
    assert_int_equal(sa_set_str(&at, "127.0.0.1", 0), 0);
    assert_int_equal(tick_new(&t.tick), ERR_NONE);
    assert_int_equal(webrtc_new(&t.w, &(struct webrtc_options){.listen = &at, .tick = t.tick}), ERR_NONE);
    assert_int_equal(http_listen(&t.http, &at, on_http, NULL), 0);
    assert_int_equal(tcp_sock_local_get(http_sock_tcp(t.http), &http), 0);
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/tone.wav", dir);
    write_microphone(path);
    const pid_t pid = start_browser(dir, &http);
    tmr_start(&patience, PATIENCE_MS, on_patience, NULL);
    (void)re_main(NULL);
    tmr_cancel(&patience);
    stop_browser(pid, dir);
    printf("%s, frames %u, share at %d Hz %.3f\n", t.result, t.frames, MIC_HZ,
           t.energy > 0 ? t.energy_mic / t.energy : 0);
    assert_int_equal(sscanf(t.result, "{\"hz\":%lf,\"level\":%lf,\"lost\":%d", &hz, &level, &lost), 3);
    assert_true(fabs(hz - DOOR_HZ) < 10);
    assert_true(level > 0.1 && level < 0.3); /* LEVEL is 0.17 */
    assert_int_equal(lost, 0);
    assert_true(t.frames > 50);
    assert_true(t.energy_mic / t.energy > 0.9);
    const double mean = sqrt(t.energy / (t.frames * 160.0));
    assert_true(mean > LEVEL / sqrt(2) / 2 && mean < LEVEL); /* some frames are from before the tone */
    assert_true(t.gone && t.end == WEBRTC_CLOSED);
    tick_remove(&t.entry);
    webrtc_close(t.session);
    webrtc_free(t.w);
    mem_deref(t.http);
    tick_free(t.tick);
}

static void test_chromium_talks_in_pcmu(void **state)
{
    (void)state;
    talk_in(PT_PCMU);
}

static void test_chromium_talks_in_pcma(void **state)
{
    (void)state;
    talk_in(PT_PCMA);
}

int main(int argc, char **argv)
{
    (void)argc;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chromium_talks_in_pcmu),
        cmocka_unit_test(test_chromium_talks_in_pcma),
    };
    if (!getenv(INSIDE)) {
        (void)setenv(INSIDE, "1", 1);
        execlp("unshare", "unshare", "-rn", "sh", "-c", "ip link set lo up && exec \"$0\"", argv[0], (char *)NULL);
        perror("unshare");
        return 1;
    }
    if (libre_init())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    libre_close();
    return failed;
}
