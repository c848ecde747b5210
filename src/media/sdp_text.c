#include "media/sdp_text.h"

#include <errno.h>

bool sdp_text_fits(struct str sdp)
{
    bool fits = sdp.n <= SDP_MAX;
    for (struct str rest = sdp; fits && rest.n;)
        fits = str_cut(rest, '\n', &rest).n <= SDP_LINE_MAX;
    return fits;
}

static int write_str(struct mbuf *mb, struct str s)
{
    return mbuf_write_mem(mb, (const uint8_t *)s.p, s.n);
}

static int write_media(struct mbuf *mb, struct str line)
{
    int e = 0;
    for (unsigned words = 0; line.n && !e;) {
        struct str word = str_cut(line, ' ', &line);
        if (!word.n)
            continue;
        if (++words == 2 && word.n > 2 && memcmp(word.p + word.n - 2, "/1", 2) == 0)
            word.n -= 2;
        e = words > 1 ? mbuf_write_u8(mb, ' ') : 0;
        if (!e)
            e = write_str(mb, word);
    }
    return e;
}

struct mbuf *sdp_text_copy(struct str sdp)
{
    struct mbuf *copy = sdp_text_fits(sdp) ? mbuf_alloc(sdp.n + 2) : NULL;
    int e = copy ? 0 : ENOMEM;
    while (sdp.n && sdp.p[sdp.n - 1] == '\0')
        sdp.n--;
    while (sdp.n && !e) {
        struct str line = str_cut(sdp, '\n', &sdp);
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        e = str_starts(line, STR("m=")) ? write_media(copy, line) : write_str(copy, line);
        if (!e)
            e = write_str(copy, STR("\r\n"));
    }
    if (e)
        return mem_deref(copy);
    copy->pos = 0;
    return copy;
}
