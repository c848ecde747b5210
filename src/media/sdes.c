#include "media/sdes.h"

#include <stdio.h>

#define KEY_TEXT_LEN 40 /* of SDES_KEY_LEN bytes in base64, without padding */

static const struct {
    char name[24];
    enum srtp_suite suite;
} suites[] = {
    {"AES_CM_128_HMAC_SHA1_80", SRTP_AES_CM_128_HMAC_SHA1_80},
    {"AES_CM_128_HMAC_SHA1_32", SRTP_AES_CM_128_HMAC_SHA1_32},
};

static bool read_suite(struct str name, enum srtp_suite *ret)
{
    for (size_t i = 0; i < ARRAY_SIZE(suites); i++) {
        if (str_eqi(name, str_z(suites[i].name))) {
            *ret = suites[i].suite;
            return true;
        }
    }
    return false;
}

static bool is_base64(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        const char c = s.p[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/'))
            return false;
    }
    return true;
}

/* "inline:KEY" or "inline:KEY|LIFETIME". A call is far shorter than any lifetime. */
static bool read_key(struct str params, uint8_t ret[static SDES_KEY_LEN])
{
    struct str info, rest, lifetime;
    if (!str_eqi(str_cut(params, ':', &info), STR("inline")) || !info.p || memchr(info.p, ';', info.n))
        return false;
    const struct str key = str_cut(info, '|', &rest);
    lifetime = str_cut(rest, '|', &rest);
    const bool mki = rest.p || (lifetime.p && memchr(lifetime.p, ':', lifetime.n));
    size_t n = SDES_KEY_LEN;
    return !mki && key.n == KEY_TEXT_LEN && is_base64(key) && !base64_decode(key.p, key.n, ret, &n) &&
           n == SDES_KEY_LEN;
}

/* A window hint, and parameters that may be ignored (RFC 4568, 6.3.7). */
static bool is_harmless(struct str parameter)
{
    return !parameter.n || parameter.p[0] == '-' || str_starts(parameter, STR("WSH="));
}

bool sdes_read(struct str value, struct sdes *ret)
{
    struct sdes s;
    uint64_t tag;
    struct str rest;
    const struct str number = str_cut(str_trim(value), ' ', &rest);
    const struct str suite = str_cut(rest, ' ', &rest);
    const struct str key = str_cut(rest, ' ', &rest);
    if (!str_to_u64(number, 999999999, &tag) || !read_suite(suite, &s.suite) || !key.p || !read_key(key, s.key))
        return false;
    while (rest.p)
        if (!is_harmless(str_cut(rest, ' ', &rest)))
            return false;
    s.tag = (uint32_t)tag;
    *ret = s;
    return true;
}

void sdes_write(const struct sdes *s, char ret[static SDES_TEXT_MAX])
{
    char key[KEY_TEXT_LEN + 1] = "";
    size_t n = sizeof key;
    const char *name = suites[s->suite == suites[0].suite ? 0 : 1].name;
    (void)base64_encode(s->key, sizeof s->key, key, &n); /* it fails only if `key` is too short */
    (void)snprintf(ret, SDES_TEXT_MAX, "%u %s inline:%.*s", s->tag, name, KEY_TEXT_LEN, key);
    memset(key, 0, sizeof key);
}
