/* Scores synthetic callers against codes, once for each utterance; bench/spoken.mjs picks thresholds and counts.
 *
 *   bench_spoken TIDIGITS ENGLISH TALKERS SNR TRIALS < list > scores
 *
 * Each line of the list: a file of 8 kHz samples, voice, speaker, code. TALKERS: other voices that are the noise; 0:
 * white noise. Prints a line "U" for each utterance, with 1 if the service would judge it, its length and its ratio,
 * then a line "T" for each trial: the code among five valid ones (true), every code that differs in one digit, alone
 * (near), TRIALS times five valid codes without it (random), and what both models hear when they are free (free).
 * TRIALS 0: only the lines "U". */
#include <math.h>
#include <re/re.h>
#include <rem/rem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sized.h"
#include "speech/spoken_ear.h"
#include "speech/utterance.h"

#define FILES_MAX  10000
#define VALID      5 /* codes of a building */
#define TRIALS_MAX 40
#define PAD        4000          /* samples of noise alone before, 500 ms */
#define PAD_AFTER  UTTERANCE_MAX /* noise goes on, so that every utterance is complete */
#define FRAME      160

struct entry {
    char file[200], voice[64], speaker[64], code[8];
    int16_t *samples;
    size_t n;
};

static struct entry entries[FILES_MAX];
static size_t entry_count;
static struct spoken_ear *ear;

/* ---- the channel ---- */

static uint64_t seed = 1;

static double uniform(void)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static int below(int n)
{
    return (int)(uniform() * n);
}

static double gauss(void)
{
    return sqrt(-2 * log(uniform() + 1e-300)) * cos(2 * M_PI * uniform());
}

static double power_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return n ? sum / (double)n : 0;
}

/* The power of the frames with speech: those within 25 dB of the loudest. */
static double speech_power(const struct entry *e)
{
    double loudest = 0, sum = 0;
    size_t count = 0;
    double p[FILES_MAX];
    size_t frames = e->n / FRAME;
    for (size_t f = 0; f < frames; f++) {
        double x[FRAME];
        for (size_t i = 0; i < FRAME; i++)
            x[i] = e->samples[f * FRAME + i];
        p[f] = power_of(x, FRAME);
        loudest = fmax(loudest, p[f]);
    }
    for (size_t f = 0; f < frames; f++)
        if (p[f] > loudest / 316) {
            sum += p[f];
            count++;
        }
    return count ? sum / (double)count : 1;
}

static void make_noise(int talkers, const struct entry *of, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = talkers ? 0 : gauss();
    for (int t = 0; t < talkers; t++) {
        size_t at = (size_t)below(4000);
        while (at < n) {
            const struct entry *e = &entries[below((int)entry_count)];
            if (!strcmp(e->speaker, of->speaker))
                continue;
            for (size_t i = 0; i < e->n && at < n; i++, at++)
                x[at] += e->samples[i];
        }
    }
}

/* The audio as the service hears it; the caller frees it. */
static int16_t *channel(const struct entry *e, int talkers, double snr, size_t *ret_n)
{
    size_t n = PAD + e->n + PAD_AFTER;
    double *noise = mem_array(double, n);
    int16_t *out = mem_array(int16_t, n);
    make_noise(talkers, e, noise, n);
    double gain = sqrt(speech_power(e) / pow(10, snr / 10) / power_of(noise, n));
    for (size_t i = 0; i < n; i++) {
        double x = noise[i] * gain + (i >= PAD && i < PAD + e->n ? e->samples[i - PAD] : 0);
        x = fmax(-32000, fmin(32000, x));
        out[i] = g711_ulaw2pcm(g711_pcm2ulaw((int16_t)x));
    }
    free(noise);
    *ret_n = n;
    return out;
}

/* ---- scoring ---- */

/* One trial: `n` valid codes. */
struct trial {
    const char *kind;
    size_t n;
    char codes[VALID][8];
    bool done;
};

static void print_claim(const char *kind, const struct spoken_claim *c)
{
    if (c->made)
        printf("T %s %s %.3f %.3f %.3f %.3f %.3f %.3f\n", kind, c->code, c->ratio[0], c->ratio[1], c->margin[0][0],
               c->margin[0][1], c->margin[1][0], c->margin[1][1]);
    else
        printf("T %s -\n", kind);
}

static struct spoken_claim claim_of_all(const struct trial *trials, size_t count)
{
    const char *codes[TRIALS_MAX * VALID];
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; !trials[i].done && k < trials[i].n; k++)
            codes[n++] = trials[i].codes[k];
    return n ? spoken_claim_of(ear, codes, n) : (struct spoken_claim){0};
}

static bool has(const struct trial *t, const char *code)
{
    for (size_t k = 0; k < t->n; k++)
        if (!strcmp(t->codes[k], code))
            return true;
    return false;
}

/* All trials at once: the best code of all is the best of the trials that have it. They are taken out, and so on, until
 * the best is too far off to be judged: then so is the best of each that is left. */
static void run_trials(struct trial *trials, size_t count)
{
    for (struct spoken_claim best; (best = claim_of_all(trials, count)).made;)
        for (size_t i = 0; i < count; i++)
            if (!trials[i].done && has(&trials[i], best.code)) {
                print_claim(trials[i].kind, &best);
                trials[i].done = true;
            }
    for (size_t i = 0; i < count; i++)
        if (!trials[i].done)
            print_claim(trials[i].kind, &(struct spoken_claim){0});
}

static void random_code(const char *said, char *ret)
{
    const size_t n = strlen(said);
    do {
        for (size_t i = 0; i < n; i++)
            ret[i] = (char)('0' + below(10));
        ret[n] = '\0';
    } while (!strcmp(ret, said));
}

static struct trial random_codes(const char *kind, const char *said)
{
    struct trial t = {.kind = kind, .n = VALID};
    for (int i = 0; i < VALID; i++)
        random_code(said, t.codes[i]);
    return t;
}

/* The code among four others; every code that differs in one digit; five random codes, `count` times. */
static void try_codes(const char *said, int count)
{
    struct spoken_claim heard = spoken_claim_free(ear);
    print_claim("free", &heard);
    struct trial trials[TRIALS_MAX] = {random_codes("true", said)};
    strcpy(trials[0].codes[0], said);
    run_trials(trials, 1);
    size_t n = 0;
    for (size_t i = 0; said[i]; i++)
        for (char digit = '0'; digit <= '0' + sized(9, 0); digit++) {
            struct trial *t = &trials[n];
            *t = (struct trial){.kind = "near", .n = 1};
            strcpy(t->codes[0], said);
            t->codes[0][i] = digit;
            n += said[i] != digit;
        }
    run_trials(trials, n);
    for (int i = 0; i < count; i++)
        trials[i] = random_codes("random", said);
    run_trials(trials, (size_t)count);
}

static void score(const struct entry *e, int talkers, double snr, int trials)
{
    size_t n, kept;
    int16_t *heard = channel(e, talkers, snr, &n);
    struct utterance *u = utterance_new();
    for (size_t i = 0; i + FRAME <= n; i += FRAME)
        (void)utterance_take(u, heard + i, FRAME);
    const int16_t *samples = utterance_samples(u, &kept);
    printf("U %s %s %s %g %d %zu %zu %.1f\n", e->voice, e->speaker, e->code, snr, utterance_clear(u), e->n, kept,
           utterance_snr(u));
    if (trials) {
        spoken_ear_take(ear, samples, kept, INT64_MAX);
        try_codes(e->code, trials);
    }
    fflush(stdout);
    utterance_free(u);
    free(heard);
}

static void read_list(void)
{
    char line[400];
    while (entry_count < FILES_MAX && fgets(line, sizeof line, stdin)) {
        struct entry *e = &entries[entry_count];
        if (sscanf(line, "%199s %63s %63s %7s", e->file, e->voice, e->speaker, e->code) != 4)
            continue;
        FILE *f = fopen(e->file, "rb");
        if (!f)
            continue;
        e->samples = mem_array(int16_t, UTTERANCE_MAX);
        e->n = fread(e->samples, sizeof *e->samples, UTTERANCE_MAX, f);
        fclose(f);
        entry_count++;
    }
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: bench_spoken TIDIGITS ENGLISH TALKERS SNR TRIALS < list\n");
        return 2;
    }
    const char *missing;
    if (spoken_ear_new((const char *const[]){argv[1], argv[2]}, &ear, &missing)) {
        fprintf(stderr, "no model in %s\n", missing);
        return 1;
    }
    const int trials = atoi(argv[5]);
    read_list();
    for (size_t i = 0; i < entry_count; i++) {
        seed = i * 7919 + 17;
        score(&entries[i], atoi(argv[3]), atof(argv[4]), trials < TRIALS_MAX ? trials : TRIALS_MAX);
    }
    return 0;
}
