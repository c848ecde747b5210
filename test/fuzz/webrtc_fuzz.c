/* Datagrams at the port of browsers: a byte with the length before each. The session's user name and password are
 * known, and a message that begins like a check is authenticated, so that the code behind that is reached. */
#include <stdlib.h>

#include "base/mem.h"
#include "webrtc/private.h"

static struct webrtc *w;
static struct sa here, there;
static int64_t now_ms = 1000000;

static void on_ready(void *arg)
{
    (void)arg;
    abort(); /* nobody has the key of this certificate */
}

static void on_packet(const struct media_packet *p, void *arg)
{
    (void)p;
    (void)arg;
    abort();
}

static void on_gone(enum webrtc_end end, void *arg)
{
    (void)end;
    (void)arg;
}

static int64_t clock_of_fuzz(void *arg)
{
    (void)arg;
    return now_ms;
}

static void begin(void)
{
    struct tick *tick;
    if (libre_init() || tick_new(&tick) || sa_set_str(&here, "127.0.0.1", 0) || sa_set_str(&there, "127.0.0.9", 9) ||
        webrtc_new(&w, &(struct webrtc_options){.listen = &here, .tick = tick, .now_ms = clock_of_fuzz}))
        abort();
    here = *webrtc_address(w);
}

static struct webrtc_session *open_session(void)
{
    static const struct webrtc_events events = {.ready = on_ready, .packet = on_packet, .gone = on_gone};
    static const char offer[] =
        "v=0\r\na=group:BUNDLE 0\r\na=ice-ufrag:them\r\na=setup:active\r\na=fingerprint:sha-256 "
        "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF\r\n"
        "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=rtcp-mux\r\n";
    char answer[WEBRTC_ANSWER_MAX];
    struct webrtc_session *s;
    if (webrtc_open(w, &(struct webrtc_request){.offer = str_z(offer)}, &events, NULL, answer, &s))
        abort();
    return s;
}

static void check(const struct webrtc_session *s, enum stun_attrib extra, const uint8_t *p, size_t n)
{
    static const uint8_t tid[STUN_TID_SIZE];
    char name[64];
    const uint32_t any = 1;
    struct mbuf *mb = mbuf_alloc(512), data = {.buf = (uint8_t *)(uintptr_t)p, .size = n, .end = n};
    (void)re_snprintf(name, sizeof name, "%s:them", s->ufrag);
    (void)stun_msg_encode(mb, STUN_METHOD_BINDING, STUN_CLASS_REQUEST, tid, NULL, (const uint8_t *)s->password,
                          WEBRTC_PASSWORD_LEN, true, 0, 3, STUN_ATTR_USERNAME, name, STUN_ATTR_DATA, &data, (int)extra,
                          &any);
    webrtc_take(mb->buf, mb->end, &there, &here, w);
    mem_deref(mb);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    _Alignas(16) uint8_t datagram[256];
    if (!w)
        begin();
    struct webrtc_session *s = open_session();
    check(s, STUN_ATTR_USE_CAND, NULL, 0);
    while (n > 1) {
        const size_t length = data[0] < n ? data[0] : n - 1;
        memcpy(datagram, data + 1, length);
        if (length && data[1] == 0xff) /* an authenticated check with these bytes */
            check(s, data[0] & 1 ? STUN_ATTR_USE_CAND : STUN_ATTR_CONTROLLED, data + 1, length);
        else
            webrtc_take(datagram, length, &there, &here, w);
        now_ms += 100;
        webrtc_on_tick(w, now_ms);
        data += length + 1;
        n -= length + 1;
    }
    webrtc_close(s);
    return 0;
}
