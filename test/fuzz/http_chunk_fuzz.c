/* The chunked coding: any division of the bytes gives the same body, within its limit. */
#include <stdlib.h>

#include "base/buf.h"
#include "http/chunk.h"

#define LIMIT 4096

struct result {
    enum http_chunk_step last;
    struct buf body;
    size_t rest;
};

static struct result decode(struct str in, size_t piece)
{
    struct http_chunk c = HTTP_CHUNK(LIMIT);
    struct result r = {.last = HTTP_CHUNK_MORE, .body = BUF(LIMIT + 1)};
    while (in.n && r.last == HTTP_CHUNK_MORE) {
        struct str part = str_n(in.p, piece < in.n ? piece : in.n), data;
        in = str_from(in, part.n);
        while ((r.last = http_chunk_next(&c, &part, &data)) == HTTP_CHUNK_DATA)
            buf_str(&r.body, data);
        r.rest = part.n + in.n;
    }
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t piece = data[0] % 16 + 1u;
    struct str in = {(const char *)data + 1, size - 1};
    struct result whole = decode(in, in.n + 1), cut = decode(in, piece);
    if (whole.last != cut.last || whole.rest != cut.rest || !str_eq(buf_view(&whole.body), buf_view(&cut.body)) ||
        whole.body.n > LIMIT)
        abort();
    buf_done(&whole.body);
    buf_done(&cut.body);
    return 0;
}
