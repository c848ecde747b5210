/* The numbers of the RTP packets of one sender: which are late, where a stream begins, and their contents in the order
 * in which they were sent. No I/O and no clock here: the caller passes the time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_PACKETS 32  /* from the first missing packet on, kept in order */
#define ORDER_PAYLOAD 960 /* bytes of one that are kept: 120 ms of G.711, far above any ptime in use */
#define ORDER_WAIT_MS 100 /* for a missing packet, after one that was sent later */

struct rtp_header;

struct order_content {
    const uint8_t *payload;
    size_t n;
    bool event; /* RFC 4733; else audio */
};

/* Called with the content of each packet. Its sequence number goes on where the stream began again. */
typedef void (*order_content_h)(int64_t came_ms, const struct rtp_header *h, const struct order_content *c, void *arg);

enum order_place {
    ORDER_STRAY,  /* of no stream: drop it */
    ORDER_LATE,   /* sent before one that has come, or a repetition */
    ORDER_NEXT,   /* sent after all that have come */
    ORDER_BEGINS, /* the same, and its timestamp has no relation to theirs */
};

struct order_packet {
    bool came, event, marker;
    uint8_t pt;
    uint16_t n;
    uint8_t *payload; /* heap; NULL: nothing to report */
    uint32_t timestamp;
    int64_t came_ms;
};

/* All zero but for the first two members before it is used. */
struct order {
    order_content_h on_content;
    void *arg;
    bool any;
    uint32_t ssrc;
    uint16_t next, newest; /* the first number that has not come, the last one that has */
    bool strayed;
    uint16_t stray;                             /* the number after the last stray packet's */
    uint16_t offset;                            /* from the numbers of the stream to the reported numbers */
    struct order_packet packets[ORDER_PACKETS]; /* packets that came after a missing one */
};

/* Frees the contents that wait, without a report. */
void order_done(struct order *o);
/* The place of each packet of the sender. */
enum order_place order_find(struct order *o, const struct rtp_header *h);
/* Each packet that is no stray, after order_find(); `c` may be NULL. Its content is reported at once if no packet
 * before it is missing, else when they have come, at the latest by the first packet or order_tick() after
 * ORDER_WAIT_MS. After that, late events are reported at once, and late audio is dropped. */
void order_take(struct order *o, int64_t now_ms, const struct rtp_header *h, const struct order_content *c);
void order_tick(struct order *o, int64_t now_ms);
/* Whether a content waits for a packet before it. */
bool order_waits(const struct order *o);
/* Reports the contents that wait. The next packet is of another stream. */
void order_end(struct order *o);
