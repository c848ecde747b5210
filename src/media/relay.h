/* The numbers of one RTP stream of ours: packets of our own, and of another stream, which keep their distances. No
 * number is sent twice, as SRTP must not have it (RFC 3711, 9.1). No I/O and no clock here. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct media_packet;

struct relay {
    bool on;         /* the newest packet is of another stream */
    uint16_t newest; /* the number of the last packet in order */
    uint64_t sent;   /* bit n: newest - n was sent, or must not be any more */
    uint32_t ssrc;   /* of the other stream, */
    uint16_t seq_offset;
    uint32_t time_offset; /* and the distances from its numbers and timestamps to ours */
};

struct relay_place {
    bool begins; /* its timestamp has no relation to the last packet's */
    bool late;   /* a later packet was sent already */
    uint16_t seq;
    uint32_t timestamp;
};

/* Chooses the first number, far from a wrap, which a peer that loses packets could miss. */
void relay_init(struct relay *r);
/* The number of a packet of our own. */
uint16_t relay_own(struct relay *r);
/* The place of a packet of another stream; the first one, or the first after our own, continues ours at `timestamp`.
 * False: it came too late, or was sent already. */
bool relay_take(struct relay *r, const struct media_packet *p, uint32_t timestamp, struct relay_place *ret);
