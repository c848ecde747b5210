#include "speech/spoken.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "speech/utterance.h"

struct spoken {
    struct spoken_options options;
    char *directories[SPOKEN_MODELS];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;

    /* under the lock */
    enum spoken_state state;
    bool stopping;
    struct spoken_request *first, **last;
    size_t waiting;
};

/* ---- the thread ---- */

static struct spoken_ear *load_ear(struct spoken *s)
{
    struct spoken_ear *ear = NULL;
    const char *missing = "";
    const char *const directories[SPOKEN_MODELS] = {s->directories[0], s->directories[1]};
    if (spoken_ear_new(directories, &ear, &missing))
        log_warn("spoken codes are off: no acoustic model in %s", missing);
    else
        log_info("spoken codes are on");
    pthread_mutex_lock(&s->lock);
    s->state = ear ? SPOKEN_READY : SPOKEN_OFF;
    pthread_mutex_unlock(&s->lock);
    return ear;
}

/* The next request; NULL to stop. */
static struct spoken_request *take_spoken_request(struct spoken *s)
{
    pthread_mutex_lock(&s->lock);
    while (!s->stopping && !s->first)
        pthread_cond_wait(&s->changed, &s->lock);
    struct spoken_request *r = s->stopping ? NULL : s->first;
    if (r) {
        s->first = r->next;
        s->last = s->first ? s->last : &s->first;
        s->waiting--;
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

static bool is_valid_code(const struct spoken_codes *codes, const char *digits)
{
    for (size_t i = 0; i < codes->n; i++)
        if (!strcmp(codes->v[i], digits))
            return true;
    return false;
}

/* Whether one of the models hears as many digits as a valid code has, and neither hears a valid one. So whoever says a
 * code that would be accepted if it were valid has one guess less. */
static bool is_guess(struct spoken_ear *ear, const struct spoken_codes *codes)
{
    bool as_long = false;
    for (int kind = 0; kind < SPOKEN_MODELS; kind++) {
        const char *heard = spoken_ear_heard(ear, (enum spoken_kind)kind);
        if (is_valid_code(codes, heard))
            return false;
        for (size_t i = 0; i < codes->n; i++)
            as_long = as_long || strlen(codes->v[i]) == strlen(heard);
    }
    return as_long;
}

static enum spoken_result judge_claim(struct spoken_ear *ear, const struct spoken_codes *codes,
                                      struct spoken_claim *claim)
{
    const char *list[SPOKEN_CODES_MAX];
    for (size_t i = 0; i < codes->n; i++)
        list[i] = codes->v[i];
    *claim = spoken_claim_of(ear, list, codes->n);
    if (spoken_claim_accepted(claim))
        return SPOKEN_ACCEPTED;
    *claim = spoken_claim_free(ear);
    if (!is_guess(ear, codes))
        return SPOKEN_UNCLEAR;
    return spoken_claim_sure(claim) ? SPOKEN_OTHER : SPOKEN_GUESS;
}

static void hear_request(struct spoken *s, struct spoken_ear *ear, struct spoken_request *r)
{
    struct spoken_codes codes = {.n = 0};
    struct spoken_claim claim = {0};
    if (!s->options.codes(s->options.arg, &r->building, &codes) && codes.n) {
        size_t n;
        const int16_t *samples = utterance_samples(r->utterance, &n);
        spoken_ear_take(ear, samples, n, r->until_us);
        r->result = judge_claim(ear, &codes, &claim);
        if (clock_monotonic_us() > r->until_us)
            r->result = SPOKEN_UNCLEAR;
        if (r->result == SPOKEN_ACCEPTED || r->result == SPOKEN_OTHER)
            memcpy(r->code, claim.code, sizeof r->code);
        spoken_ear_forget(ear);
    }
    crypto_wipe(&claim, sizeof claim);
    crypto_wipe(&codes, sizeof codes);
}

static void spoken_mail_run(struct mail *m)
{
    struct spoken_request *r = container_of(m, struct spoken_request, mail);
    r->answered(r);
}

static void post_judgement(struct spoken_request *r)
{
    utterance_free(r->utterance);
    r->utterance = NULL;
    r->mail.run = spoken_mail_run;
    mailbox_post(r->box, &r->mail);
}

static void *spoken_run(void *arg)
{
    struct spoken *s = arg;
    struct spoken_ear *ear = load_ear(s);
    for (struct spoken_request *r; ear && (r = take_spoken_request(s)); post_judgement(r))
        if (!r->dropped && clock_monotonic_us() < r->until_us)
            hear_request(s, ear, r);
    spoken_ear_free(ear);
    return NULL;
}

/* ---- other threads ---- */

enum err spoken_new(struct spoken **ret, const struct spoken_options *options)
{
    struct spoken *s = mem_new(struct spoken);
    s->options = *options;
    for (int i = 0; i < SPOKEN_MODELS; i++)
        s->directories[i] = mem_strdup(options->directories[i]);
    s->last = &s->first;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    const int e = pthread_create(&s->thread, NULL, spoken_run, s);
    if (e) {
        s->state = SPOKEN_OFF;
        s->stopping = true;
        spoken_free(s);
        errno = e;
        return ERR_IO;
    }
    pthread_setname_np(s->thread, "spoken");
    *ret = s;
    return ERR_NONE;
}

void spoken_free(struct spoken *s)
{
    if (!s)
        return;
    if (!s->stopping) {
        pthread_mutex_lock(&s->lock);
        s->stopping = true;
        pthread_cond_signal(&s->changed);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
    }
    for (struct spoken_request *r = s->first; r; r = r->next) {
        utterance_free(r->utterance);
        r->utterance = NULL;
    }
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    for (int i = 0; i < SPOKEN_MODELS; i++)
        free(s->directories[i]);
    free(s);
}

enum spoken_state spoken_state(struct spoken *s)
{
    pthread_mutex_lock(&s->lock);
    const enum spoken_state state = s->state;
    pthread_mutex_unlock(&s->lock);
    return state;
}

bool spoken_submit(struct spoken *s, struct spoken_request *r)
{
    r->next = NULL;
    r->result = SPOKEN_UNCLEAR;
    r->dropped = false;
    r->until_us = clock_monotonic_us() + s->options.limit_ms * 1000;
    pthread_mutex_lock(&s->lock);
    const bool taken = s->state == SPOKEN_READY && s->waiting < SPOKEN_QUEUE_MAX;
    if (taken) {
        *s->last = r;
        s->last = &r->next;
        s->waiting++;
        pthread_cond_signal(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return taken;
}
