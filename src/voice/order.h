/* The numbers of the RTP packets of one sender: which are late, where a stream begins, and its RFC 4733 events in the
 * order in which they were sent. No I/O and no clock here: the caller passes the time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_PACKETS 32  /* from the first missing packet on, kept in order */
#define ORDER_EVENT   4   /* bytes of an event that are kept */
#define ORDER_WAIT_MS 100 /* for a missing packet, after one that was sent later */

struct rtp_header;

/* Called with each event. Its sequence number goes on where the stream began again. */
typedef void (*order_event_h)(int64_t came_ms, const struct rtp_header *h, const uint8_t *payload, void *arg);

enum order_place {
    ORDER_STRAY,  /* of no stream: drop it */
    ORDER_LATE,   /* sent before one that has come, or a repetition */
    ORDER_NEXT,   /* sent after all that have come */
    ORDER_BEGINS, /* the same, and its timestamp has no relation to theirs */
};

struct order_packet {
    bool came, event, marker;
    uint8_t pt, payload[ORDER_EVENT];
    uint32_t timestamp;
    int64_t came_ms;
};

/* All zero but for the first two members before it is used. */
struct order {
    order_event_h on_event;
    void *arg;
    bool any;
    uint32_t ssrc;
    uint16_t next, newest; /* the first number that has not come, the last one that has */
    bool strayed;
    uint16_t stray;                             /* the number after that of the last stray packet */
    uint16_t offset;                            /* from the numbers of the stream to those of its events */
    struct order_packet packets[ORDER_PACKETS]; /* those that came after a missing one */
};

/* Each packet of the sender. `event`: NULL, or the ORDER_EVENT bytes of an event, which is reported at once if no
 * packet before it is missing, and else when they have come, at the latest by the first packet or order_tick() after
 * ORDER_WAIT_MS. Late events are reported at once. */
enum order_place order_take(struct order *o, int64_t now_ms, const struct rtp_header *h, const uint8_t *event);
void order_tick(struct order *o, int64_t now_ms);
/* Whether an event waits for a packet before it. */
bool order_waits(const struct order *o);
/* Reports the events that wait. The next packet is of another stream. */
void order_end(struct order *o);
