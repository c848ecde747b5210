#include "sip/part.h"

#include "sip/agent.h"
#include "sip/call.h"

void sip_parts_begin(struct sip_call *c)
{
    const struct sip_part *const *parts = c->agent->parts;
    for (size_t i = 0; i < SIP_PARTS && !c->ended; i++)
        if (parts[i]->begin)
            parts[i]->begin(c);
}

void sip_parts_packet(struct sip_call *c, const struct media_packet *p)
{
    const struct sip_part *const *parts = c->agent->parts;
    for (size_t i = 0; i < SIP_PARTS && !c->ended; i++)
        if (parts[i]->packet)
            parts[i]->packet(c, p);
}

void sip_parts_audio(struct sip_call *c, const int16_t *samples, size_t n)
{
    const struct sip_part *const *parts = c->agent->parts;
    for (size_t i = 0; i < SIP_PARTS && !c->ended; i++)
        if (parts[i]->audio)
            parts[i]->audio(c, samples, n);
}

void sip_parts_tick(struct sip_call *c, int64_t now_ms)
{
    const struct sip_part *const *parts = c->agent->parts;
    for (size_t i = 0; i < SIP_PARTS && !c->ended; i++)
        if (parts[i]->tick)
            parts[i]->tick(c, now_ms);
}

void sip_parts_end(struct sip_call *c)
{
    const struct sip_part *const *parts = c->agent->parts;
    for (size_t i = 0; i < SIP_PARTS; i++)
        if (parts[i]->end)
            parts[i]->end(c);
}
