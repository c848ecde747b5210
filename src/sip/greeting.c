#include "sip/greeting.h"

#include <stdio.h>

#include "base/container_of.h"
#include "base/log.h"
#include "domain/recording.h"
#include "domain/settings.h"
#include "domain/work.h"
#include "media/media.h"
#include "sip/agent.h"
#include "speech/speech.h"

#define BYTES_PER_MB (1024 * 1024)

static struct speech_source source_of(const char *text, const struct id *recording)
{
    const bool recorded = recording && id_given(recording);
    return (struct speech_source){.recording = recorded, .name = recorded ? id_str(recording) : str_z(text)};
}

static void ask_for(struct sip_agent *a, const char *text, const struct id *recording)
{
    const struct speech_source source = source_of(text, recording);
    if (a->speech && text && text[0])
        speech_ask(a->speech, &source);
}

/* ---- the agent's ---- */

struct fetched {
    struct id id;
    struct str audio;
};

static enum err fetch_body(struct tx *tx, void *arg)
{
    struct fetched *f = arg;
    return recording_audio(tx, &f->id, &f->audio);
}

/* On the thread of the speech. A recording that was removed since the decision is none. */
static bool fetch_recording(void *arg, struct str name, struct clip **ret)
{
    const struct sip_agent *a = arg;
    struct arena arena;
    struct fetched f;
    struct work work = {.store = a->store, .config = a->config, .arena = &arena};
    if (!id_parse(name, &f.id))
        return true;
    arena_init(&arena, NULL, 0);
    const enum err e = work_read(&work, fetch_body, &f);
    if (!e && f.audio.n && f.audio.n <= RECORDING_MAX) {
        *ret = clip_new((uint32_t)f.audio.n);
        memcpy((*ret)->ulaw, f.audio.p, f.audio.n);
    } else if (e && e != ERR_NOT_FOUND) {
        log_error("recording not read id=%s error=%s", f.id.text, err_info(e)->code);
    }
    arena_done(&arena);
    return !e || e == ERR_NOT_FOUND;
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
        ask_for(a, greeting_or_default(a->config, (enum greeting)i, STR_NONE).p, NULL);
    call_init(&call);
    for (int i = GREETING_COUNT; i < PROMPT_COUNT; i++)
        ask_for(a, call_text(&call, (enum call_prompt)i), NULL);
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
            ask_for(a, next->v[i].say.text, next->v[i].say.recording);
    if (c->state == CALL_COLLECTING || c->state == CALL_RECORDING || c->state == CALL_RINGING)
        for (int i = 0; i < GREETING_COUNT; i++)
            ask_for(a, c->greetings[i], &c->recordings[i]);
}

/* ---- saved greetings ---- */

static void on_wishes(struct mail *m)
{
    struct greeting_wishes *w = container_of(m, struct greeting_wishes, mail);
    struct sip_agent *a = container_of(w, struct sip_agent, wishes);
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; a->speech && i < w->n; i++) {
        const struct speech_source source = {.recording = w->list[i].recording, .name = str_z(w->list[i].name)};
        speech_ask_ahead(a->speech, &source);
    }
    w->n = 0;
    pthread_mutex_unlock(&w->lock);
}

void sip_prepare_greeting(struct sip_agent *a, bool recording, struct str name)
{
    struct greeting_wishes *w = &a->wishes;
    pthread_mutex_lock(&w->lock);
    if (name.n && name.n <= GREETING_NAME_MAX && w->n < GREETING_WISHES_MAX) {
        struct greeting_wish *wish = &w->list[w->n];
        wish->recording = recording;
        (void)snprintf(wish->name, sizeof wish->name, "%.*s", STR_ARG(name));
        if (!w->n++) {
            w->mail.run = on_wishes;
            mailbox_post(&a->box, &w->mail);
        }
    }
    pthread_mutex_unlock(&w->lock);
}

/* ---- one text ---- */

static void keep_clip(struct saying *s, struct clip *clip)
{
    clip_unref(s->clip);
    s->clip = clip;
}

static void play_signal(struct saying *s)
{
    struct sound parts[SOUND_PARTS_MAX];
    const size_t n = sound_prompt(s->words.prompt, parts);
    media_play(s->media, parts, n);
}

static void play_clip(struct saying *s, struct clip *clip)
{
    const struct sound sound = clip_sound(clip);
    media_play(s->media, &sound, 1);
    keep_clip(s, clip);
}

void greeting_tick(struct saying *s, int64_t now_ms)
{
    struct clip *clip = NULL;
    if (!s->until_ms)
        return;
    const struct speech_source source = source_of(s->words.text, s->words.recording);
    const enum speech_state state = speech_take(s->agent->speech, &source, &clip);
    if (state == SPEECH_PENDING && now_ms < s->until_ms)
        return;
    if (!clip && source.recording) { /* the text may be ready although the recording is not */
        s->words.recording = NULL;
        greeting_tick(s, now_ms);
        return;
    }
    s->until_ms = 0;
    if (clip)
        play_clip(s, clip);
    else
        play_signal(s);
}

void greeting_say(struct saying *s, struct sip_agent *a, struct media *m, const struct greeting_words *words)
{
    const int64_t now_ms = tick_now_ms();
    s->agent = a;
    s->media = m;
    s->words = *words;
    s->until_ms = a->speech ? now_ms + GREETING_WAIT_MS : 0;
    if (a->speech)
        greeting_tick(s, now_ms);
    else
        play_signal(s);
}

size_t greeting_parts(struct saying *s, struct sip_agent *a, enum call_prompt prompt, const char *text,
                      struct sound ret[static SOUND_PARTS_MAX])
{
    struct clip *clip = NULL;
    const struct speech_source source = source_of(text, NULL);
    if (a->speech)
        (void)speech_take(a->speech, &source, &clip);
    if (!clip)
        return sound_prompt(prompt, ret);
    keep_clip(s, clip);
    ret[0] = clip_sound(clip);
    return 1;
}

void greeting_done(struct saying *s)
{
    clip_unref(s->clip);
}
