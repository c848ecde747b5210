/* Inside the SIP user agent: the parts of a call. A part names the functions that it has for the events of every call,
 * and the call knows no part by name. Its state is a member of struct sip_call. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct media_packet;
struct sip_call;

/* The order in which the parts get each event, also the end of a call. */
enum sip_place {
    SIP_PART_HEARING,
    SIP_PART_MESSAGE, /* a message is a step of the story, */
    SIP_PART_FORWARD, /* and its record has the minutes of the phones: */
    SIP_PART_LISTENERS,
    SIP_PART_STORY, /* it is written after these */
    SIP_PART_TONES,
    SIP_PART_OFFER,
    SIP_PART_ADMIT, /* the place of the call becomes free last */
    SIP_PARTS
};

/* Any function may be NULL. */
struct sip_part {
    /* The call was admitted. It has no media yet. */
    void (*begin)(struct sip_call *c);
    /* A packet came from the visitor, and the same as sound. */
    void (*packet)(struct sip_call *c, const struct media_packet *p);
    void (*audio)(struct sip_call *c, const int16_t *samples, size_t n);
    /* Every 20 ms while the visitor's call is answered. May end the call. */
    void (*tick)(struct sip_call *c, int64_t now_ms);
    /* The call ends. Its media and its session are still there. May be called from within an event of any part. */
    void (*end)(struct sip_call *c);
};

/* Give the event to the parts of the agent, in their order; all but the last one as long as the call has not ended. */
void sip_parts_begin(struct sip_call *c);
void sip_parts_packet(struct sip_call *c, const struct media_packet *p);
void sip_parts_audio(struct sip_call *c, const int16_t *samples, size_t n);
void sip_parts_tick(struct sip_call *c, int64_t now_ms);
void sip_parts_end(struct sip_call *c);
