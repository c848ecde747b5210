#include "sip/trunk_form.h"

#include <stdio.h>
#include <stdlib.h>

#include "sip/trunk.h"

#define DIGITS_MAX 15

void sip_server_parse(const char *text, struct sip_server *ret)
{
    *ret = (struct sip_server){0};
    const bool bracketed = *text == '[';
    struct str port, host = str_cut(str_from(str_z(text), bracketed), bracketed ? ']' : ':', &port);
    if (bracketed && port.n)
        port = str_from(port, 1);
    (void)snprintf(ret->host, sizeof ret->host, "%.*s", STR_ARG(host));
    ret->port = port.p ? (uint16_t)strtoul(port.p, NULL, 10) : 0;
    ret->numeric = !sa_set_str(&ret->addr, ret->host, ret->port);
}

const char *sip_trunk_domain(const struct config_peer *p)
{
    return *p->domain ? p->domain : p->server;
}

/* ---- numbers ---- */

static bool is_number(const char *number)
{
    const char *digits = number + (*number == '+');
    size_t n = strlen(digits);
    return n > 0 && n <= DIGITS_MAX && strspn(digits, "0123456789") == n;
}

/* A number of the trunk's own country, without the country code; NULL for other countries. */
static const char *national(const struct config_peer *p, const char *digits)
{
    return *p->country_code && str_starts(str_z(digits), str_z(p->country_code)) ? digits + strlen(p->country_code)
                                                                                 : NULL;
}

static const char *prefix_abroad(const struct config_peer *p)
{
    return *p->international_prefix ? p->international_prefix : "00";
}

bool sip_trunk_number(const struct config_peer *p, const char *number, char *ret, size_t size)
{
    if (!is_number(number))
        return false;
    const char *digits = number + 1, *at_home = NULL, *prefix = "";
    if (*number != '+') {
        digits = number; /* an extension */
    } else if (strcmp(p->number_out, "e164") == 0) {
        prefix = "+";
    } else if (strcmp(p->number_out, "national") == 0 && (at_home = national(p, digits))) {
        prefix = p->national_prefix;
        digits = at_home;
    } else if (strcmp(p->number_out, "plain") != 0) {
        prefix = prefix_abroad(p);
    }
    const int n = snprintf(ret, size, "%s%s", prefix, digits);
    return n > 0 && (size_t)n < size;
}

/* ---- headers ---- */

static const char *scheme_transport(const struct config_peer *p)
{
    static const char *const none = "";
    if (strcmp(p->transport, "tcp") == 0)
        return ";transport=tcp";
    return strcmp(p->transport, "tls") == 0 ? ";transport=tls" : none;
}

static void add_diversion(const struct config_peer *p, const char *number, const char *original, struct sip_route *ret)
{
    char diverted[32];
    const char *domain = sip_trunk_domain(p);
    const size_t n = strlen(ret->headers);
    if (!original || !sip_trunk_number(p, original, diverted, sizeof diverted))
        return;
    if (strcmp(p->diversion, "diversion") == 0)
        (void)snprintf(ret->headers + n, sizeof ret->headers - n,
                       "Diversion: <sip:%s@%s>;reason=unconditional;counter=1\r\n", diverted, domain);
    else if (strcmp(p->diversion, "history_info") == 0)
        (void)snprintf(ret->headers + n, sizeof ret->headers - n,
                       "History-Info: <sip:%s@%s>;index=1,<sip:%s@%s;cause=302>;index=1.1\r\n", diverted, domain,
                       number, domain);
}

enum media_srtp sip_trunk_srtp(const struct config_peer *p)
{
    if (strcmp(p->srtp, "off") == 0)
        return MEDIA_SRTP_ACCEPT;
    return strcmp(p->srtp, "required") == 0 ? MEDIA_SRTP_REQUIRED : MEDIA_SRTP_OPTIONAL;
}

bool sip_trunk_form(const struct config_peer *p, const char *number, const char *as, const char *original,
                    struct sip_route *ret)
{
    char to[32], from[32];
    const char *domain = sip_trunk_domain(p);
    const bool asserted = strcmp(p->caller_id, "from") != 0;
    if (!sip_trunk_number(p, number, to, sizeof to) || !sip_trunk_number(p, as, from, sizeof from))
        return false;
    const char *shown = strcmp(p->caller_id, "p_asserted_identity") == 0 && *p->user ? p->user : from;
    (void)snprintf(ret->uri, sizeof ret->uri, "sip:%s@%s%s", to, domain, *p->domain ? "" : scheme_transport(p));
    (void)re_snprintf(ret->from, sizeof ret->from, "sip:%H@%s", uri_user_escape, &(struct pl){shown, strlen(shown)},
                      domain);
    (void)snprintf(ret->cuser, sizeof ret->cuser, "%s", from);
    ret->headers[0] = '\0';
    if (asserted)
        (void)snprintf(ret->headers, sizeof ret->headers, "P-Asserted-Identity: <sip:%s@%s>\r\n", from, domain);
    add_diversion(p, to, original, ret);
    return true;
}
