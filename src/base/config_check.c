#include "base/config_check.h"

#include <arpa/inet.h>
#include <glib.h>
#include <stdlib.h>

#include "base/schema_text.h"

#define SENTENCE_END 120
#define PORT_MAX     65535
#define PREFIX_MAX   15  /* digits of a whole number (E.164) */
#define HOST_MAX     253 /* of a name in the DNS */
#define ALNUM        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/* A numeric address of either family; *ret_bits is 32 or 128. */
static bool is_ip(struct str s, unsigned *ret_bits)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr bytes;
    if (s.n == 0 || s.n >= sizeof text)
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    if (inet_pton(AF_INET, text, &bytes) == 1)
        *ret_bits = 32;
    else if (inet_pton(AF_INET6, text, &bytes) == 1)
        *ret_bits = 128;
    else
        return false;
    return true;
}

bool config_is_sentence(const char *text)
{
    return g_utf8_validate(text, -1, NULL) && text_utf16_units(str_z(text)) < SENTENCE_END;
}

bool config_is_address(const char *text)
{
    struct str host = str_z(text), port;
    unsigned bits;
    uint64_t number;
    bool bracketed = host.n && host.p[0] == '[';
    if (bracketed) {
        host = str_cut(str_from(host, 1), ']', &port);
        if (!port.p || port.n == 0 || port.p[0] != ':')
            return false;
        port = str_from(port, 1);
    } else {
        host = str_cut(host, ':', &port);
    }
    return is_ip(host, &bits) && (bits == 128) == bracketed && port.p && str_to_u64(port, PORT_MAX, &number);
}

const char *config_localhost_port(const char *text)
{
    const struct str host = STR("localhost:");
    uint64_t number;
    return str_starts(str_z(text), host) && str_to_u64(str_z(text + host.n), PORT_MAX, &number) ? text + host.n : NULL;
}

bool config_is_ip(const char *text)
{
    unsigned bits;
    return is_ip(str_z(text), &bits);
}

bool config_is_cidr(const char *text)
{
    struct str prefix, host = str_cut(str_z(text), '/', &prefix);
    unsigned bits;
    uint64_t length;
    return is_ip(host, &bits) && (!prefix.p || str_to_u64(prefix, bits, &length));
}

bool config_is_prefix(const char *text)
{
    text += *text == '!';
    const size_t digits = *text == '+' ? strspn(text + 1, "0123456789") : 0;
    return digits > 0 && digits <= PREFIX_MAX && !text[1 + digits];
}

static bool consists_of(const char *text, const char *characters)
{
    return text && *text && strspn(text, characters) == strlen(text);
}

bool config_is_server(const char *text)
{
    struct str host = str_z(text), port = {0};
    unsigned bits;
    uint64_t number;
    if (*text == '[') {
        host = str_cut(str_from(host, 1), ']', &port);
        if (!port.p || !is_ip(host, &bits) || bits != 128 || (port.n && port.p[0] != ':'))
            return false;
        port = port.n ? str_from(port, 1) : (struct str){0};
    } else {
        host = str_cut(host, ':', &port);
        if (!host.n || host.n > HOST_MAX || host.p[0] == '-' || host.p[0] == '.' || strspn(host.p, ALNUM "-.") < host.n)
            return false;
    }
    return !port.p || (str_to_u64(port, PORT_MAX, &number) && number > 0);
}

bool config_is_url(const char *text, const char *schemes)
{
    /* GLib splits URLs, but accepts characters that RFC 3986 does not allow: blanks, quotes, anything in a host. */
    GUri *uri = consists_of(text, ALNUM "-._~:/?#[]@!$&'()*+,;=%") ? g_uri_parse(text, G_URI_FLAGS_NONE, NULL) : NULL;
    if (!uri)
        return false;
    bool fine = config_is_word(g_uri_get_scheme(uri), schemes) && consists_of(g_uri_get_host(uri), ALNUM "-.:") &&
                !g_uri_get_userinfo(uri) && !g_uri_get_query(uri) && !g_uri_get_fragment(uri);
    g_uri_unref(uri);
    return fine;
}

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, host, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6);
    return g_ascii_strcasecmp(host, "localhost") == 0;
}

bool config_is_local_url(const char *text)
{
    GUri *uri = g_uri_parse(text, G_URI_FLAGS_NONE, NULL);
    bool local = uri && g_uri_get_host(uri) && is_loopback(g_uri_get_host(uri));
    if (uri)
        g_uri_unref(uri);
    return local;
}

bool config_is_protected_url(const char *text)
{
    return config_is_url(text, "https") || (config_is_url(text, "http") && config_is_local_url(text));
}

static bool is_word(struct str text, const char *words)
{
    struct str rest = str_z(words);
    while (rest.p)
        if (str_eq(str_cut(rest, '|', &rest), text))
            return true;
    return false;
}

bool config_is_word(const char *text, const char *words)
{
    return is_word(str_n(text, strlen(text)), words);
}

bool config_are_words(const char *text, const char *words)
{
    struct str rest = str_z(text);
    while (rest.p)
        if (!is_word(str_cut(rest, ':', &rest), words))
            return false;
    return true;
}

const char *config_credential(const char *name, struct arena *a)
{
    const char *directory = getenv("CREDENTIALS_DIRECTORY");
    if (!*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
        return NULL;
    return arena_printf(a, "%s/%s", directory && *directory ? directory : "/etc/credstore", name).p;
}
