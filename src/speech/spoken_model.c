#include "speech/spoken_model.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/library.h"
#include "base/mem.h"
#include "speech/sphinx_abi.h"

#define RECOGNIZER "libpocketsphinx.so.3" /* needs libsphinxbase */

#define SPHINX(S)                                                                                                      \
    S(err_set_logfp)                                                                                                   \
    S(cmd_ln_init)                                                                                                     \
    S(cmd_ln_free_r)                                                                                                   \
    S(ps_args)                                                                                                         \
    S(ps_init)                                                                                                         \
    S(ps_free)                                                                                                         \
    S(ps_add_word)                                                                                                     \
    S(ps_get_logmath)                                                                                                  \
    S(ps_set_fsg)                                                                                                      \
    S(ps_set_search)                                                                                                   \
    S(ps_start_stream)                                                                                                 \
    S(ps_start_utt)                                                                                                    \
    S(ps_process_raw)                                                                                                  \
    S(ps_end_utt)                                                                                                      \
    S(ps_get_hyp)                                                                                                      \
    S(ps_get_n_frames)                                                                                                 \
    S(fsg_model_init)                                                                                                  \
    S(fsg_model_free)                                                                                                  \
    S(fsg_model_word_add)                                                                                              \
    S(fsg_model_trans_add)                                                                                             \
    S(fsg_model_null_trans_add)
LIBRARY(sphinx, SPHINX);

#define WORDS_MAX 11 /* ten digits, and "oh" */

struct word {
    const char *text;
    char digit;
    const char *phones[SPOKEN_MODELS];
};

static const struct word words[WORDS_MAX] = {
    {"zero", '0', {"Z_zero II_zero R_zero OW_zero", "Z IH R OW"}},
    {"oh", '0', {"OW_oh", "OW"}},
    {"one", '1', {"W_one AX_one N_one", "W AH N"}},
    {"two", '2', {"T_two OO_two", "T UW"}},
    {"three", '3', {"TH_three R_three II_three", "TH R IY"}},
    {"four", '4', {"F_four OW_four R_four", "F AO R"}},
    {"five", '5', {"F_five AY_five V_five", "F AY V"}},
    {"six", '6', {"S_six I_six K_six S_six_2", "S IH K S"}},
    {"seven", '7', {"S_seven EH_seven V_seven E_seven N_seven", "S EH V AH N"}},
    {"eight", '8', {"EY_eight T_eight", "EY T"}},
    {"nine", '9', {"N_nine AY_nine N_nine_2", "N AY N"}},
};

struct spoken_model {
    enum spoken_kind kind;
    ps_decoder_t *ps;
    int16_t *samples;
    size_t n;
    int64_t until_us;
};

/* ---- the decoder ---- */

/* Wide beams: a path that is far behind may win at the end. All senones: otherwise a score depends on the grammar. */
#define COMMON                                                                                                         \
    "-beam", "1e-120", "-wbeam", "1e-100", "-pbeam", "1e-100", "-compallsen", "yes", "-remove_silence", "no",          \
        "-bestpath", "no", "-featparams", "/dev/null", "-transform", "dct", "-agc", "none", "-cmn", "batch",           \
        "-varnorm", "no"

static cmd_ln_t *options(enum spoken_kind kind, const char *directory)
{
    if (kind == SPOKEN_TIDIGITS)
        return sphinx.cmd_ln_init(NULL, sphinx.ps_args(), true, "-hmm", directory, "-samprate", "8000", "-lowerf", "1",
                                  "-upperf", "4000", "-nfilt", "20", "-round_filters", "no", "-remove_dc", "yes",
                                  "-wlen", "0.025", "-feat", "s2_4x", "-cmninit", "63,-1,1", COMMON, NULL);
    return sphinx.cmd_ln_init(NULL, sphinx.ps_args(), true, "-hmm", directory, "-samprate", "16000", "-lowerf", "130",
                              "-upperf", "6800", "-nfilt", "25", "-lifter", "22", "-feat", "1s_c_d_dd", "-svspec",
                              "0-12/13-25/26-38", "-cmninit", "41.00,-5.29,-0.12,5.09", COMMON, NULL);
}

static bool add_words(struct spoken_model *m)
{
    for (size_t i = 0; i < WORDS_MAX; i++)
        if (sphinx.ps_add_word(m->ps, words[i].text, words[i].phones[m->kind], false) < 0)
            return false;
    return true;
}

/* ---- the audio ---- */

#define HALF 8 /* samples on each side that a new one is made from */

/* Doubles the rate: a windowed sinc at the middle between two samples. */
static void double_rate(const int16_t *in, size_t n, int16_t *out)
{
    static const double taps[HALF] = {0.6312, -0.1963, 0.1020, -0.0579, 0.0321, -0.0160, 0.0064, -0.0014};
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < HALF; k++) {
            double before = i >= k ? in[i - k] : 0, after = i + 1 + k < n ? in[i + 1 + k] : 0;
            sum += taps[k] * (before + after);
        }
        out[2 * i] = in[i];
        out[2 * i + 1] = (int16_t)(sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
    }
}

void spoken_model_take(struct spoken_model *m, const int16_t *samples, size_t n, int64_t until_us)
{
    spoken_model_forget(m);
    m->until_us = until_us;
    const size_t factor = m->kind == SPOKEN_ENGLISH ? 2 : 1;
    m->n = n * factor;
    m->samples = mem_zeroed(m->n + 1, sizeof *m->samples);
    if (factor == 2)
        double_rate(samples, n, m->samples);
    else
        memcpy(m->samples, samples, n * sizeof *samples);
}

void spoken_model_forget(struct spoken_model *m)
{
    if (m->samples)
        crypto_wipe(m->samples, m->n * sizeof *m->samples);
    free(m->samples);
    m->samples = NULL;
    m->n = 0;
}

/* ---- grammars ---- */

/* A deterministic automaton over digits. State 0 is the start. */
struct automaton {
    int states;
    struct digit_state {
        int next[10]; /* -1: no way */
        bool accepts;
    } * v;
};

static struct automaton automaton_new(size_t states)
{
    struct automaton a = {.states = (int)states, .v = mem_array(struct digit_state, states)};
    for (size_t i = 0; i < states; i++)
        memset(a.v[i].next, -1, sizeof a.v[i].next);
    return a;
}

/* One node of the decoder's grammar: a state, and the word that led to it. Each word needs a node of its own: the
 * decoder takes all words that lead to one node for the left context of all that leave it, and then the scores of one
 * path differ between grammars. */
struct node {
    int state, word;
};

struct nodes {
    struct node *v;
    int count;
    int *at; /* state x word: its node, 0 if none yet. Node 0 is the start, which no word leads to */
};

static int node_of(struct nodes *nodes, int state, int word)
{
    int *at = &nodes->at[state * WORDS_MAX + word];
    if (!*at) {
        nodes->v[nodes->count] = (struct node){state, word};
        *at = nodes->count++;
    }
    return *at;
}

/* Numbers the nodes, and adds the arcs to the grammar if it is given. */
static void walk_arcs(const struct automaton *a, struct nodes *nodes, fsg_model_t *g)
{
    for (int from = 0; from < nodes->count; from++)
        for (int word = 0; word < WORDS_MAX; word++) {
            int next = a->v[nodes->v[from].state].next[words[word].digit - '0'];
            if (next < 0)
                continue;
            int to = node_of(nodes, next, word);
            if (g)
                sphinx.fsg_model_trans_add(g, from, to, 0, word);
        }
}

/* Frees the automaton. */
static fsg_model_t *grammar_new(struct spoken_model *m, struct automaton *a)
{
    const size_t most = (size_t)a->states * WORDS_MAX + 1;
    struct nodes nodes = {.v = mem_array(struct node, most), .count = 1, .at = mem_array(int, most)};
    walk_arcs(a, &nodes, NULL);
    fsg_model_t *g = sphinx.fsg_model_init("digits", sphinx.ps_get_logmath(m->ps), 1.0F, nodes.count + 1);
    for (size_t i = 0; i < WORDS_MAX; i++)
        (void)sphinx.fsg_model_word_add(g, words[i].text);
    walk_arcs(a, &nodes, g);
    struct sphinx_grammar *states = (struct sphinx_grammar *)g;
    states->start_state = 0;
    states->final_state = nodes.count;
    for (int i = 0; i < nodes.count; i++)
        if (a->v[nodes.v[i].state].accepts)
            (void)sphinx.fsg_model_null_trans_add(g, i, nodes.count, 0);
    free(nodes.v);
    free(nodes.at);
    free(a->v);
    return g;
}

static fsg_model_t *grammar_any(struct spoken_model *m)
{
    struct automaton a = automaton_new(2);
    for (int digit = 0; digit < 10; digit++)
        a.v[0].next[digit] = a.v[1].next[digit] = 1;
    a.v[1].accepts = true;
    return grammar_new(m, &a);
}

static fsg_model_t *grammar_of_length(struct spoken_model *m, size_t length)
{
    struct automaton a = automaton_new(length + 1);
    for (int i = 0; i < (int)length; i++)
        for (int digit = 0; digit < 10; digit++)
            a.v[i].next[digit] = i + 1;
    a.v[length].accepts = true;
    return grammar_new(m, &a);
}

static fsg_model_t *grammar_of_codes(struct spoken_model *m, const char *const *codes, size_t n)
{
    size_t states = 1;
    for (size_t i = 0; i < n; i++)
        states += strlen(codes[i]);
    struct automaton a = automaton_new(states);
    int used = 1;
    for (size_t i = 0; i < n; i++) {
        int at = 0;
        for (const char *p = codes[i]; *p; p++) {
            int *next = &a.v[at].next[*p - '0'];
            if (*next < 0)
                *next = used++;
            at = *next;
        }
        a.v[at].accepts = true;
    }
    return grammar_new(m, &a);
}

/* State i: the first i digits equal the code's. State n + i: i digits, of which one is another. */
static fsg_model_t *grammar_other_than(struct spoken_model *m, const char *code)
{
    const int n = (int)strlen(code);
    struct automaton a = automaton_new(2 * (size_t)n + 1);
    for (int i = 0; i < n; i++)
        for (int digit = 0; digit < 10; digit++) {
            a.v[i].next[digit] = digit == code[i] - '0' ? i + 1 : n + i + 1;
            a.v[n + i].next[digit] = i ? n + i + 1 : a.v[n + i].next[digit];
        }
    a.v[2 * n].accepts = true;
    return grammar_new(m, &a);
}

/* ---- scores ---- */

static int word_at(const char *p)
{
    for (int i = 0; i < WORDS_MAX; i++) {
        size_t n = strlen(words[i].text);
        if (!strncmp(p, words[i].text, n) && (p[n] == ' ' || !p[n]))
            return i;
    }
    return -1;
}

static void read_path(struct spoken_model *m, struct spoken_path *ret)
{
    int32_t score;
    const char *text = sphinx.ps_get_hyp(m->ps, &score);
    const int frames = sphinx.ps_get_n_frames(m->ps);
    if (!text || frames <= 0)
        return;
    ret->found = true;
    ret->score = (double)score / frames;
    size_t n = 0;
    for (const char *p = text; *p; p += strcspn(p, " "), p += *p == ' ') {
        const int word = word_at(p);
        if (word >= 0 && n < SPOKEN_DIGITS_MAX)
            ret->digits[n++] = words[word].digit;
    }
}

static struct spoken_path best_path(struct spoken_model *m, const char *search)
{
    struct spoken_path path = {0};
    /* A new stream: the estimate of the noise starts from nothing, so that a score does not depend on what came before.
     */
    if (!m->n || clock_monotonic_us() > m->until_us || sphinx.ps_set_search(m->ps, search) ||
        sphinx.ps_start_stream(m->ps) || sphinx.ps_start_utt(m->ps))
        return path;
    const bool processed = sphinx.ps_process_raw(m->ps, m->samples, m->n, false, true) >= 0;
    if (!sphinx.ps_end_utt(m->ps) && processed)
        read_path(m, &path);
    return path;
}

/* Keeps the grammar for later under the name `search`. */
static bool keep(struct spoken_model *m, const char *search, fsg_model_t *g)
{
    const bool kept = !sphinx.ps_set_fsg(m->ps, search, g);
    sphinx.fsg_model_free(g);
    return kept;
}

static const char *const of_length[] = {"", "1", "2", "3", "4"};

static bool keep_constant(struct spoken_model *m)
{
    bool kept = keep(m, "any", grammar_any(m));
    for (size_t n = 1; n <= SPOKEN_LENGTH_MAX; n++)
        kept = kept && keep(m, of_length[n], grammar_of_length(m, n));
    return kept;
}

struct spoken_path spoken_any(struct spoken_model *m)
{
    return best_path(m, "any");
}

struct spoken_path spoken_of_length(struct spoken_model *m, size_t length)
{
    return best_path(m, of_length[length]);
}

static struct spoken_path decode_once(struct spoken_model *m, fsg_model_t *g)
{
    return keep(m, "once", g) ? best_path(m, "once") : (struct spoken_path){0};
}

struct spoken_path spoken_of_codes(struct spoken_model *m, const char *const *codes, size_t n)
{
    return decode_once(m, grammar_of_codes(m, codes, n));
}

struct spoken_path spoken_other_than(struct spoken_model *m, const char *code)
{
    return decode_once(m, grammar_other_than(m, code));
}

/* ---- life ---- */

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static enum err loaded;

static void load(void)
{
    loaded = LIBRARY_LOAD(RECOGNIZER, sphinx);
    if (!loaded)
        sphinx.err_set_logfp(NULL);
}

enum err spoken_model_new(enum spoken_kind kind, const char *directory, struct spoken_model **ret)
{
    if (pthread_once(&load_once, load) || loaded)
        return ERR_NOT_FOUND;
    cmd_ln_t *config = options(kind, directory);
    if (!config)
        return ERR_INTERNAL_ERROR;
    struct spoken_model *m = mem_new(struct spoken_model);
    m->kind = kind;
    m->ps = sphinx.ps_init(config);
    sphinx.cmd_ln_free_r(config);
    if (!m->ps || !add_words(m) || !keep_constant(m)) {
        spoken_model_free(m);
        return ERR_NOT_FOUND;
    }
    *ret = m;
    return ERR_NONE;
}

void spoken_model_free(struct spoken_model *m)
{
    if (!m)
        return;
    spoken_model_forget(m);
    if (m->ps)
        sphinx.ps_free(m->ps);
    free(m);
}
