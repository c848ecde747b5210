#include "voice/greeting.h"

#include "domain/settings.h"
#include "voice/media.h"
#include "voice/sip_agent.h"
#include "voice/speech.h"

#define BYTES_PER_MB (1024 * 1024)

static void ask_text(struct sip_agent *a, struct str text)
{
    if (a->speech && text.n)
        speech_ask(a->speech, &(struct speech_source){.name = text});
}

/* ---- the agent's ---- */

static bool fetch_recording(void *arg, struct str name, struct clip **ret)
{
    (void)arg;
    (void)name;
    (void)ret;
    return false;
}

enum err greeting_start(struct sip_agent *a)
{
    const struct speech_options options = {
        .cache_bytes = (size_t)a->config->voice_speech_cache_mb * BYTES_PER_MB,
        .box = &a->box,
        .fetch = fetch_recording,
        .arg = a,
    };
    struct call call;
    if (!options.cache_bytes)
        return ERR_NONE;
    enum err e = speech_new(&a->speech, &options);
    if (e)
        return e;
    for (int i = 0; i < GREETING_COUNT; i++)
        ask_text(a, greeting_or_default(a->config, (enum greeting)i, STR_NONE));
    call_init(&call);
    for (int i = GREETING_COUNT; i < PROMPT_COUNT; i++)
        ask_text(a, str_z(call_text(&call, (enum call_prompt)i)));
    return ERR_NONE;
}

void greeting_stop(struct sip_agent *a)
{
    speech_free(a->speech);
    a->speech = NULL;
}

void greeting_prepare(struct sip_agent *a, const struct call *c, const struct call_actions *next)
{
    for (size_t i = 0; i < next->n; i++)
        if (next->v[i].kind == CALL_SAY)
            ask_text(a, str_z(next->v[i].say.text));
    if (c->state == CALL_COLLECTING || c->state == CALL_RECORDING || c->state == CALL_RINGING)
        for (int i = 0; i < GREETING_COUNT; i++)
            ask_text(a, str_z(c->greetings[i]));
}

/* ---- one text ---- */

static void play_signal(struct saying *s)
{
    struct sound parts[SOUND_PARTS_MAX];
    const size_t n = sound_prompt(s->prompt, parts);
    media_play(s->media, parts, n);
}

static void play_clip(struct saying *s, struct clip *clip)
{
    const struct sound sound = clip_sound(clip);
    media_play(s->media, &sound, 1);
    clip_unref(s->clip);
    s->clip = clip;
}

void greeting_tick(struct saying *s, int64_t now_ms)
{
    struct clip *clip = NULL;
    if (!s->until_ms)
        return;
    const struct speech_source source = {.name = str_z(s->text)};
    const enum speech_state state = speech_take(s->agent->speech, &source, &clip);
    if (state == SPEECH_PENDING && now_ms < s->until_ms)
        return;
    s->until_ms = 0;
    if (clip)
        play_clip(s, clip);
    else
        play_signal(s);
}

void greeting_say(struct saying *s, struct sip_agent *a, struct media *m, enum call_prompt prompt, const char *text)
{
    const int64_t now_ms = tick_now_ms();
    s->agent = a;
    s->media = m;
    s->prompt = prompt;
    s->text = text;
    s->until_ms = a->speech ? now_ms + GREETING_WAIT_MS : 0;
    if (a->speech)
        greeting_tick(s, now_ms);
    else
        play_signal(s);
}

void greeting_done(struct saying *s)
{
    clip_unref(s->clip);
}
