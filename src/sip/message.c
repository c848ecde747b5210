#include "sip/message.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/log.h"
#include "base/mem.h"
#include "call/wav.h"
#include "domain/call_message.h"
#include "sip/agent.h"
#include "sip/call.h"
#include "sip/story.h"

void sip_message_begin(struct sip_call *c, int64_t max_s)
{
    struct sound tone[SOUND_PARTS_MAX];
    c->message = (struct sip_message){.max_ms = max_s * 1000};
    media_play(c->media, tone, sound_prompt(PROMPT_MESSAGE, tone));
}

void sip_message_listen(struct sip_call *c)
{
    struct sip_message *m = &c->message;
    m->room = (size_t)m->max_ms * SOUND_RATE / 1000;
    m->samples = mem_array(int16_t, m->room);
    m->began_ms = m->heard_ms = tick_now_ms();
}

static void message_on_audio(struct sip_call *c, const int16_t *samples, size_t n)
{
    struct sip_message *m = &c->message;
    if (!m->samples)
        return;
    if (n > m->room - m->sound.n)
        n = m->room - m->sound.n;
    memcpy(m->samples + m->sound.n, samples, n * sizeof *samples);
    if (message_hear(&m->sound, samples, n))
        m->heard_ms = tick_now_ms();
}

static bool is_over(const struct sip_call *c, int64_t now_ms)
{
    const struct sip_message *m = &c->message;
    if (!m->samples)
        return false;
    return m->sound.n == m->room || now_ms - m->began_ms >= m->max_ms ||
           now_ms - m->heard_ms >= (m->sound.loud ? MESSAGE_PAUSE_MS : MESSAGE_FIRST_MS);
}

/* ---- the store ---- */

struct message_task {
    struct store_task task;
    struct call_message message;
    const struct config *config;
    struct buf wav;
    char caller[CALL_NUMBER_MAX];
};

static enum err message_task_run(struct store_task *task, struct db *db)
{
    struct message_task *t = container_of(task, struct message_task, task);
    struct arena arena;
    arena_init(&arena, NULL, 0);
    struct tx tx = {.arena = &arena, .db = db, .config = t->config, .now_us = clock_now_us()};
    enum err e = call_message_add(&tx, &t->message);
    arena_done(&arena);
    return e;
}

static void message_task_done(struct store_task *task, enum err result)
{
    struct message_task *t = container_of(task, struct message_task, task);
    if (result)
        log_error("message not kept call=%s error=%s", t->message.call_id.text, err_info(result)->code);
    buf_done(&t->wav);
    free(t);
}

static void keep_message(struct sip_call *c, size_t samples)
{
    struct message_task *t = mem_new(struct message_task);
    const int64_t seconds = ((int64_t)samples + SOUND_RATE - 1) / SOUND_RATE;
    char text[24];
    t->wav = BUF(MESSAGE_BYTES_MAX);
    wav_write(c->message.samples, samples, &t->wav);
    memcpy(t->caller, c->decide.from, sizeof t->caller);
    t->config = c->agent->config;
    t->message = (struct call_message){.call_id = c->story.arrival.id,
                                       .building_id = c->machine.building_id,
                                       .caller = str_z(t->caller),
                                       .wav = buf_view(&t->wav),
                                       .seconds = seconds};
    (void)re_snprintf(text, sizeof text, "%llds", (long long)seconds);
    sip_story_note(c, CALL_STEP_MESSAGE, text, NULL);
    t->task = (struct store_task){.mode = STORE_WRITE, .run = message_task_run, .done = message_task_done};
    store_submit(c->agent->store, &t->task);
}

void sip_message_end(struct sip_call *c)
{
    struct sip_message *m = &c->message;
    const size_t length = message_length(&m->sound);
    if (length)
        keep_message(c, length);
    free(m->samples);
    *m = (struct sip_message){0};
}

/* The action is done. */
static void message_on_tick(struct sip_call *c, int64_t now_ms)
{
    if (!is_over(c, now_ms))
        return;
    sip_message_end(c);
    c->due_ms = now_ms;
}

const struct sip_part sip_message_part = {.audio = message_on_audio, .tick = message_on_tick, .end = sip_message_end};
