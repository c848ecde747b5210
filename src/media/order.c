#include "media/order.h"

#include <re/re.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"

#define LATE_MAX 100  /* packets: one that is later is of no stream (RFC 3550, A.1: MAX_MISORDER) */
#define LOST_MAX 3000 /* at once: the same of one after more of them (MAX_DROPOUT) */

static void report_content(struct order *o, int64_t came_ms, const struct rtp_header *h, const struct order_content *c)
{
    struct rtp_header on = *h;
    on.seq = (uint16_t)(h->seq + o->offset);
    o->on_content(came_ms, &on, c, o->arg);
}

static int numbers_ahead(uint16_t from, uint16_t to)
{
    return (int16_t)(to - from);
}

/* A key does not stay in memory. */
static void forget_packet(struct order_packet *p)
{
    if (p->payload)
        crypto_wipe(p->payload, p->n);
    free(p->payload);
    *p = (struct order_packet){.came = false};
}

/* Takes the packet of the next number, which has come. */
static void pass_next(struct order *o)
{
    struct order_packet *at = &o->packets[o->next++ % ORDER_PACKETS];
    struct order_packet p = *at;
    *at = (struct order_packet){.came = false};
    if (p.payload)
        report_content(o, p.came_ms,
                       &(struct rtp_header){.ver = RTP_VERSION,
                                            .m = p.marker,
                                            .pt = p.pt,
                                            .seq = (uint16_t)(o->next - 1),
                                            .ts = p.timestamp,
                                            .ssrc = o->ssrc},
                       &(struct order_content){.payload = p.payload, .n = p.n, .event = p.event});
    forget_packet(&p);
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

void order_done(struct order *o)
{
    for (size_t i = 0; i < ORDER_PACKETS; i++)
        forget_packet(&o->packets[i]);
}

bool order_waits(const struct order *o)
{
    for (size_t i = 0; i < ORDER_PACKETS; i++)
        if (o->packets[i].payload)
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
enum order_place order_find(struct order *o, const struct rtp_header *h)
{
    if (!o->any || h->ssrc != o->ssrc) {
        begin_numbers(o, h);
        return ORDER_BEGINS;
    }
    const int ahead = numbers_ahead(o->newest, h->seq);
    if (ahead <= 0 && ahead > -LATE_MAX)
        return ORDER_LATE;
    if (ahead > 0 && ahead < LOST_MAX) {
        if (numbers_ahead(o->next, h->seq) >= ORDER_PACKETS) { /* too many are missing to wait for */
            pass_until(o, INT64_MAX);
            o->next = h->seq;
        }
        o->newest = h->seq;
        return ORDER_NEXT;
    }
    if (o->strayed && h->seq == o->stray) {
        begin_numbers(o, h);
        return ORDER_BEGINS;
    }
    o->strayed = true;
    o->stray = (uint16_t)(h->seq + 1);
    return ORDER_STRAY;
}

static void keep_packet(struct order *o, int64_t now_ms, const struct rtp_header *h, const struct order_content *c)
{
    struct order_packet *p = &o->packets[h->seq % ORDER_PACKETS];
    if (p->came)
        return;
    *p = (struct order_packet){.came = true, .marker = h->m, .pt = h->pt, .timestamp = h->ts, .came_ms = now_ms};
    if (!c || !c->n)
        return;
    p->event = c->event;
    p->n = (uint16_t)(c->n < ORDER_PAYLOAD ? c->n : ORDER_PAYLOAD);
    p->payload = mem_bytes(p->n);
    memcpy(p->payload, c->payload, p->n);
}

void order_take(struct order *o, int64_t now_ms, const struct rtp_header *h, const struct order_content *c)
{
    const int ahead = numbers_ahead(o->next, h->seq);
    if (ahead == 0) { /* nothing is missing: without a copy */
        o->next++;
        if (c)
            report_content(o, now_ms, h, c);
    } else if (ahead > 0) {
        keep_packet(o, now_ms, h, c);
    } else if (c && c->event) {
        report_content(o, now_ms, h, c);
    }
    order_tick(o, now_ms);
}
