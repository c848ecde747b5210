#include "sip/hearing.h"

#include "base/container_of.h"
#include "base/crypto.h"
#include "base/log.h"
#include "domain/access_spoken.h"
#include "sip/agent.h"
#include "sip/call.h"

/* ---- the agent's recognition ---- */

struct codes_read {
    const struct config *config;
    const struct id *building;
    struct spoken_codes *ret;
};

static enum err read_codes_run(void *arg, struct db *db)
{
    struct codes_read *r = arg;
    struct arena arena;
    arena_init(&arena, NULL, 0);
    struct tx tx = {.arena = &arena, .db = db, .config = r->config, .now_us = clock_now_us()};
    enum err e = access_spoken_codes(&tx, r->building, r->ret->v, SPOKEN_CODES_MAX, &r->ret->n);
    arena_done(&arena);
    return e;
}

static enum err read_codes(void *arg, const struct id *building, struct spoken_codes *ret)
{
    const struct sip_agent *a = arg;
    struct codes_read r = {a->config, building, ret};
    return store_run(a->store, STORE_READ, read_codes_run, &r);
}

void sip_hearing_start(struct sip_agent *a)
{
    const struct config *c = a->config;
    if (!c->voice_spoken_codes)
        return;
    const struct spoken_options options = {
        .directories =
            {[SPOKEN_TIDIGITS] = c->voice_spoken_digits_model, [SPOKEN_ENGLISH] = c->voice_spoken_english_model},
        .limit_ms = c->voice_spoken_wait_s * 1000,
        .codes = read_codes,
        .arg = a,
    };
    if (spoken_new(&a->spoken, &options))
        log_warn("spoken codes are off: cannot start a thread");
}

void sip_hearing_stop(struct sip_agent *a)
{
    spoken_free(a->spoken);
    a->spoken = NULL;
}

bool sip_hears(const struct sip_agent *a)
{
    return a->spoken && spoken_state(a->spoken) == SPOKEN_READY;
}

/* ---- a call ---- */

static void sip_hearing_answered(struct spoken_request *r)
{
    struct sip_hearing *h = container_of(r, struct sip_hearing, request);
    void *call = h->arg;
    h->pending = false;
    h->agent->drain.asking--;
    if (!r->dropped)
        h->heard(r->result, r->code, call);
    crypto_wipe(r->code, sizeof r->code);
    sip_agent_settled(h->agent);
    mem_deref(call);
}

/* False: it cannot be understood. */
static bool submit(struct sip_hearing *h)
{
    if (h->pending || !utterance_clear(h->utterance))
        return false;
    h->request = (struct spoken_request){
        .building = h->building, .utterance = h->utterance, .box = &h->agent->box, .answered = sip_hearing_answered};
    if (!spoken_submit(h->agent->spoken, &h->request))
        return false;
    h->utterance = NULL;
    h->pending = true;
    h->agent->drain.asking++;
    mem_ref(h->arg);
    return true;
}

void sip_hearing_begin(struct sip_hearing *h, struct sip_agent *a, const struct id *building, sip_heard_h *heard,
                       void *arg)
{
    if (!sip_hears(a))
        return;
    h->agent = a;
    h->heard = heard;
    h->arg = arg;
    h->building = *building;
    utterance_free(h->utterance);
    h->utterance = utterance_new();
}

void sip_hearing_end(struct sip_hearing *h)
{
    if (h->pending)
        h->request.dropped = true;
    utterance_free(h->utterance);
    h->utterance = NULL;
}

static void hearing_on_audio(struct sip_call *c, const int16_t *samples, size_t n)
{
    struct sip_hearing *h = &c->hearing;
    if (!h->utterance || utterance_take(h->utterance, samples, n) != UTTERANCE_COMPLETE || submit(h))
        return;
    utterance_free(h->utterance);
    h->utterance = NULL;
    h->heard(SPOKEN_UNCLEAR, "", h->arg);
}

bool sip_hearing_busy(const struct sip_hearing *h)
{
    return (h->pending && !h->request.dropped) || (h->utterance && utterance_state(h->utterance) != UTTERANCE_NONE);
}

static void hearing_on_end(struct sip_call *c)
{
    sip_hearing_end(&c->hearing);
}

const struct sip_part sip_hearing_part = {.audio = hearing_on_audio, .end = hearing_on_end};
