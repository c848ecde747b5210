/* The events of a call reach its parts in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sip/agent.h"
#include "sip/call.h"

static char heard[100]; /* the events, as "tick3 " */

static void hear(const char *event, int part)
{
    const size_t n = strlen(heard);
    (void)snprintf(heard + n, sizeof heard - n, "%s%d ", event, part);
}

/* ---- parts ---- */

static int64_t ends_at_ms; /* the tick at which part 2 ends the call */

#define PART(n)                                                                                                        \
    static void begin_##n(struct sip_call *c)                                                                          \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        hear("begin", n);                                                                                              \
    }                                                                                                                  \
    static void packet_##n(struct sip_call *c, const struct media_packet *p)                                           \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        assert_int_equal(p->seq, 7);                                                                                   \
        hear("packet", n);                                                                                             \
    }                                                                                                                  \
    static void audio_##n(struct sip_call *c, const int16_t *samples, size_t count)                                    \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        assert_int_equal(samples[count - 1], 5);                                                                       \
        hear("audio", n);                                                                                              \
    }                                                                                                                  \
    static void tick_##n(struct sip_call *c, int64_t now_ms)                                                           \
    {                                                                                                                  \
        hear("tick", n);                                                                                               \
        c->ended = c->ended || (n == 2 && now_ms == ends_at_ms);                                                       \
    }                                                                                                                  \
    static void end_##n(struct sip_call *c)                                                                            \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        hear("end", n);                                                                                                \
    }                                                                                                                  \
    static const struct sip_part part_##n = {begin_##n, packet_##n, audio_##n, tick_##n, end_##n};

PART(1)
PART(2)
PART(3)

static const struct sip_part deaf;

/* ---- */

static void test_the_parts_get_each_event_in_their_order(void **state)
{
    (void)state;
    static struct sip_agent agent;
    static struct sip_call call;
    static const struct sip_part *parts[SIP_PARTS];
    const struct media_packet packet = {.seq = 7};
    const int16_t samples[] = {0, 5};
    for (size_t i = 0; i < SIP_PARTS; i++)
        parts[i] = &deaf;
    parts[0] = &part_1;
    parts[SIP_PARTS / 2] = &part_2;
    parts[SIP_PARTS - 1] = &part_3;
    agent.parts = parts;
    call.agent = &agent;
    ends_at_ms = 40;
    const struct {
        enum { BEGIN, PACKET, AUDIO, TICK, END } event;
        int64_t now_ms;
        const char *want;
    } rows[] = {
        {BEGIN, 0, "begin1 begin2 begin3 "},
        {PACKET, 0, "packet1 packet2 packet3 "},
        {AUDIO, 0, "audio1 audio2 audio3 "},
        {TICK, 20, "tick1 tick2 tick3 "},
        {TICK, 40, "tick1 tick2 "}, /* which ends the call */
        {TICK, 60, ""},
        {PACKET, 0, ""},
        {AUDIO, 0, ""},
        {END, 0, "end1 end2 end3 "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        heard[0] = '\0';
        switch (rows[i].event) {
        case BEGIN:
            sip_parts_begin(&call);
            break;
        case PACKET:
            sip_parts_packet(&call, &packet);
            break;
        case AUDIO:
            sip_parts_audio(&call, samples, 2);
            break;
        case TICK:
            sip_parts_tick(&call, rows[i].now_ms);
            break;
        case END:
            sip_parts_end(&call);
            break;
        }
        assert_string_equal(heard, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_parts_get_each_event_in_their_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
