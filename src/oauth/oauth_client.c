#include "oauth/oauth_client.h"

#include <glib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"

#define ID_PURPOSE      "oauth_client"
#define VOUCHER_PURPOSE "oauth_voucher"
#define MAC_LEN         16
#define HTTPS           STR("https://")
#define HTTP            STR("http://")

bool oauth_name_is_allowed(struct str name)
{
    if (!name.n || !g_utf8_validate(name.p, (gssize)name.n, NULL))
        return false;
    glong length = 0;
    for (const char *at = name.p; at < name.p + name.n; at = g_utf8_next_char(at), length++)
        switch (g_unichar_type(g_utf8_get_char(at))) {
        case G_UNICODE_CONTROL:
        case G_UNICODE_FORMAT:
        case G_UNICODE_UNASSIGNED:
        case G_UNICODE_PRIVATE_USE:
        case G_UNICODE_LINE_SEPARATOR:
        case G_UNICODE_PARAGRAPH_SEPARATOR:
            return false;
        default:
            break;
        }
    return length <= OAUTH_NAME_MAX;
}

/* ---- redirect URIs ---- */

/* Browsers and RFC 3986 agree on the meaning of a URI only without these. */
static bool has_plain_characters(struct str uri)
{
    for (size_t i = 0; i < uri.n; i++)
        if (uri.p[i] <= ' ' || uri.p[i] > '~' || strchr("\"<>\\^`{|}#", uri.p[i]))
            return false;
    return true;
}

static bool is_loopback_host(const char *host)
{
    return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0 || strcmp(host, "localhost") == 0;
}

/* Schemes that a browser or an operating system understands itself: they run, read or install something, or lead to
 * another host. Every other scheme is taken for a program's own. */
static const char *const general_schemes[] = {
    "about",
    "android-app",
    "blob",
    "chrome",
    "chrome-extension",
    "content",
    "data",
    "dav",
    "davs",
    "file",
    "filesystem",
    "ftp",
    "ftps",
    "git",
    "gopher",
    "http",
    "https",
    "imap",
    "intent",
    "irc",
    "ircs",
    "itms-apps",
    "itms-services",
    "jar",
    "javascript",
    "ldap",
    "ldaps",
    "livescript",
    "mailto",
    "mhtml",
    "mocha",
    "moz-extension",
    "ms-appinstaller",
    "ms-msdt",
    "ms-settings",
    "news",
    "nfs",
    "nntp",
    "pop",
    "res",
    "resource",
    "rtsp",
    "search-ms",
    "sftp",
    "shell",
    "sip",
    "sips",
    "smb",
    "sms",
    "ssh",
    "steam",
    "tel",
    "telnet",
    "urn",
    "vbscript",
    "view-source",
    "vnc",
    "webcal",
    "ws",
    "wss",
    "x-apple.systempreferences",
};

/* RFC 8252 section 7.1: the scheme, then one slash at least. Programs in use have schemes without the period that the
 * RFC recommends. */
static bool is_private_use(GUri *u, struct str uri)
{
    const char *scheme = g_uri_get_scheme(u);
    for (size_t i = 0; i < G_N_ELEMENTS(general_schemes); i++)
        if (strcmp(scheme, general_schemes[i]) == 0)
            return false;
    return str_starts(str_from(uri, strlen(scheme)), STR(":/"));
}

static bool is_of_host(GUri *u, struct str uri)
{
    const char *host = g_uri_get_host(u);
    return host && *host && g_uri_get_port(u) != 0 &&
           (str_starts(uri, HTTPS) || (str_starts(uri, HTTP) && is_loopback_host(host)));
}

/* Parses an allowed URI; NULL for another one. */
static GUri *redirect_parse(struct str uri)
{
    if (!uri.n || uri.n > OAUTH_URI_MAX || !has_plain_characters(uri))
        return NULL;
    char text[OAUTH_URI_MAX + 1];
    memcpy(text, uri.p, uri.n);
    text[uri.n] = '\0';
    GUri *u = g_uri_parse(text, G_URI_FLAGS_ENCODED, NULL);
    if (u && (g_uri_get_userinfo(u) || !(is_of_host(u, uri) || is_private_use(u, uri)))) {
        g_uri_unref(u);
        return NULL;
    }
    return u;
}

bool oauth_redirect_is_allowed(struct str uri)
{
    GUri *u = redirect_parse(uri);
    if (u)
        g_uri_unref(u);
    return u;
}

struct str oauth_redirects_allowed(struct arena *a, struct val uris, size_t most)
{
    struct buf all = BUF(most);
    const struct val *list = uris.ptr;
    for (uint32_t i = 0; i < uris.count; i++)
        if (oauth_redirect_is_allowed(list[i].s) && (all.n ? 1 : 0) + list[i].s.n <= most - all.n) {
            buf_str(&all, all.n ? STR("\n") : STR(""));
            buf_str(&all, list[i].s);
        }
    const struct str text = all.n ? arena_str(a, buf_view(&all)) : STR_NONE;
    buf_done(&all);
    return text;
}

struct str oauth_redirect_host(struct arena *a, struct str uri)
{
    GUri *u = redirect_parse(uri);
    if (!u)
        return STR("");
    const int port = g_uri_get_port(u);
    const bool shown = port > 0 && port != 443 && str_starts(uri, HTTPS);
    const char *host = is_of_host(u, uri) ? g_uri_get_host(u) : g_uri_get_scheme(u);
    const struct str text = shown ? arena_printf(a, "%s:%d", host, port) : arena_str(a, str_z(host));
    g_uri_unref(u);
    return text;
}

bool oauth_redirect_is_local(struct str uri)
{
    return !str_starts(uri, HTTPS);
}

bool oauth_list_has(struct val list, struct str word)
{
    const struct val *words = list.ptr;
    for (uint32_t i = 0; i < list.count; i++)
        if (str_eq(words[i].s, word))
            return true;
    return !v_given(list);
}

/* Divides an allowed URI of a loopback address at its port: *ret_rest is the part behind it. */
static struct str before_port(struct str uri, struct str *ret_rest)
{
    const struct str rest = str_from(uri, HTTP.n);
    size_t host = strcspn(rest.p, "/?:\n");
    if (rest.n && rest.p[0] == '[')
        host = (size_t)(strchr(rest.p, ']') + 1 - rest.p);
    const size_t port = host < rest.n && rest.p[host] == ':' ? 1 + strspn(rest.p + host + 1, "0123456789") : 0;
    *ret_rest = str_from(rest, host + port);
    return str_n(uri.p, HTTP.n + host);
}

static bool redirect_matches(struct arena *a, struct str registered, struct str uri)
{
    if (str_eq(registered, uri))
        return true;
    if (!str_starts(registered, HTTP) || !str_starts(uri, HTTP))
        return false;
    struct str rest, other;
    const struct str host = before_port(arena_str(a, registered), &rest);
    return str_eq(host, before_port(arena_str(a, uri), &other)) && str_eq(rest, other);
}

bool oauth_client_has_redirect(const struct oauth_client *c, struct str uri)
{
    char memory[4 * OAUTH_URI_MAX];
    struct arena arena;
    bool has = false;
    if (!oauth_redirect_is_allowed(uri))
        return false;
    arena_init(&arena, memory, sizeof memory);
    for (struct str rest = c->redirects; !has && rest.p;)
        has = redirect_matches(&arena, str_cut(rest, '\n', &rest), uri);
    arena_done(&arena);
    return has;
}

/* ---- IDs ---- */

/* A text with a MAC, in the arena. */
static struct str put_seal(struct arena *a, const char *purpose, struct str content)
{
    unsigned char mac[SHA256_LEN];
    crypto_derived_mac(purpose, content, mac);
    const struct str text = base64url_encode(a, content), proof = base64url_encode(a, str_n((char *)mac, MAC_LEN));
    return arena_printf(a, "%.*s.%.*s", STR_ARG(text), STR_ARG(proof));
}

static bool open_seal(struct arena *a, const char *purpose, struct str sealed, struct str *ret)
{
    struct str proof, mac;
    const struct str text = str_cut(sealed, '.', &proof);
    return proof.p && base64url_decode(a, text, ret) && base64url_decode(a, proof, &mac) && mac.n == MAC_LEN &&
           crypto_is_derived_mac(purpose, *ret, (const unsigned char *)mac.p, mac.n);
}

/* The registration's own ID makes two of the same content different. */
struct str oauth_client_register(struct arena *a, int64_t now_us, struct str name, struct str redirects)
{
    if (name.n + redirects.n > OAUTH_REGISTRY_MAX)
        return STR_NONE;
    const struct id id = id_new(now_us);
    return put_seal(a, ID_PURPOSE, arena_printf(a, "%s\n%.*s\n%.*s", id.text, STR_ARG(name), STR_ARG(redirects)));
}

bool oauth_client_read(struct arena *a, struct str id, struct oauth_client *ret)
{
    struct str content, rest;
    if (id.n > OAUTH_CLIENT_ID_MAX || !open_seal(a, ID_PURPOSE, id, &content))
        return false;
    str_cut(content, '\n', &rest);
    ret->id = arena_str(a, id);
    ret->name = arena_str(a, str_cut(rest, '\n', &ret->redirects));
    return true;
}

/* ---- addresses of documents ---- */

/* Browsers take %2e for a dot. */
static bool is_dot_segment(struct str segment)
{
    size_t dots = 0;
    for (size_t i = 0; i < segment.n; dots++)
        if (segment.p[i] == '.')
            i++;
        else if (segment.n - i >= 3 && str_eqi(str_n(segment.p + i, 3), STR("%2e")))
            i += 3;
        else
            return false;
    return dots == 1 || dots == 2;
}

/* As it is written: GLib resolves dot segments. */
static bool has_document_path(struct str address)
{
    struct str query, rest;
    str_cut(str_cut(str_from(address, HTTPS.n), '?', &query), '/', &rest);
    const bool has = rest.p;
    while (rest.p)
        if (is_dot_segment(str_cut(rest, '/', &rest)))
            return false;
    return has;
}

bool oauth_client_is_address(struct str id)
{
    GUri *u = str_starts(id, HTTPS) ? redirect_parse(id) : NULL;
    const bool is = u && has_document_path(id);
    if (u)
        g_uri_unref(u);
    return is;
}

struct str oauth_client_vouch(struct arena *a, int64_t now_us, const struct oauth_client *c, struct str redirect)
{
    const long long end_s = (long long)(now_us / US_PER_S) + OAUTH_VOUCHER_TTL_S;
    return put_seal(
        a, VOUCHER_PURPOSE,
        arena_printf(a, "%lld\n%.*s\n%.*s\n%.*s", end_s, STR_ARG(c->id), STR_ARG(c->name), STR_ARG(redirect)));
}

bool oauth_client_vouched(struct arena *a, int64_t now_us, struct str voucher, struct str id, struct oauth_client *ret)
{
    struct str content, rest;
    uint64_t end_s;
    if (voucher.n > OAUTH_VOUCHER_MAX || !open_seal(a, VOUCHER_PURPOSE, voucher, &content) ||
        !str_to_u64(str_cut(content, '\n', &rest), INT64_MAX, &end_s) || (uint64_t)(now_us / US_PER_S) >= end_s ||
        !str_eq(str_cut(rest, '\n', &rest), id))
        return false;
    ret->id = arena_str(a, id);
    ret->name = arena_str(a, str_cut(rest, '\n', &ret->redirects));
    return true;
}
