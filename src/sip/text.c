#include "sip/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <re/re.h>
#include <string.h>

/* ---- SIP ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool take_token(struct str *line)
{
    size_t n = 0;
    while (n < line->n && !is_space(line->p[n]))
        n++;
    const bool taken = n && n < line->n && line->p[n] == ' ';
    *line = str_from(*line, taken ? n + 1 : 0);
    return taken;
}

/* "METHOD URI SIP/2.0" or "SIP/2.0 STATUS REASON". With another line libre looks for one further on. */
static bool is_start_line(struct str line)
{
    const bool first = take_token(&line);
    return first && take_token(&line);
}

/* The next header with its continuation lines; empty after the last. As libre does it, LF ends a line and CR is a
 * space. */
static struct str next_header(struct str *rest)
{
    size_t n = 0;
    for (bool more = true; more && n < rest->n;) {
        const char *end = memchr(rest->p + n, '\n', rest->n - n);
        n = end ? (size_t)(end - rest->p) + 1 : rest->n;
        size_t next = n;
        while (next < rest->n && rest->p[next] == '\r')
            next++;
        more = next < rest->n && (rest->p[next] == ' ' || rest->p[next] == '\t');
    }
    const struct str header = str_n(rest->p, n);
    *rest = str_from(*rest, n);
    return header;
}

static struct str without_spaces(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = str_from(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

/* libre knows a header by 12 bits of a hash, so that other names count as CSeq as well. */
static bool header_fits(struct str header)
{
    struct str value;
    const struct str name = without_spaces(str_cut(header, ':', &value));
    const bool is_cseq = (hash_joaat_ci(name.p, name.n) & 0xfff) == SIP_HDR_CSEQ;
    return header.n <= (is_cseq ? SIP_CSEQ_MAX : SIP_HEADER_MAX);
}

enum sip_text sip_text_check(struct str message)
{
    struct str rest, start = str_cut(message, '\n', &rest);
    const bool complete = start.n < message.n;
    if (start.n > SIP_HEADER_MAX || (complete && !is_start_line(start)))
        return SIP_TEXT_REFUSED;
    for (int i = 0; rest.n; i++) {
        const struct str header = next_header(&rest);
        if (!without_spaces(header).n && header.p[header.n - 1] == '\n')
            return SIP_TEXT_COMPLETE;
        if (!header_fits(header) || i == SIP_HEADERS_MAX)
            return SIP_TEXT_REFUSED;
    }
    return SIP_TEXT_PART;
}

/* ---- libre ---- */

typedef int decode_h(struct sip_msg **msgp, struct mbuf *mb);

static decode_h *libre_decode(void)
{
    decode_h *found;
    void *symbol = dlsym(RTLD_NEXT, "sip_msg_decode");
    memcpy(&found, &symbol, sizeof found);
    return found;
}

__attribute__((visibility("default"))) int sip_msg_decode(struct sip_msg **msgp, struct mbuf *mb)
{
    static decode_h *_Atomic decode;
    const enum sip_text text = sip_text_check(str_n((const char *)mbuf_buf(mb), mbuf_get_left(mb)));
    if (text != SIP_TEXT_COMPLETE)
        return text == SIP_TEXT_PART ? ENODATA : EBADMSG;
    if (!decode)
        decode = libre_decode();
    return decode ? decode(msgp, mb) : ENOSYS;
}
