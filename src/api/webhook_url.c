#include "api/webhook_url.h"

#include <curl/curl.h>

#include "http/guard.h"

#define LOOK_UP_MS 5000
#define SCHEME     "https://"
/* All that a URI is made of (RFC 3986 section 2). */
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

/* What is wrong with the form of the URL; NULL: nothing. */
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
    return NULL;
}

static enum err check_address(struct op *op, struct str url)
{
    switch (http_guard_check(url, LOOK_UP_MS)) {
    case GUARD_PUBLIC:
        return ERR_NONE;
    case GUARD_PRIVATE:
        if (op->config->webhooks_allow_private)
            return ERR_NONE;
        return op_fail(op, ERR_INVALID_WEBHOOK_URL, "url's host must have public addresses only");
    case GUARD_UNRESOLVED:
        return op_fail(op, ERR_INVALID_WEBHOOK_URL, "url's host was not found");
    }
    return ERR_INTERNAL_ERROR;
}

enum err webhook_url_check(struct op *op, struct str url)
{
    const struct str text = arena_str(op->arena, url);
    CURLU *u = curl_url();
    if (!u)
        return ERR_INTERNAL_ERROR;
    const char *fault = find_fault(text.p, u);
    curl_url_cleanup(u);
    return fault ? op_fail(op, ERR_INVALID_WEBHOOK_URL, fault) : check_address(op, url);
}
