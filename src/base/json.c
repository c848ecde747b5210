#include "base/json.h"

#include "base/clock.h"

/* Whether no more than JSON_MAX_DEPTH containers are ever open at once. Counted before parsing, because jansson's own
 * limit is fixed at 2048. Text that is not JSON may pass: the parser refuses it. */
static bool shallow(struct str text)
{
    unsigned depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (quoted) {
            if (c == '\\')
                i++;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            if (++depth > JSON_MAX_DEPTH)
                return false;
        } else if ((c == ']' || c == '}') && depth) {
            depth--;
        }
    }
    return true;
}

/* ---- numbers ---- */

#define EXACT_BELOW 9007199254740992.0 /* 2^53: above it, doubles skip integers */

/* A real without a fraction as a new integer; NULL if it has, or may have had, a fraction. */
static json_t *whole(const json_t *value)
{
    const double d = json_real_value(value);
    if (!json_is_real(value) || !(d > -EXACT_BELOW && d < EXACT_BELOW) || (double)(json_int_t)d != d)
        return NULL;
    return json_integer((json_int_t)d);
}

/* Replaces 5.0 and 5e0 by 5, recursively, up to JSON_MAX_DEPTH. */
static void unify_numbers(json_t *value)
{
    json_t *item, *integer;
    size_t i;
    json_array_foreach (value, i, item) {
        if ((integer = whole(item)))
            json_array_set_new(value, i, integer);
        else
            unify_numbers(item);
    }
    for (void *at = json_object_iter(value); at; at = json_object_iter_next(value, at)) {
        item = json_object_iter_value(at);
        if ((integer = whole(item)))
            json_object_iter_set_new(value, at, integer);
        else
            unify_numbers(item);
    }
}

enum err json_read(struct str text, json_t **ret)
{
    /* jansson overlooks a NUL after a number. */
    if (text.n == 0 || memchr(text.p, '\0', text.n) || !shallow(text))
        return ERR_INVALID_JSON;
    json_t *value = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    if (!value)
        return ERR_INVALID_JSON;
    json_t *integer = whole(value);
    if (integer) {
        json_decref(value);
        value = integer;
    } else {
        unify_numbers(value);
    }
    *ret = value;
    return ERR_NONE;
}

static void release(void *value)
{
    json_decref(value);
}

void json_keep(struct arena *a, json_t *value)
{
    arena_defer(a, release, value);
}

static int dump(const char *p, size_t n, void *out)
{
    buf_put(out, p, n);
    return 0;
}

void json_canonical(const json_t *value, struct buf *out)
{
    if (json_dump_callback(value, dump, out, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY) != 0)
        out->full = true;
}

/* ---- writing strings, a machine word at a time ---- */

#define WORD sizeof(uint64_t)

/* Whether a byte of the word must be escaped: below 0x20, a quote or a backslash. Bytes from 0x80 are UTF-8. */
static inline bool any_escape(const char *p)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t w;
    memcpy(&w, p, WORD);
    uint64_t quote = w ^ ones * '"', backslash = w ^ ones * '\\';
    return (((w - ones * 0x20) | (quote - ones) | (backslash - ones)) & ~w & tops) != 0;
}

static inline bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

/* Copies s up to the first byte that must be escaped; returns the number of bytes. */
static inline size_t copy_plain(char *to, struct str s)
{
    size_t i = 0;
    if (s.n >= WORD) {
        for (; s.n - i >= WORD && !any_escape(s.p + i); i += WORD)
            memcpy(to + i, s.p + i, WORD);
        if (s.n - i < WORD && !any_escape(s.p + s.n - WORD)) {
            memcpy(to + s.n - WORD, s.p + s.n - WORD, WORD);
            return s.n;
        }
    }
    for (; i < s.n && is_plain(s.p[i]); i++)
        to[i] = s.p[i];
    return i;
}

__attribute__((noinline)) static void put_escape(struct buf *b, char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char short_form[0x20] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    char letter = (unsigned char)c < 0x20 ? short_form[(unsigned char)c] : c;
    if (letter) {
        buf_put(b, (char[]){'\\', letter}, 2);
    } else {
        buf_put(b, (char[]){'\\', 'u', '0', '0', hex[(unsigned char)c >> 4], hex[c & 15]}, 6);
    }
}

void json_put_str(struct buf *b, struct str s)
{
    buf_char(b, '"');
    while (buf_reserve(b, s.n + 1)) {
        size_t plain = copy_plain(b->p + b->n, s);
        b->n += plain;
        if (plain == s.n) {
            b->p[b->n++] = '"';
            return;
        }
        if (s.p[plain] == '"' && buf_reserve(b, 2)) { /* by far the most frequent: JSON within a string */
            memcpy(b->p + b->n, "\\\"", 2);
            b->n += 2;
        } else {
            put_escape(b, s.p[plain]);
        }
        s = str_from(s, plain + 1);
    }
}

void json_put_time(struct buf *b, int64_t at_us)
{
    if (!buf_reserve(b, TIME_TEXT_MAX + 1))
        return;
    char *p = b->p + b->n;
    *p = '"';
    time_format(at_us, p + 1);
    p[TIME_TEXT_MAX] = '"';
    b->n += TIME_TEXT_MAX + 1;
}
