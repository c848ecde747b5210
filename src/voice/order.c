#include "voice/order.h"

#include <re/re.h>
#include <string.h>

#define LATE_MAX 100 /* packets: one that is later is of no stream (RFC 3550, A.1: MAX_MISORDER) */

static void report_event(struct order *o, int64_t came_ms, const struct rtp_header *h, const uint8_t *payload)
{
    struct rtp_header on = *h;
    on.seq = (uint16_t)(h->seq + o->offset);
    o->on_event(came_ms, &on, payload, o->arg);
}

static int numbers_ahead(uint16_t from, uint16_t to)
{
    return (int16_t)(to - from);
}

/* Takes the packet of the next number, which has come. */
static void pass_next(struct order *o)
{
    const size_t at = o->next++ % ORDER_PACKETS;
    const struct order_packet p = o->packets[at];
    o->packets[at] = (struct order_packet){0}; /* a key does not stay in memory */
    if (p.event)
        report_event(o, p.came_ms,
                     &(struct rtp_header){.ver = RTP_VERSION,
                                          .m = p.marker,
                                          .pt = p.pt,
                                          .seq = (uint16_t)(o->next - 1),
                                          .ts = p.timestamp,
                                          .ssrc = o->ssrc},
                     p.payload);
}

/* Passes on what is in order, and what has waited since `since_ms`. */
static void pass_until(struct order *o, int64_t since_ms)
{
    for (uint16_t at = o->next; o->any && numbers_ahead(at, o->newest) >= 0;) {
        const struct order_packet *p = &o->packets[at % ORDER_PACKETS];
        if (!p->came) {
            at++;
            continue;
        }
        if (at != o->next && p->came_ms > since_ms)
            return;
        o->next = at;
        pass_next(o);
        at = o->next;
    }
}

void order_tick(struct order *o, int64_t now_ms)
{
    pass_until(o, now_ms - ORDER_WAIT_MS);
}

void order_end(struct order *o)
{
    pass_until(o, INT64_MAX);
    o->any = o->strayed = false;
}

bool order_waits(const struct order *o)
{
    for (size_t i = 0; i < ORDER_PACKETS; i++)
        if (o->packets[i].came && o->packets[i].event)
            return true;
    return false;
}

static void begin_numbers(struct order *o, const struct rtp_header *h)
{
    const uint16_t last = (uint16_t)(o->newest + o->offset);
    order_end(o);
    o->any = true;
    o->ssrc = h->ssrc;
    o->offset = (uint16_t)(last + 1 - h->seq);
    o->next = o->newest = h->seq;
}

/* Two packets that follow each other tell a stream that began again from a stray packet (RFC 3550, A.1). */
static enum order_place place_packet(struct order *o, const struct rtp_header *h)
{
    if (!o->any || h->ssrc != o->ssrc) {
        begin_numbers(o, h);
        return ORDER_BEGINS;
    }
    const int ahead = numbers_ahead(o->newest, h->seq);
    if (ahead > 0)
        return ORDER_NEXT;
    if (ahead > -LATE_MAX)
        return ORDER_LATE;
    if (o->strayed && h->seq == o->stray) {
        begin_numbers(o, h);
        return ORDER_BEGINS;
    }
    o->strayed = true;
    o->stray = (uint16_t)(h->seq + 1);
    return ORDER_STRAY;
}

static void keep_packet(struct order *o, int64_t now_ms, const struct rtp_header *h, const uint8_t *event)
{
    struct order_packet *p = &o->packets[h->seq % ORDER_PACKETS];
    if (p->came)
        return;
    *p = (struct order_packet){
        .came = true, .event = event, .marker = h->m, .pt = h->pt, .timestamp = h->ts, .came_ms = now_ms};
    if (event)
        memcpy(p->payload, event, ORDER_EVENT);
}

enum order_place order_take(struct order *o, int64_t now_ms, const struct rtp_header *h, const uint8_t *event)
{
    const enum order_place ret = place_packet(o, h);
    if (ret == ORDER_STRAY)
        return ret;
    if (ret == ORDER_NEXT) {
        if (numbers_ahead(o->next, h->seq) >= ORDER_PACKETS) { /* too many are missing to wait for */
            pass_until(o, INT64_MAX);
            o->next = h->seq;
        }
        o->newest = h->seq;
    }
    if (numbers_ahead(o->next, h->seq) >= 0)
        keep_packet(o, now_ms, h, event);
    else if (event)
        report_event(o, now_ms, h, event);
    order_tick(o, now_ms);
    return ret;
}
