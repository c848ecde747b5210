/* Input from strangers: RTP events, SIP INFO bodies, SIP messages and SDP. The first byte chooses. */
#include <assert.h>
#include <re/re.h>

#include "media/dtmf.h"
#include "media/media.h"
#include "media/order.h"
#include "sip/guard.h"
#include "sip/target.h"
#include "sip/timer.h"

static void on_key(char key, void *arg)
{
    (void)arg;
    assert(key && strchr("0123456789*#ABCD", key));
}

static void on_played(void *arg)
{
    (void)arg;
}

static const struct media_events events = {.key = on_key, .played = on_played};

static void on_content(int64_t came_ms, const struct rtp_header *h, const struct order_content *c, void *arg)
{
    assert(c->n <= 255);
    if (c->event)
        dtmf_in_event(arg, came_ms, h, c->payload, c->n);
}

/* A stream of packets: a length byte, then that many bytes of RTP. */
static void fuzz_rtp(const uint8_t *p, size_t n)
{
    struct dtmf_in in;
    if (!dtmf_in_init(&in, on_key, NULL))
        return;
    struct order order = {.on_content = on_content, .arg = &in};
    int64_t ms = 0;
    for (; n > 1; ms += 20) {
        size_t length = p[0] < n ? p[0] : n - 1;
        struct mbuf mb = {.buf = (uint8_t *)p + 1, .size = length, .end = length};
        struct rtp_header h = {0};
        if (!rtp_hdr_decode(&h, &mb)) {
            const size_t left = mbuf_get_left(&mb);
            dtmf_in_event(&in, ms, &h, mbuf_buf(&mb), left);
            if (order_find(&order, &h) != ORDER_STRAY)
                order_take(&order, ms, &h,
                           &(struct order_content){.payload = mbuf_buf(&mb), .n = left, .event = left < 8});
            int16_t samples[160] = {0};
            memcpy(samples, mbuf_buf(&mb), left < sizeof samples ? left : sizeof samples);
            dtmf_in_audio(&in, ms, samples, 160);
        }
        p += 1 + length;
        n -= 1 + length;
    }
    order_tick(&order, ms + ORDER_WAIT_MS);
    assert(!order_waits(&order));
    order_done(&order);
    dtmf_in_done(&in);
}

static void fuzz_info(const uint8_t *p, size_t n)
{
    struct dtmf_in in;
    if (!n || !dtmf_in_init(&in, on_key, NULL))
        return;
    struct str type = p[0] & 1 ? STR("application/dtmf") : STR("application/dtmf-relay");
    (void)dtmf_in_info(&in, 0, type, str_n((const char *)p + 1, n - 1));
    dtmf_in_done(&in);
}

/* Handles SDP as a call does: as the body of an INVITE, and of an ACK that answers our offer. */
static void take_offer_and_answer(struct mbuf *mb)
{
    struct sa local;
    struct media *m;
    struct mbuf *answer = NULL;
    size_t pos = mb->pos;
    (void)sa_set_str(&local, "127.0.0.1", 0);
    struct media_options options = {.laddr = &local, .events = true};
    if (media_new(&m, &options, &events, NULL))
        return;
    if (!media_take_sdp(m, true, mb)) {
        assert(!media_make_sdp(m, false, &answer));
        mem_deref(answer);
    }
    mb->pos = pos;
    (void)media_take_sdp(m, false, mb);
    media_free(m);
}

static void take_number(const struct uri *uri, const struct config_peer *peer)
{
    char number[CALL_NUMBER_MAX];
    if (sip_number(uri, peer, number))
        assert(number[0] == '+' && strspn(number + 1, "0123456789") == strlen(number) - 1 && strlen(number) <= 16);
    else
        assert(!number[0]);
}

/* The numbers of a call that a registered trunk brings. */
static void take_trunk_call(const struct sip_msg *msg)
{
    static const char *const headers[] = {"from", "p_asserted_identity", "remote_party_id"};
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
        const struct config_peer trunk = {.number_in = "uri",
                                          .caller_in = headers[i],
                                          .reg = true,
                                          .user = "door",
                                          .country_code = "",
                                          .national_prefix = "",
                                          .international_prefix = ""};
        struct uri dialled = sip_dialled(msg, &trunk), caller = sip_caller(msg, &trunk);
        take_number(&dialled, &trunk);
        take_number(&caller, &trunk);
    }
}

/* The session timer, and the target of our requests. */
static void take_timer_and_target(const struct sip_msg *msg)
{
    static const struct sip_timer before = {.interval_s = 1800, .ours = true};
    char lines[SIP_TIMER_LINES];
    struct sip_dialog *dialog = NULL;
    struct sip_timer t = sip_timer_of_request(msg);
    assert(!t.interval_s || (t.interval_s >= SIP_TIMER_MIN_S && t.interval_s <= 604800));
    sip_timer_answer_lines(&t, lines);
    assert(strlen(lines) < sizeof lines - 1);
    t = sip_timer_of_answer(&before, msg);
    assert(t.interval_s >= SIP_TIMER_MIN_S);
    sip_target_fix(msg, msg);
    if (!sip_dialog_accept(&dialog, msg)) {
        (void)sip_dialog_update(dialog, msg);
        sip_target_retry(dialog, msg);
    }
    mem_deref(dialog);
}

/* Handles a message as the user agent does: the guard, the numbers, then the body. */
static void take_message(const struct sip_msg *msg, struct mbuf *mb)
{
    static const struct config_peer trunk = {
        .number_in = "p_called_party_id", .country_code = "44", .national_prefix = "0", .international_prefix = "00"};
    struct sip_verdict v = sip_guard(msg);
    assert(v.status == 0 || v.status == -1 || (v.status >= 400 && v.status < 600 && v.reason));
    assert(mb->pos <= mb->end && mb->end <= mb->size);
    struct uri dialled = sip_dialled(msg, &trunk);
    take_number(&msg->uri, NULL);
    take_number(&msg->from.uri, NULL);
    take_number(&dialled, &trunk);
    take_trunk_call(msg);
    take_timer_and_target(msg);
    if (!v.status && sip_body_is_sdp(msg) && mbuf_get_left(mb))
        take_offer_and_answer(mb);
}

static void fuzz_message(const uint8_t *p, size_t n)
{
    struct mbuf *mb = mbuf_alloc(n + 1);
    struct sip_msg *msg;
    if (mb && !mbuf_write_mem(mb, p, n)) {
        mb->pos = 0;
        if (!sip_msg_decode(&msg, mb)) {
            (void)sa_set_str(&msg->src, "192.0.2.7", 5060);
            msg->tp = n % 2 ? SIP_TRANSP_UDP : SIP_TRANSP_TCP;
            take_message(msg, mb);
            mem_deref(msg);
        }
    }
    mem_deref(mb);
}

static void fuzz_sdp(const uint8_t *p, size_t n)
{
    struct mbuf *mb = mbuf_alloc(n + 1);
    if (mb && !mbuf_write_mem(mb, p, n)) {
        mb->pos = 0;
        take_offer_and_answer(mb);
    }
    mem_deref(mb);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    rand_init();
    return fd_setsize(256);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    if (!n || n > 4096)
        return 0;
    static void (*const targets[])(const uint8_t *, size_t) = {fuzz_rtp, fuzz_info, fuzz_message, fuzz_sdp};
    targets[p[0] % 4](p + 1, n - 1);
    return 0;
}
