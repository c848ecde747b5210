/* The options that `buzz` and `phone` share. */
#pragma once
#include "cli/program.h"
#include "handset/handset.h"

/* Rows for a struct handset_options in `member`; --timeout, in seconds, goes into `timeout_s`. */
#define HANDSET_ROWS(ctype, member)                                                                                    \
    OPTION_TEXT(ctype, member.digits, "digits", "1234",                                                                \
                "keys to press after the greeting; a comma waits for the next greeting"),                              \
        OPTION_SWITCH(ctype, member.inband, "inband", "send keys as tones in the audio, not as RFC 4733 events"),      \
        OPTION_SWITCH(ctype, member.info, "info", "send keys as SIP INFO"),                                            \
        OPTION_TEXT(ctype, member.wav, "wav", "FILE", "play this file: PCM, 16 bits, mono, 8 kHz"),                    \
        OPTION_NUMBER(ctype, member.delay_ms, "delay", "MS", 0, 600000,                                                \
                      "delay from the answer to the first key [until the greeting has ended]"),                        \
        OPTION_NUMBER(ctype, member.wait_ms, "wait", "MS", 1, 600000,                                                  \
                      "longest wait of a comma for a greeting to begin [1000]"),                                       \
        OPTION_NUMBER(ctype, member.tone_ms, "tone", "MS", 20, 5000, "length of a key [100]"),                         \
        OPTION_NUMBER(ctype, member.gap_ms, "gap", "MS", 20, 5000, "silence between keys [100]"),                      \
        OPTION_NUMBER(ctype, timeout_s, "timeout", "S", 1, 3600,                                                       \
                      "maximum duration, from the first message to the end [60]"),                                     \
        OPTION_SWITCH(ctype, member.json, "json", "print one JSON object per line")

/* The first error in these options, or NULL. */
const char *handset_find_error(const struct handset_options *o);
