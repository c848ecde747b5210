/* The part of libpocketsphinx.so.3 and libsphinxbase.so.3 that spoken_model.c uses. The libraries are loaded at run
 * time, and their headers would bring 28 packages to each build: X11, PulseAudio, linear algebra, Python's parts. The
 * unit test foreign_abi_test compares these declarations with the headers. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct arg_s arg_t;
typedef struct cmd_ln_s cmd_ln_t;
typedef struct logmath_s logmath_t;
typedef struct ps_decoder_s ps_decoder_t;
typedef struct fsg_model_s fsg_model_t;

/* How a fsg_model_t begins. */
struct sphinx_grammar {
    int refcount;
    char *name;
    int32_t n_word;
    int32_t n_word_alloc;
    char **vocab;
    void *silwords;
    void *altwords;
    logmath_t *lmath;
    int32_t n_state;
    int32_t start_state;
    int32_t final_state;
};

void err_set_logfp(FILE *stream);
cmd_ln_t *cmd_ln_init(cmd_ln_t *inout, arg_t const *definitions, int32_t strict, ...);
int cmd_ln_free_r(cmd_ln_t *config);
arg_t const *ps_args(void);
ps_decoder_t *ps_init(cmd_ln_t *config);
int ps_free(ps_decoder_t *ps);
int ps_add_word(ps_decoder_t *ps, char const *word, char const *phones, int update);
logmath_t *ps_get_logmath(ps_decoder_t *ps);
int ps_set_fsg(ps_decoder_t *ps, const char *name, fsg_model_t *grammar);
int ps_set_search(ps_decoder_t *ps, const char *name);
int ps_start_stream(ps_decoder_t *ps);
int ps_start_utt(ps_decoder_t *ps);
int ps_process_raw(ps_decoder_t *ps, int16_t const *samples, size_t n, int no_search, int full_utt);
int ps_end_utt(ps_decoder_t *ps);
char const *ps_get_hyp(ps_decoder_t *ps, int32_t *ret_score);
int ps_get_n_frames(ps_decoder_t *ps);
fsg_model_t *fsg_model_init(char const *name, logmath_t *logmath, float weight, int32_t states);
int fsg_model_free(fsg_model_t *grammar);
int fsg_model_word_add(fsg_model_t *grammar, char const *word);
void fsg_model_trans_add(fsg_model_t *grammar, int32_t from, int32_t to, int32_t logp, int32_t word);
int32_t fsg_model_null_trans_add(fsg_model_t *grammar, int32_t from, int32_t to, int32_t logp);
