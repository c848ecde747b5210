#include "sip/story.h"

#include "base/clock.h"
#include "base/metric.h"
#include "call/story_task.h"
#include "sip/agent.h"

static int64_t sip_story_ms(const struct sip_call *c)
{
    return tick_now_ms() - c->arrived_ms;
}

static void story_on_begin(struct sip_call *c)
{
    story_begin(&c->story, CALL_FRONT_SIP, c->record.source, c->decide.to, c->decide.from);
    c->decide.arrival = &c->story.arrival;
}

/* After the end, the record has all further steps. */
static void sip_story_live(struct sip_call *c)
{
    if (!c->ended)
        story_live(&c->story, c->agent->store, c->agent->config);
}

void sip_story_event(struct sip_call *c, const struct call_event *e)
{
    if (e->kind == CALL_DIGIT)
        c->key_ms = tick_now_ms();
    story_event(&c->story, sip_story_ms(c), &c->machine, e);
    sip_story_live(c);
}

static void observe_tone(struct sip_call *c)
{
    if (c->key_ms)
        metric_observe(metrics.call_tone, (tick_now_ms() - c->key_ms) * 1000);
    c->key_ms = 0;
}

void sip_story_action(struct sip_call *c, const struct call_action *a)
{
    if (a->kind == CALL_SEND_TONES)
        observe_tone(c);
    if (a->kind == CALL_SEND_TONES)
        c->story.tone_way = a->tones.form.mode == RELEASE_INFO                                          ? "info"
                            : media_events_negotiated(c->media) && a->tones.form.mode != RELEASE_INBAND ? "event"
                                                                                                        : "tone";
    story_action(&c->story, sip_story_ms(c), a);
    sip_story_live(c);
}

void sip_story_note(struct sip_call *c, enum call_step_kind kind, const char *text, const char *number)
{
    story_note(&c->story, sip_story_ms(c), kind, text, number);
    sip_story_live(c);
}

void sip_story_listening(struct sip_call *c, const char *text, const struct id *key)
{
    story_listening(&c->story, sip_story_ms(c), text, key);
    sip_story_live(c);
}

static void write_line(struct sip_call *c)
{
    struct call_record *r = &c->record;
    r->duration_ms = sip_story_ms(c);
    r->established = c->answered_ms != 0;
    if (c->media) {
        const struct dtmf_in *keys = media_keys(c->media);
        r->has_media = true;
        r->events = keys->events;
        r->tones = keys->tones;
        r->infos = keys->infos;
    }
    call_log(&c->machine, r);
}

static void write_record(struct sip_call *c)
{
    if (c->told || c->story.end.outcome != CALL_RECORD_NONE)
        story_submit(&c->story, c->ended_ms, c->agent->store, c->agent->config);
    else
        story_drop(&c->story);
}

static void story_on_end(struct sip_call *c)
{
    c->ended_ms = sip_story_ms(c);
    if (c->record.tone_fallback)
        sip_story_note(c, CALL_STEP_TONE_FALLBACK, strcmp(c->record.tone, "inband") ? "event" : "tone", NULL);
    c->told = c->answered_ms || sip_limits_may_tell(&c->agent->limits);
    if (c->told)
        write_line(c);
    else
        call_log_count(&c->machine, &c->record);
    if (!c->asking)
        write_record(c);
}

void sip_story_late(struct sip_call *c, const struct call_event *e)
{
    if (e->kind == CALL_DECIDED)
        story_late(&c->story, c->ended_ms, e->decision);
    write_record(c);
}

const struct sip_part sip_story_part = {.begin = story_on_begin, .end = story_on_end};
