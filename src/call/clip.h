/* A recording that calls play: 8 kHz mu-law, mono, never changed. Shared by references of one thread. */
#pragma once
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "call/sound.h"

struct clip {
    unsigned references; /* of the thread that plays it */
    uint32_t length;     /* samples */
    uint8_t ulaw[];
};

/* One reference; the caller fills ulaw. */
static inline struct clip *clip_new(uint32_t length)
{
    struct clip *c = mem_new_with(struct clip, length);
    c->references = 1;
    c->length = length;
    return c;
}

/* Adds a reference; NULL for NULL. */
static inline struct clip *clip_ref(struct clip *c)
{
    if (c)
        c->references++;
    return c;
}

/* Returns NULL. */
static inline struct clip *clip_unref(struct clip *c)
{
    if (c && --c->references == 0)
        free(c);
    return NULL;
}

static inline struct sound clip_sound(const struct clip *c)
{
    return (struct sound){.ulaw = c->ulaw, .length = c->length};
}
