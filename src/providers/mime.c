#include "providers/mime.h"

#include <glib.h>
#include <time.h>

#include "base/clock.h"
#include "base/crypto.h"

#define LINE_LEN     998 /* RFC 5322 */
#define TEXT_MAX     4096
#define BOUNDARY_LEN 24
#define WORD_BYTES   45 /* of UTF-8 in one encoded word: 60 of base64 and 12 around them, below RFC 2047's 75 */

struct str mime_address(struct str mailbox)
{
    struct str rest, inner;
    str_cut(mailbox, '<', &rest);
    if (!rest.p)
        inner = str_trim(mailbox);
    else
        inner = str_cut(rest, '>', &(struct str){0});
    return inner.n && memchr(inner.p, '@', inner.n) ? inner : STR_NONE;
}

bool mime_clean(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return true;
}

static bool ascii(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] > 0x7e)
            return false;
    return true;
}

/* The length of the longest prefix of s of at most n bytes that does not split a character. */
static size_t cut_at(struct str s, size_t n)
{
    if (s.n <= n)
        return s.n;
    while (n > 1 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
        n--;
    return n;
}

struct str mime_text(struct arena *a, struct str s)
{
    if (ascii(s))
        return s;
    struct buf b = BUF(TEXT_MAX);
    while (s.n) {
        size_t n = cut_at(s, WORD_BYTES);
        gchar *word = g_base64_encode((const guchar *)s.p, n);
        buf_printf(&b, "%s=?UTF-8?B?%s?=", b.n ? "\r\n " : "", word);
        g_free(word);
        s = str_from(s, n);
    }
    struct str text = arena_str(a, buf_view(&b));
    buf_done(&b);
    return text;
}

/* RFC 5322's atext and blanks need no quotes. */
static bool plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!g_ascii_isalnum(s.p[i]) && (!s.p[i] || !strchr("!#$%&'*+-/=?^_`{|}~ ", s.p[i])))
            return false;
    return true;
}

static struct str quoted(struct arena *a, struct str s)
{
    struct buf b = BUF(TEXT_MAX);
    buf_char(&b, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"' || s.p[i] == '\\')
            buf_char(&b, '\\');
        buf_char(&b, s.p[i]);
    }
    buf_char(&b, '"');
    struct str text = arena_str(a, buf_view(&b));
    buf_done(&b);
    return text;
}

struct str mime_mailbox(struct arena *a, struct str mailbox)
{
    struct str address = mime_address(mailbox), rest;
    struct str name = str_trim(str_cut(mailbox, '<', &rest));
    if (!rest.p || !name.n)
        return address;
    if (name.n >= 2 && name.p[0] == '"' && name.p[name.n - 1] == '"')
        name = str_n(name.p + 1, name.n - 2);
    struct str text = !ascii(name) ? mime_text(a, name) : plain(name) ? name : quoted(a, name);
    return arena_printf(a, "%.*s <%.*s>", STR_ARG(text), STR_ARG(address));
}

struct str mime_date(struct arena *a, int64_t at_us)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t s = at_us / US_PER_S;
    struct tm tm;
    gmtime_r(&s, &tm);
    return arena_printf(a, "%.3s, %02d %.3s %d %02d:%02d:%02d +0000", days + 3 * tm.tm_wday, tm.tm_mday,
                        months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* Lines of a mail end in CR LF. */
static void put_crlf_lines(struct buf *b, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n' && (i == 0 || text.p[i - 1] != '\r'))
            buf_char(b, '\r');
        buf_char(b, text.p[i]);
    }
    if (!text.n || text.p[text.n - 1] != '\n')
        buf_lit(b, "\r\n");
}

static void put_base64_lines(struct buf *b, struct str text)
{
    gint state = 0, save = 0;
    gchar *out = g_malloc((text.n / 3 + 1) * 4 + 4 + ((text.n / 3 + 1) * 4 + 4) / 72 + 1);
    gsize n = g_base64_encode_step((const guchar *)text.p, text.n, TRUE, out, &state, &save);
    n += g_base64_encode_close(TRUE, out + n, &state, &save);
    put_crlf_lines(b, str_n(out, n));
    g_free(out);
}

static bool short_lines(struct str text)
{
    for (struct str rest = text; rest.p;)
        if (str_cut(rest, '\n', &rest).n > LINE_LEN)
            return false;
    return true;
}

void mime_put_body(struct buf *b, struct str text)
{
    bool as_is = ascii(text) && short_lines(text);
    buf_printf(b, "Content-Transfer-Encoding: %s\r\n\r\n", as_is ? "7bit" : "base64");
    if (as_is)
        put_crlf_lines(b, text);
    else
        put_base64_lines(b, text);
}

static void put_mime_part(struct buf *b, const char *boundary, const char *type, struct str text)
{
    buf_printf(b, "--%s\r\nContent-Type: %s; charset=utf-8\r\n", boundary, type);
    mime_put_body(b, text);
}

void mime_put_alternative(struct buf *b, struct str text, struct str html)
{
    char boundary[BOUNDARY_LEN + 1]; /* random, so that no body contains it */
    crypto_base62(boundary, BOUNDARY_LEN);
    buf_printf(b, "Content-Type: multipart/alternative; boundary=\"%s\"\r\n\r\n", boundary);
    put_mime_part(b, boundary, "text/plain", text);
    put_mime_part(b, boundary, "text/html", html); /* clients prefer the last part (RFC 2046 section 5.1.4) */
    buf_printf(b, "--%s--\r\n", boundary);
}

void mime_put_with_wav(struct buf *b, struct str text, struct str wav)
{
    char boundary[BOUNDARY_LEN + 1];
    crypto_base62(boundary, BOUNDARY_LEN);
    buf_printf(b, "Content-Type: multipart/mixed; boundary=\"%s\"\r\n\r\n", boundary);
    put_mime_part(b, boundary, "text/plain", text);
    buf_printf(b,
               "--%s\r\nContent-Type: audio/wav\r\nContent-Disposition: attachment; filename=\"message.wav\"\r\n"
               "Content-Transfer-Encoding: base64\r\n\r\n",
               boundary);
    put_base64_lines(b, wav);
    buf_printf(b, "--%s--\r\n", boundary);
}
