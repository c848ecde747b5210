/* The texts that most services say as they are, rendered when the program was built: the defaults of the greetings, and
 * the other prompts (tbl/prompts.def). So a service speaks from its first call on, and renders nothing at its start. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct rendered {
    const char *text;
    const uint8_t *ulaw; /* 8 kHz, as of struct clip */
    uint32_t length;     /* samples */
};

/* src/clips.c writes them. The last one has no text. */
extern const struct rendered clips[];
