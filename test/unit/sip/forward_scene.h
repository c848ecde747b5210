/* A visitor, two trunks and the resident's phones behind them, for tests of forwarded calls: all messages are written
 * by hand. Include it in one file of a test. */
#pragma once
#include "sip/fixture.h"
#include "sip/raw_phone.h"

#define FIRST  "+15551110001"
#define SECOND "+15551110002"
#define THIRD  "+15551110003"

static struct raw r;
static struct raw_trunk trunk, spare;
static bool stopped; /* the agent, by the test */

static inline struct config_peer trunk_at(const char *name, const char *server)
{
    static const char *const none[] = {NULL};
    return (struct config_peer){.name = name,
                                .addresses = none,
                                .server = server,
                                .domain = "",
                                .transport = "udp",
                                .user = "box",
                                .password = "secret",
                                .number_out = "e164",
                                .number_in = "uri",
                                .caller_id = "both",
                                .diversion = "diversion",
                                .srtp = "off",
                                .country_code = "",
                                .national_prefix = "",
                                .international_prefix = "",
                                .calls = 8,
                                .calls_out = 8};
}

static inline void rings(enum ring_strategy strategy, bool accept, const char *first, const char *second,
                         const char *third)
{
    pthread_mutex_lock(&fake.lock);
    fake.phones[0] = first;
    fake.phones[1] = second;
    fake.phones[2] = third;
    fake.ring = (struct ring){.strategy = strategy, .seconds = 30, .accept = accept};
    pthread_mutex_unlock(&fake.lock);
}

static inline void ring_for(int64_t seconds)
{
    pthread_mutex_lock(&fake.lock);
    fake.ring.seconds = seconds;
    pthread_mutex_unlock(&fake.lock);
}

static inline int set_up(void **state)
{
    static char servers[2][32];
    trunk_open(&trunk);
    trunk_open(&spare);
    (void)snprintf(servers[0], sizeof servers[0], "127.0.0.1:%d", trunk.port);
    (void)snprintf(servers[1], sizeof servers[1], "127.0.0.1:%d", spare.port);
    agent_config.peers[0] = trunk_at("main", servers[0]);
    agent_config.peers[1] = trunk_at("spare", servers[1]);
    agent_config.peer_count = 2;
    agent_set_up(state);
    raw_open(&r, sip_address(agent));
    rings(RING_ALL, false, FIRST, NULL, NULL);
    return 0;
}

static inline void count_legs(void *arg)
{
    unsigned *n = arg;
    *n = agent->trunks.list[0].calls + agent->trunks.list[1].calls;
}

/* Every call has ended, and every leg with it. */
static inline int tear_down(void **state)
{
    unsigned legs = 1;
    if (!stopped) {
        wait_for_calls(0);
        run_on_agent(count_legs, &legs);
        assert_int_equal(legs, 0);
    }
    stopped = false;
    raw_close(&r);
    agent_tear_down(state);
    trunk_close(&trunk);
    trunk_close(&spare);
    return 0;
}

/* ---- the visitor ---- */

/* The next response but 100: its status. */
static inline int next_response(void)
{
    int status;
    do
        status = raw_receive(&r, RAW_PATIENCE_MS);
    while (status == 100 || (status >= 200 && !raw_answers_last(&r)));
    return status;
}

static inline void next_visitor(void)
{
    raw_close(&r);
    raw_open(&r, sip_address(agent));
}

static inline void visit(const char *number)
{
    raw_invite(&r, number);
}

/* The service answers the visitor's call. */
static inline int visitor_answered(void)
{
    assert_int_equal(raw_final(&r), 200);
    const int port = raw_media_port(&r);
    raw_request(&r, "ACK", FAKE_RING, 1, "", "");
    return port;
}

static inline void visitor_hung_up_on(void)
{
    assert_true(raw_requested(&r, "BYE"));
    char head[4096];
    (void)snprintf(head, sizeof head, "SIP/2.0 200 OK\r\n%s\r\n%s\r\n%s\r\n%s\r\n%s\r\nContent-Length: 0\r\n\r\n",
                   raw_header(r.reply, "Via"), raw_header(r.reply, "From"), raw_header(r.reply, "To"),
                   raw_header(r.reply, "Call-ID"), raw_header(r.reply, "CSeq"));
    raw_send(&r, head, strlen(head));
}

static inline void visitor_hangs_up(void)
{
    raw_request(&r, "BYE", FAKE_RING, 2, "", "");
    assert_int_equal(raw_final(&r), 200);
}

static inline void visitor_cancels(void)
{
    raw_request(&r, "CANCEL", FAKE_RING, 1, "", "");
    int first = raw_final(&r), second = raw_final(&r);
    assert_int_equal(first + second, 200 + 487);
    raw_request(&r, "ACK", FAKE_RING, 1, "", "");
}

/* ---- the phones ---- */

static inline void phone_rings(struct raw_phone *p)
{
    trunk_respond(&trunk, p->invite, 180, "", "");
}

static inline void phone_hung_up_on(void)
{
    assert_true(trunk_receive(&trunk, "BYE", RAW_PATIENCE_MS));
    trunk_respond(&trunk, trunk.request, 200, "", "");
}

static inline void phone_hangs_up(struct raw_phone *p)
{
    phone_requests(&trunk, p, "BYE", "");
    assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
}

/* The phone's call is cancelled while it rings. */
static inline void phone_cancelled(struct raw_phone *p)
{
    assert_true(trunk_receive(&trunk, "CANCEL", RAW_PATIENCE_MS));
    trunk_respond(&trunk, trunk.request, 200, "", "");
    trunk_respond(&trunk, p->invite, 487, "", "");
}

static inline void phone_presses(const struct raw_phone *p, uint8_t code)
{
    static uint32_t timestamp = 1000;
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)phone_media_port(p)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    timestamp += 1600;
    const uint8_t packet[16] = {0x80,
                                0x80 | 97,
                                0,
                                1,
                                (uint8_t)(timestamp >> 24),
                                (uint8_t)(timestamp >> 16),
                                (uint8_t)(timestamp >> 8),
                                (uint8_t)timestamp,
                                1,
                                2,
                                3,
                                5, /* a stream of its own */
                                code,
                                0x8a,
                                0,
                                160};
    if (sendto(trunk.rtp, packet, sizeof packet, 0, (const struct sockaddr *)&at, sizeof at) < 0)
        abort();
}

/* Visitor and resident talk; returns the service's RTP port for the visitor. */
static inline int connect_both(struct raw_phone *p)
{
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    phone_answers(&trunk, p);
    return visitor_answered();
}

/* Audio passes from one socket to the other, sent as `type_in` and received as `type_out`. */
static inline void audio_passes(int from, int port, uint8_t type_in, uint8_t byte_in, int to, uint8_t type_out,
                                uint8_t byte_out)
{
    static unsigned sequence = 1;
    for (int i = 0; i < 300; i++) {
        raw_audio(from, port, sequence++, type_in, byte_in);
        if (raw_hears(to, type_out, byte_out, 100))
            return;
    }
    fail_msg("no audio");
}

/* Waits until a call after these has its record. */
static inline void wait_for_record(int records)
{
    for (int i = 0; i < RAW_PATIENCE_MS / 10 && fake_count(&fake.records) == records; i++)
        usleep(10000);
}

static inline void hang_up_and_end(struct raw_phone *p)
{
    (void)p;
    const int records = fake_count(&fake.records);
    visitor_hangs_up();
    phone_hung_up_on();
    wait_for_record(records);
}
