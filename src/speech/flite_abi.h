/* The part of libflite.so.1 and its voice rms that synth.c uses. The libraries are loaded at run time, and the package
 * of their headers brings 30 MB of static libraries. The unit test foreign_abi_test compares these declarations with
 * the headers. */
#pragma once
#include <setjmp.h>

typedef struct cst_wave_struct cst_wave;
typedef struct cst_voice_struct cst_voice;
typedef struct cst_val_struct cst_val;
typedef struct cst_features_struct cst_features;
typedef struct cst_audio_streaming_info_struct cst_audio_streaming_info;

/* How a cst_wave begins. */
struct flite_wave {
    const char *type;
    int sample_rate;
    int num_samples;
    int num_channels;
    short *samples;
};

/* How a cst_voice begins. */
struct flite_voice {
    const char *name;
    cst_features *features;
};

/* How a cst_audio_streaming_info begins. asc() returns one of the two below. */
struct flite_stream {
    int min_buffsize;
    int (*asc)(const cst_wave *w, int start, int size, int last, cst_audio_streaming_info *info);
};
enum {
    FLITE_STREAM_STOP = -1,
    FLITE_STREAM_CONT = 0,
};

extern jmp_buf *cst_errjmp;

int flite_init(void);
cst_wave *flite_text_to_wave(const char *text, cst_voice *voice);
void delete_wave(cst_wave *wave);
cst_audio_streaming_info *new_audio_streaming_info(void);
cst_val *audio_streaming_info_val(const cst_audio_streaming_info *info);
void feat_set(cst_features *features, const char *name, const cst_val *value);
cst_voice *register_cmu_us_rms(const char *directory); /* of the voice's library, which has no header */
