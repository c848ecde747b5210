/* The chunked transfer coding (RFC 9112 section 7.1), decoded strictly as bytes arrive. No I/O.
 *
 * Chunk extensions and trailer fields are checked for their form, bounded, and dropped. */
#pragma once
#include "base/str.h"

enum http_chunk_step {
    HTTP_CHUNK_MORE,  /* all input is consumed */
    HTTP_CHUNK_DATA,  /* *ret_data is a piece of the body */
    HTTP_CHUNK_END,   /* the body is complete; the rest of the input follows it */
    HTTP_CHUNK_LARGE, /* the announced chunk would make the body longer than `max` */
    HTTP_CHUNK_BAD
};

struct http_chunk {
    unsigned state;
    unsigned digits; /* of the size being read */
    uint64_t left;   /* of the chunk being read */
    uint64_t total;  /* announced so far */
    uint64_t max;    /* bytes of body allowed */
    size_t overhead; /* bytes of extensions and trailers */
};

#define HTTP_CHUNK(limit) ((struct http_chunk){.max = (limit)})

/* Consumes bytes from the front of *in. Must be called again as long as it returns HTTP_CHUNK_DATA. */
enum http_chunk_step http_chunk_next(struct http_chunk *c, struct str *in, struct str *ret_data);
