#include "media/relay.h"

#include "media/media.h"

#define FIRST_MAX 0x3fff
#define LATE_MAX  64 /* bits of relay.sent */

void relay_init(struct relay *r)
{
    *r = (struct relay){.newest = rand_u16() & FIRST_MAX, .sent = UINT64_MAX};
}

uint16_t relay_own(struct relay *r)
{
    r->on = false;
    r->sent = UINT64_MAX;
    return ++r->newest;
}

/* Whether a packet that is so far behind the newest one may be sent. It is then. */
static bool send_late(struct relay *r, int behind)
{
    const uint64_t bit = behind < LATE_MAX ? UINT64_C(1) << behind : 0;
    if (!bit || r->sent & bit)
        return false;
    r->sent |= bit;
    return true;
}

bool relay_take(struct relay *r, const struct media_packet *p, uint32_t timestamp, struct relay_place *ret)
{
    const bool begins = !r->on || p->begins || p->ssrc != r->ssrc;
    if (begins && p->late)
        return false;
    if (begins) {
        r->seq_offset = (uint16_t)(relay_own(r) - p->seq);
        r->time_offset = timestamp - p->timestamp;
        r->ssrc = p->ssrc;
        r->on = true;
    }
    const uint16_t seq = (uint16_t)(p->seq + r->seq_offset);
    const int ahead = (int16_t)(seq - r->newest);
    if (!begins && ahead <= 0 && !send_late(r, -ahead))
        return false;
    if (ahead > 0) {
        r->sent = ahead < LATE_MAX ? r->sent << ahead | 1 : 1;
        r->newest = seq;
    }
    *ret = (struct relay_place){
        .begins = begins, .late = !begins && ahead < 0, .seq = seq, .timestamp = p->timestamp + r->time_offset};
    return true;
}
