#include "privacy/person_text.h"

#include <glib.h>
#include <string.h>

#include "base/buf.h"

#define DIGITS_MIN 7
#define DIGITS_MAX 15
#define TEXT_MAX   (1U << 20)

static size_t digits_at(struct str s, size_t at)
{
    size_t n = 0;
    while (at + n < s.n && g_ascii_isdigit(s.p[at + n]))
        n++;
    return n;
}

bool person_word(struct str given, struct arena *a, struct str *ret)
{
    if (memchr(given.p, '@', given.n)) {
        char *lower = g_ascii_strdown(given.p, (gssize)given.n);
        *ret = arena_str(a, str_z(lower));
        g_free(lower);
        return given.n > 2 && !memchr(given.p, ' ', given.n);
    }
    *ret = str_from(given, 1);
    return given.n > DIGITS_MIN && given.p[0] == '+' && given.n <= DIGITS_MAX + 1 && digits_at(given, 1) == given.n - 1;
}

static bool is_part(struct str s, size_t at, const char *more)
{
    return at < s.n && (g_ascii_isalnum(s.p[at]) || (s.p[at] && strchr(more, s.p[at])));
}

/* An address may end a sentence: a point is a part of a longer one only before a letter. */
static bool goes_on(struct str text, size_t end, bool address)
{
    if (!address)
        return is_part(text, end, "");
    return is_part(text, end, "@_-") || (end < text.n && text.p[end] == '.' && is_part(text, end + 1, ""));
}

/* The next occurrence from *at on, with the + of a number; false: there is none. */
static bool next_named(struct str text, struct str word, size_t *at, size_t *ret_n)
{
    const bool address = memchr(word.p, '@', word.n) != NULL;
    for (size_t i = *at; word.n && i + word.n <= text.n; i++) {
        if (g_ascii_strncasecmp(text.p + i, word.p, word.n) != 0 || goes_on(text, i + word.n, address))
            continue;
        const size_t begin = !address && i > *at && text.p[i - 1] == '+' ? i - 1 : i;
        if (begin > 0 && is_part(text, begin - 1, address ? "._-+@" : ""))
            continue;
        *at = begin;
        *ret_n = i - begin + word.n;
        return true;
    }
    return false;
}

bool person_named(struct str text, struct str word)
{
    size_t at = 0, n;
    return text.p && next_named(text, word, &at, &n);
}

static bool is_char(struct str s, size_t at, char c)
{
    return at < s.n && s.p[at] == c;
}

struct str person_erase(struct str text, struct str word, enum person_manner manner, struct arena *a)
{
    struct buf b = BUF(TEXT_MAX);
    size_t from = 0, n = 0;
    if (!person_named(text, word))
        return text;
    if (manner == PERSON_BLANK)
        return STR_NONE;
    if (manner == PERSON_EMPTY)
        return STR("");
    if (manner == PERSON_WHOLE)
        return STR(PERSON_ERASED);
    for (size_t at = 0; next_named(text, word, &at, &n); from = at) {
        const bool string = manner == PERSON_IN_JSON && at > 0 && text.p[at - 1] == '"' && is_char(text, at + n, '"');
        buf_put(&b, text.p + from, at - from - string);
        if (manner != PERSON_LISTED)
            buf_str(&b, string ? STR("null") : STR(PERSON_ERASED));
        at += n + (string || (manner == PERSON_LISTED && is_char(text, at + n, ' ')));
    }
    buf_put(&b, text.p + from, text.n - from);
    struct str left = buf_view(&b);
    if (manner == PERSON_LISTED)
        left = str_trim(left);
    left = arena_str(a, left);
    buf_done(&b);
    return left;
}
