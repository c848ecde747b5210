/* A string slice: pointer and length, not NUL-terminated, not owned.
 * p == NULL means no string, which differs from the empty string. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_NONE     ((struct str){NULL, 0})
/* The arguments of printf's "%.*s". */
#define STR_ARG(s) (int)(s).n, ((s).p ? (s).p : "")

static inline struct str str_z(const char *z)
{
    return z ? (struct str){z, strlen(z)} : STR_NONE;
}

static inline struct str str_n(const char *p, size_t n)
{
    return (struct str){p, n};
}

/* Bytes that are not text. */
static inline struct str str_bytes(const void *p, size_t n)
{
    return (struct str){p, n};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* ASCII case-insensitive. */
static inline bool str_eqi(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}

static inline bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline struct str str_from(struct str s, size_t at)
{
    return at <= s.n ? (struct str){s.p + at, s.n - at} : (struct str){s.p + s.n, 0};
}

/* Removes spaces and tabs (HTTP's OWS) at both ends. */
static inline struct str str_trim(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s.p++, s.n--;
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

/* Splits s at the first c: returns the part before c and sets *rest to the part after it. Without c returns s and sets
 * *rest to STR_NONE. */
static inline struct str str_cut(struct str s, char c, struct str *rest)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
    if (!at) {
        *rest = STR_NONE;
        return s;
    }
    *rest = (struct str){at + 1, s.n - (size_t)(at - s.p) - 1};
    return (struct str){s.p, (size_t)(at - s.p)};
}

/* Parses decimal digits as an integer of at most `max`; false otherwise (sign, blank, overflow). */
bool str_to_u64(struct str s, uint64_t max, uint64_t *ret);

/* Whether s is 24 hexadecimal characters, the form of every ID (contract, Resources). */
bool str_is_id(struct str s);
/* The index of s in the NULL-terminated names, or -1. */
int str_index(struct str s, const char *const *names);
