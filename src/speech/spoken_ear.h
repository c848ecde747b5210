/* Verification of spoken codes: whether an utterance is one of a few known codes. Two acoustic models judge; a thread
 * has an ear of its own.
 *
 * Free recognition of digits over a telephone is wrong too often to open a door. A claim ("it was this code") is
 * verified instead, by two figures: the ratio, the score of the code less the score of the best digits of any number;
 * and the margin, its score less the score of a rival, other digits of the same number. Each model names its best
 * rival, and both models score it. The ratio refuses other speech; the margin refuses codes that sound alike. Scores
 * are logarithms a frame. */
#pragma once
#include "speech/spoken_model.h"

#define SPOKEN_CODES_MAX 20 /* valid codes: with more of them, a wrong one is accepted too often */

struct spoken_ear;

/* ERR_NOT_FOUND, with the directory in *ret_missing, if a model is not there. */
enum err spoken_ear_new(const char *const directories[static SPOKEN_MODELS], struct spoken_ear **ret,
                        const char **ret_missing) CHECKED;
void spoken_ear_free(struct spoken_ear *e);

/* The audio that is judged next: 8 kHz; copied, and wiped by spoken_ear_forget(). After until_us (monotonic) no claim
 * is made any more. */
void spoken_ear_take(struct spoken_ear *e, const int16_t *samples, size_t n, int64_t until_us);
void spoken_ear_forget(struct spoken_ear *e);

struct spoken_claim {
    bool made; /* false: no code is near enough to be judged */
    char code[SPOKEN_LENGTH_MAX + 1];
    double ratio[SPOKEN_MODELS];
    double margin[SPOKEN_MODELS][SPOKEN_MODELS]; /* [rival of this model][score of that model] */
};

/* The most likely of the codes, of 1 to SPOKEN_LENGTH_MAX digits each, n > 0. */
struct spoken_claim spoken_claim_of(struct spoken_ear *e, const char *const *codes, size_t n);
/* The digits that both models hear when they are free; not made if they disagree. */
struct spoken_claim spoken_claim_free(struct spoken_ear *e);

/* The digits that one model hears when it is free; "": none. Until the next audio. */
const char *spoken_ear_heard(struct spoken_ear *e, enum spoken_kind kind);

/* Whether a claim of a valid code is good enough to open a door; whether a claim of another code is sure enough to
 * count as a wrong one. */
bool spoken_claim_accepted(const struct spoken_claim *c);
bool spoken_claim_sure(const struct spoken_claim *c);
