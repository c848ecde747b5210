#include "resources/webhook_url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <glib.h>

#include "api/slots.h"
#include "net/guard.h"
#include "providers/receiver.h"

#define LOOK_UP_MS       2000
#define LOOK_UPS_MOST    16 /* at once: unresolvable names must not occupy all blocking workers */
#define LOOK_UPS_ACCOUNT 2  /* of these, for one account */
#define LOOK_UPS_SAME    4  /* of these, for one address block or host */
#define SCHEME           "https://"
/* All characters of a URI (RFC 3986 section 2). */
#define URI_CHARACTERS                                                                                                 \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"                                                   \
    "-._~:/?#[]@!$&'()*+,;=%"

static bool has_part(CURLU *u, CURLUPart part)
{
    char *text = NULL;
    const bool has = curl_url_get(u, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return has;
}

static bool is_port(CURLU *u)
{
    char *text = NULL;
    const bool is = curl_url_get(u, CURLUPART_PORT, &text, CURLU_DEFAULT_PORT) == CURLUE_OK && strcmp(text, "0") != 0;
    curl_free(text);
    return is;
}

/* True for an IP address, which needs no lookup; libcurl normalises IPv4. */
static bool host_is_address(CURLU *u)
{
    unsigned char bytes[sizeof(struct in_addr)];
    char *host = NULL;
    const bool is = curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                    (host[0] == '[' || inet_pton(AF_INET, host, bytes) == 1);
    curl_free(host);
    return is;
}

/* The reason why the URL is malformed; NULL: it is well-formed. */
static const char *find_fault(const char *url, CURLU *u)
{
    if (strncasecmp(url, SCHEME, sizeof SCHEME - 1) != 0 || url[sizeof SCHEME - 1] == '/')
        return "url must begin with https:// and a host";
    if (url[strspn(url, URI_CHARACTERS)])
        return "url must be ASCII, other characters percent-encoded and international host names in their xn-- form";
    if (curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK || !has_part(u, CURLUPART_HOST) || !is_port(u))
        return "url must be a valid URL";
    if (has_part(u, CURLUPART_USER) || has_part(u, CURLUPART_PASSWORD))
        return "url must not have a user name or a password";
    if (has_part(u, CURLUPART_FRAGMENT) || strchr(url, '#'))
        return "url must not have a fragment";
    if (has_part(u, CURLUPART_ZONEID))
        return "url must not have an address with a zone";
    /* libcurl accepts any text after a percent sign. */
    if (!g_uri_is_valid(url, G_URI_FLAGS_ENCODED, NULL))
        return "url must be a valid URL, with two hexadecimal digits after each %";
    return NULL;
}

static struct slots lookups = SLOTS(LOOKUP_HOST, LOOK_UPS_MOST, LOOK_UPS_ACCOUNT, LOOK_UPS_SAME);

static enum err verdict_error(struct tx *tx, enum net_guard_verdict verdict)
{
    switch (verdict) {
    case GUARD_PUBLIC:
        return ERR_NONE;
    case GUARD_PRIVATE:
        if (tx->config->webhooks_allow_private)
            return ERR_NONE;
        return tx_fail(tx, ERR_INVALID_WEBHOOK_URL, "url's host must have only public addresses");
    case GUARD_UNRESOLVED:
        return tx_fail(tx, ERR_INVALID_WEBHOOK_URL, "url's host was not found");
    }
    return ERR_INTERNAL_ERROR;
}

static enum err check_host(struct request *q, struct str url)
{
    struct slot *slot;
    enum err e = slots_take(&lookups, q, url, &slot);
    if (e)
        return e;
    const enum net_guard_verdict verdict = net_guard_check(url, LOOK_UP_MS);
    slots_release(&lookups, slot);
    return verdict_error(&q->tx, verdict);
}

enum err webhook_url_check(struct request *q, struct str url)
{
    struct tx *tx = &q->tx;
    const struct str text = arena_str(tx->arena, url);
    CURLU *u = curl_url();
    if (!u)
        return ERR_INTERNAL_ERROR;
    const char *fault = find_fault(text.p, u);
    const bool address = !fault && host_is_address(u);
    curl_url_cleanup(u);
    if (fault)
        return tx_fail(tx, ERR_INVALID_WEBHOOK_URL, fault);
    if (receiver_has(tx->config, url))
        return ERR_NONE;
    return address ? verdict_error(tx, net_guard_check(url, LOOK_UP_MS)) : check_host(q, url);
}
