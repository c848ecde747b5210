#include "speech/spoken_ear.h"

#include <math.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "base/mem.h"

/* bench/spoken.mjs picked and tested these; docs/performance.md has the trade-off. */
#define TIDIGITS_WEIGHT 0.5  /* the scores of this model vary more */
#define RATIO_LEAST     -3.5 /* of a valid code */
#define MARGIN_LEAST    0.5
#define SURE_LEAST      3.0  /* margin of another code */
#define HOPELESS        -4.0 /* ratio of the English model: the rest need not be computed */

struct spoken_ear {
    struct spoken_model *models[SPOKEN_MODELS];
    struct spoken_path any[SPOKEN_MODELS]; /* of the audio, once asked for */
};

enum err spoken_ear_new(const char *const directories[static SPOKEN_MODELS], struct spoken_ear **ret,
                        const char **ret_missing)
{
    struct spoken_ear *e = mem_new(struct spoken_ear);
    for (int kind = 0; kind < SPOKEN_MODELS; kind++) {
        enum err result = spoken_model_new((enum spoken_kind)kind, directories[kind], &e->models[kind]);
        if (result) {
            *ret_missing = directories[kind];
            spoken_ear_free(e);
            return result;
        }
    }
    *ret = e;
    return ERR_NONE;
}

void spoken_ear_free(struct spoken_ear *e)
{
    if (!e)
        return;
    for (int kind = 0; kind < SPOKEN_MODELS; kind++)
        spoken_model_free(e->models[kind]);
    crypto_wipe(e, sizeof *e);
    free(e);
}

void spoken_ear_take(struct spoken_ear *e, const int16_t *samples, size_t n, int64_t until_us)
{
    spoken_ear_forget(e);
    for (int kind = 0; kind < SPOKEN_MODELS; kind++)
        spoken_model_take(e->models[kind], samples, n, until_us);
}

void spoken_ear_forget(struct spoken_ear *e)
{
    for (int kind = 0; kind < SPOKEN_MODELS; kind++)
        spoken_model_forget(e->models[kind]);
    crypto_wipe(e->any, sizeof e->any);
}

static const struct spoken_path *free_path(struct spoken_ear *e, int kind)
{
    if (!e->any[kind].found)
        e->any[kind] = spoken_any(e->models[kind]);
    return &e->any[kind];
}

const char *spoken_ear_heard(struct spoken_ear *e, enum spoken_kind kind)
{
    return free_path(e, (int)kind)->digits;
}

static bool among(const char *digits, const char *const *codes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(digits, codes[i]))
            return true;
    return false;
}

/* The best path through the codes. The free path is it, where it is one of them. */
static struct spoken_path best_of(struct spoken_ear *e, int kind, const char *const *codes, size_t n)
{
    const struct spoken_path *any = free_path(e, kind);
    return among(any->digits, codes, n) ? *any : spoken_of_codes(e->models[kind], codes, n);
}

/* The best path of as many digits that is not `code`. */
static struct spoken_path rival_of(struct spoken_ear *e, int kind, const char *code)
{
    struct spoken_path rival = *free_path(e, kind);
    if (strlen(rival.digits) != strlen(code))
        rival = spoken_of_length(e->models[kind], strlen(code));
    return strcmp(rival.digits, code) != 0 ? rival : spoken_other_than(e->models[kind], code);
}

static bool measure_claim(struct spoken_ear *e, const struct spoken_path paths[static SPOKEN_MODELS],
                          struct spoken_claim *ret)
{
    bool measured = true;
    for (int of = 0; of < SPOKEN_MODELS; of++) {
        ret->ratio[of] = paths[of].score - free_path(e, of)->score;
        const struct spoken_path rival = rival_of(e, of, ret->code);
        const char *const one[] = {rival.digits};
        measured = measured && rival.found && e->any[of].found;
        for (int by = 0; measured && by < SPOKEN_MODELS; by++) {
            const struct spoken_path path = by == of ? rival : best_of(e, by, one, 1);
            ret->margin[of][by] = paths[by].score - path.score;
            measured = path.found;
        }
    }
    return measured;
}

struct spoken_claim spoken_claim_of(struct spoken_ear *e, const char *const *codes, size_t n)
{
    struct spoken_claim claim = {0};
    struct spoken_path paths[SPOKEN_MODELS];
    paths[SPOKEN_ENGLISH] = best_of(e, SPOKEN_ENGLISH, codes, n);
    if (!paths[SPOKEN_ENGLISH].found || paths[SPOKEN_ENGLISH].score - free_path(e, SPOKEN_ENGLISH)->score < HOPELESS)
        return claim;
    memcpy(claim.code, paths[SPOKEN_ENGLISH].digits, sizeof claim.code - 1);
    paths[SPOKEN_TIDIGITS] = best_of(e, SPOKEN_TIDIGITS, (const char *const[]){claim.code}, 1);
    claim.made = paths[SPOKEN_TIDIGITS].found && measure_claim(e, paths, &claim);
    return claim;
}

struct spoken_claim spoken_claim_free(struct spoken_ear *e)
{
    struct spoken_claim claim = {0};
    const struct spoken_path *any = free_path(e, SPOKEN_ENGLISH);
    const size_t n = strlen(any->digits);
    if (n == 0 || n > SPOKEN_LENGTH_MAX || strcmp(any->digits, free_path(e, SPOKEN_TIDIGITS)->digits) != 0)
        return claim;
    memcpy(claim.code, any->digits, n);
    claim.made = measure_claim(e, e->any, &claim);
    return claim;
}

static double weigh(const double v[static SPOKEN_MODELS])
{
    return v[SPOKEN_ENGLISH] + TIDIGITS_WEIGHT * v[SPOKEN_TIDIGITS];
}

static double margin_of(const struct spoken_claim *c)
{
    return fmin(weigh(c->margin[SPOKEN_TIDIGITS]), weigh(c->margin[SPOKEN_ENGLISH]));
}

bool spoken_claim_accepted(const struct spoken_claim *c)
{
    return c->made && weigh(c->ratio) >= RATIO_LEAST && margin_of(c) >= MARGIN_LEAST;
}

bool spoken_claim_sure(const struct spoken_claim *c)
{
    return c->made && margin_of(c) >= SURE_LEAST;
}
