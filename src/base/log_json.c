#include "base/log_json.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

#define KEYS_MAX   40
#define KEY_MAX    32
#define CLOSE_ROOM 8  /* for `"}` and the end of the line */
#define DIGITS_MAX 15 /* every reader of JSON represents such a number exactly */

/* Keys whose value is always a number. The type of a key is the same in every record. */
static const char *const numbers[] = {"ahead_ms",      "attempt",  "attempts",    "bytes",   "closings", "count",
                                      "deliveries",    "dropped",  "duration_ms", "errno",   "events",   "infos",
                                      "jobs",          "keys",     "minutes",     "spoken",  "status",   "tones",
                                      "tone_fallback", "unlogged", "waiting",     "workers", "wrong"};

struct out {
    char *p;
    size_t n, most;
};

struct keys {
    struct str seen[KEYS_MAX];
    size_t n;
};

/* ---- writing ---- */

static void out_put(struct out *o, const char *p, size_t n)
{
    if (n)
        memcpy(o->p + o->n, p, n);
    o->n += n;
}

/* One character of the value at p, escaped. Returns the number of its bytes. */
static size_t escape(const char *p, size_t left, char ret[static 8])
{
    uint32_t c;
    const size_t n = utf8_read(p, left, &c);
    if (!n) {
        memcpy(ret, "\\ufffd", sizeof "\\ufffd");
        return 1;
    }
    if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
        snprintf(ret, 8, "\\u%04x", (unsigned)c);
    } else if (c == '"' || c == '\\') {
        snprintf(ret, 8, "\\%c", (char)c);
    } else {
        memcpy(ret, p, n);
        ret[n] = '\0';
    }
    return n;
}

static void out_string(struct out *o, struct str s)
{
    out_put(o, "\"", 1);
    while (s.n) {
        char text[8];
        const size_t used = escape(s.p, s.n, text), n = strlen(text);
        if (o->n + n + CLOSE_ROOM > o->most)
            break;
        out_put(o, text, n);
        s = str_from(s, used);
    }
    out_put(o, "\"", 1);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_number_value(struct str s)
{
    if (s.n && *s.p == '-')
        s = str_from(s, 1);
    if (s.n == 0 || s.n > DIGITS_MAX || (*s.p == '0' && s.n > 1))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_digit(s.p[i]))
            return false;
    return true;
}

static bool is_number_key(struct str key)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (str_eq(key, str_z(numbers[i])))
            return true;
    return false;
}

static void out_member(struct out *o, struct str key, struct str value)
{
    if (o->n + key.n + DIGITS_MAX + 2 * CLOSE_ROOM > o->most)
        return;
    if (o->n > 1)
        out_put(o, ",", 1);
    out_string(o, key);
    out_put(o, ":", 1);
    if (is_number_key(key) && is_number_value(value))
        out_put(o, value.p, value.n);
    else
        out_string(o, value);
}

/* ---- reading ---- */

/* The key at the beginning of s, which `=` follows; STR_NONE if there is none. */
static struct str leading_key(struct str s)
{
    size_t n = 0;
    while (n < s.n && n < KEY_MAX && ((s.p[n] >= 'a' && s.p[n] <= 'z') || s.p[n] == '_' || (n && is_digit(s.p[n]))))
        n++;
    return n && n < s.n && s.p[n] == '=' ? str_n(s.p, n) : STR_NONE;
}

/* The same, if the key is new. */
static struct str new_key_at(struct str s, const struct keys *keys)
{
    const struct str key = leading_key(s);
    for (size_t i = 0; key.p && i < keys->n; i++)
        if (str_eq(keys->seen[i], key))
            return STR_NONE;
    return keys->n < KEYS_MAX ? key : STR_NONE;
}

/* The text before the next ` key=`. A quoted text ends with its quote. */
static struct str take_text(struct str *rest, const struct keys *keys)
{
    const bool quoted = rest->n && *rest->p == '"';
    for (size_t i = 0; i < rest->n; i++) {
        if (rest->p[i] != ' ' || !new_key_at(str_from(*rest, i + 1), keys).p)
            continue;
        if (quoted && (i < 2 || rest->p[i - 1] != '"'))
            continue;
        const struct str text = str_n(rest->p, i);
        *rest = str_from(*rest, i + 1);
        return text;
    }
    const struct str text = *rest;
    *rest = str_from(*rest, rest->n);
    return text;
}

static struct str unquoted(struct str s)
{
    return s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"' ? str_n(s.p + 1, s.n - 2) : s;
}

static struct str without_comma(struct str s)
{
    return s.n && s.p[s.n - 1] == ',' ? str_n(s.p, s.n - 1) : s;
}

size_t log_json(char *ret, size_t size, const char *time, const char *level, const char *message)
{
    struct out o = {.p = ret, .n = 1, .most = size};
    struct str rest = str_z(message);
    struct keys keys = {.seen = {STR("time"), STR("level"), STR("message")}, .n = 3};
    assert(size >= 256);
    *ret = '{';
    if (time)
        out_member(&o, STR("time"), str_z(time));
    out_member(&o, STR("level"), str_z(level));
    out_member(&o, STR("message"), new_key_at(rest, &keys).p ? STR("") : without_comma(take_text(&rest, &keys)));
    for (struct str key; rest.n && (key = new_key_at(rest, &keys)).p;) {
        keys.seen[keys.n++] = key;
        rest = str_from(rest, key.n + 1);
        out_member(&o, key, unquoted(take_text(&rest, &keys)));
    }
    out_put(&o, "}\n", 2);
    return o.n;
}
