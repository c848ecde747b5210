#include "base/schema_text.h"

#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

#define EMAIL_MAX 254
#define LOCAL_MAX 64
#define LABEL_MAX 63

size_t text_code_points(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

size_t text_utf16_units(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        n += (size_t)((c & 0xc0) != 0x80) + (size_t)(c >= 0xf0); /* a 4-byte character is a surrogate pair */
    }
    return n;
}

/* The length of the white space that the text begins with; 0 if it begins with another character. */
static size_t leading_space(struct str s)
{
    uint32_t c;
    const size_t n = utf8_read(s.p, s.n, &c);
    return n && utf8_is_space(c) ? n : 0;
}

static struct str last_character(struct str s)
{
    size_t at = s.n - 1;
    while (at && ((unsigned char)s.p[at] & 0xc0) == 0x80)
        at--;
    return str_from(s, at);
}

struct str text_trim(struct str s)
{
    for (size_t n; (n = leading_space(s));)
        s = str_from(s, n);
    while (s.n && leading_space(last_character(s)))
        s.n -= last_character(s).n;
    return s;
}

struct str text_start(struct str s, size_t most)
{
    if (s.n <= most)
        return s;
    while (most && ((unsigned char)s.p[most] & 0xc0) == 0x80)
        most--;
    return str_n(s.p, most);
}

/* ---- e-mail ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_atom(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && !(s.p[i] && strchr("!#$%&'*+-/=?^_`{|}~", s.p[i])))
            return false;
    return s.n > 0;
}

static bool is_label(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && s.p[i] != '-')
            return false;
    return s.n > 0 && s.n <= LABEL_MAX && s.p[0] != '-' && s.p[s.n - 1] != '-';
}

static bool has_only_digits(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_digit(s.p[i]))
            return false;
    return true;
}

/* Splits s at its dots; every part must be as `part` says. Returns the number of parts, 0 if one is not; the last part
 * is left in *ret_last. */
static size_t count_parts(struct str s, bool (*part)(struct str), struct str *ret_last)
{
    size_t n = 0;
    while (s.p) {
        *ret_last = str_cut(s, '.', &s);
        if (!part(*ret_last))
            return 0;
        n++;
    }
    return n;
}

bool text_is_email(struct str s)
{
    struct str domain, last;
    if (s.n > EMAIL_MAX)
        return false;
    struct str local = str_cut(s, '@', &domain);
    return domain.p && local.n <= LOCAL_MAX && count_parts(local, is_atom, &last) >= 1 &&
           count_parts(domain, is_label, &last) >= 2 && !has_only_digits(last);
}

/* ---- patterns ---- */

struct pattern {
    struct pattern *next;
    const char *text;
    regex_t compiled;
};

/* Append-only, one entry per pattern of the program, so that readers need no lock. */
static struct pattern *_Atomic patterns;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static const struct pattern *find_pattern(const char *text)
{
    const struct pattern *p = atomic_load_explicit(&patterns, memory_order_acquire);
    while (p && p->text != text)
        p = p->next;
    return p;
}

static const struct pattern *add_pattern(const char *text)
{
    pthread_mutex_lock(&adding);
    const struct pattern *found = find_pattern(text);
    if (!found) {
        struct pattern *p = mem_new(struct pattern);
        if (regcomp(&p->compiled, text, REG_EXTENDED | REG_NOSUB) != 0)
            abort();
        p->text = text;
        p->next = atomic_load_explicit(&patterns, memory_order_relaxed);
        atomic_store_explicit(&patterns, p, memory_order_release);
        found = p;
    }
    pthread_mutex_unlock(&adding);
    return found;
}

bool text_matches(const char *pattern, struct str s)
{
    const struct pattern *p = find_pattern(pattern);
    if (!p)
        p = add_pattern(pattern);
    return regexec(&p->compiled, s.p, 0, NULL, 0) == 0;
}
