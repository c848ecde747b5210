#include "sip/guard.h"

#include <ctype.h>

#include "sip/timer.h"

#define TOKEN_MAX 256 /* of a Call-ID, tag or branch */

static struct sip_verdict sip_verdict_of(int status, const char *reason)
{
    return (struct sip_verdict){.status = status, .reason = reason};
}

static bool short_enough(const struct pl *pl)
{
    return pl_isset(pl) && pl->l <= TOKEN_MAX;
}

static bool once(const struct sip_msg *msg, enum sip_hdrid id)
{
    return sip_msg_hdr_count(msg, id) == 1;
}

/* A reply goes to the address in Via; `maddr` would let a stranger direct it to anybody. */
static bool via_misleads(const struct sip_msg *msg)
{
    struct pl maddr;
    return !msg_param_decode(&msg->via.params, "maddr", &maddr);
}

static bool well_formed(const struct sip_msg *msg)
{
    if (!once(msg, SIP_HDR_TO) || !once(msg, SIP_HDR_FROM) || !once(msg, SIP_HDR_CALL_ID) || !once(msg, SIP_HDR_CSEQ))
        return false;
    if (!pl_isset(&msg->to.auri) || !pl_isset(&msg->from.auri))
        return false;
    if (!short_enough(&msg->callid) || !short_enough(&msg->from.tag) || !short_enough(&msg->via.branch))
        return false;
    if (pl_isset(&msg->to.tag) && !short_enough(&msg->to.tag))
        return false;
    return msg->cseq.num <= INT32_MAX && !pl_cmp(&msg->cseq.met, &msg->met);
}

/* Over UDP the body ends with its Content-Length or, without one, with the packet (RFC 3261, 18.3). */
static bool fit_body(const struct sip_msg *msg)
{
    if (!pl_isset(&msg->clen))
        return true;
    if (msg->clen.l > 6)
        return false;
    for (size_t i = 0; i < msg->clen.l; i++) {
        if (!isdigit((unsigned char)msg->clen.p[i]))
            return false;
    }
    size_t length = pl_u32(&msg->clen);
    if (length > mbuf_get_left(msg->mb))
        return false;
    mbuf_set_end(msg->mb, msg->mb->pos + length);
    return true;
}

static bool one_of(const struct pl *method, const char *const list[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!pl_strcmp(method, list[i]))
            return true;
    }
    return false;
}

static struct sip_verdict check_method(const struct pl *method)
{
    static const char *const ours[] = {"INVITE", "ACK", "BYE", "CANCEL", "INFO", "OPTIONS", "REGISTER", "UPDATE"};
    static const char *const known[] = {"SUBSCRIBE", "NOTIFY", "PUBLISH", "MESSAGE", "PRACK", "REFER"};
    if (one_of(method, ours, ARRAY_SIZE(ours)))
        return sip_verdict_of(0, NULL);
    if (one_of(method, known, ARRAY_SIZE(known)))
        return sip_verdict_of(405, "Method Not Allowed");
    return sip_verdict_of(501, "Not Implemented");
}

static bool known_scheme(const struct pl *scheme)
{
    return !pl_strcasecmp(scheme, "sip") || !pl_strcasecmp(scheme, "sips") || !pl_strcasecmp(scheme, "tel");
}

static bool is_unknown(const struct sip_hdr *hdr, const struct sip_msg *msg, void *arg)
{
    (void)msg;
    (void)arg;
    return pl_strcasecmp(&hdr->val, "timer") != 0;
}

struct sip_verdict sip_guard(const struct sip_msg *msg)
{
    bool ack = !pl_strcmp(&msg->met, "ACK");
    if (!pl_isset(&msg->via.sentby) || via_misleads(msg))
        return sip_verdict_of(-1, NULL);
    if (!well_formed(msg))
        return sip_verdict_of(ack ? -1 : 400, "Bad Request");
    if (!fit_body(msg))
        return sip_verdict_of(ack ? -1 : 400, "Bad Content-Length");
    struct sip_verdict v = check_method(&msg->met);
    if (v.status || ack || !pl_strcmp(&msg->met, "CANCEL"))
        return v;
    if (!known_scheme(&msg->uri.scheme))
        return sip_verdict_of(416, "Unsupported URI Scheme");
    const struct sip_hdr *require = sip_msg_hdr_apply(msg, true, SIP_HDR_REQUIRE, is_unknown, NULL);
    if (require) {
        v = sip_verdict_of(420, "Bad Extension");
        v.require = require->val;
    } else if (sip_timer_too_small(msg)) {
        v = sip_verdict_of(422, "Session Interval Too Small");
    }
    return v;
}

bool sip_body_is_sdp(const struct sip_msg *msg)
{
    if (!mbuf_get_left(msg->mb))
        return true;
    return msg_ctype_cmp(&msg->ctyp, "application", "sdp") && !sip_msg_hdr(msg, SIP_HDR_CONTENT_ENCODING);
}

struct sa sip_source_block(const struct sa *addr)
{
    struct sa block = *addr;
    if (sa_af(addr) == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&addr->u.in6.sin6_addr))
        memset(block.u.in6.sin6_addr.s6_addr + 8, 0, 8);
    return block;
}

/* ---- numbers ---- */

#define DIGITS_MAX 15 /* E.164 */

static bool separator(char c)
{
    return c == '-' || c == '.' || c == '(' || c == ')';
}

static const struct pl *user_part(const struct uri *uri)
{
    return pl_strcasecmp(&uri->scheme, "tel") ? &uri->user : &uri->host;
}

void sip_user_text(const struct uri *uri, char *ret, size_t size)
{
    const struct pl *user = user_part(uri);
    const size_t n = !pl_isset(user) ? 0 : user->l < size ? user->l : size - 1;
    if (n)
        memcpy(ret, user->p, n);
    ret[n] = '\0';
}

/* Completes digits without a `+` to E.164. */
static bool complete_number(const struct config_peer *peer, const char *digits, char ret[static CALL_NUMBER_MAX])
{
    const char *country = "";
    size_t prefix = 0;
    if (peer && *peer->international_prefix && str_starts(str_z(digits), str_z(peer->international_prefix))) {
        prefix = strlen(peer->international_prefix);
    } else if (peer && *peer->country_code) {
        country = peer->country_code;
        if (str_starts(str_z(digits), str_z(peer->national_prefix)))
            prefix = strlen(peer->national_prefix);
    }
    digits += prefix;
    if (!*digits || strlen(country) + strlen(digits) > DIGITS_MAX)
        return false;
    (void)re_snprintf(ret, CALL_NUMBER_MAX, "+%s%s", country, digits);
    return true;
}

bool sip_number(const struct uri *uri, const struct config_peer *peer, char ret[static CALL_NUMBER_MAX])
{
    ret[0] = '\0';
    const struct pl *user = user_part(uri);
    char plain[64];
    if (!pl_isset(user))
        return false;
    int n = re_snprintf(plain, sizeof plain, "%H", uri_user_unescape, user);
    if (n < 0 || strlen(plain) != (size_t)n) /* too long, or a NUL within */
        return false;
    size_t digits = 0;
    char number[CALL_NUMBER_MAX] = "+";
    const char *p = plain[0] == '+' ? plain + 1 : plain;
    for (; *p && *p != ';'; p++) {
        if (separator(*p))
            continue;
        if (*p < '0' || *p > '9' || digits == DIGITS_MAX)
            return false;
        number[++digits] = *p;
    }
    if (!digits)
        return false;
    if (plain[0] != '+')
        return complete_number(peer, number + 1, ret);
    memcpy(ret, number, digits + 2);
    return true;
}

/* Whether the request URI is our registered contact, which says nothing about the number. */
static bool is_own_contact(const struct sip_msg *msg, const struct config_peer *peer)
{
    char user[64];
    return peer->reg && re_snprintf(user, sizeof user, "%H", uri_user_unescape, &msg->uri.user) > 0 &&
           strcmp(user, peer->user) == 0;
}

struct uri sip_dialled(const struct sip_msg *msg, const struct config_peer *peer)
{
    struct sip_addr called;
    const struct sip_hdr *header = NULL;
    if (peer && (strcmp(peer->number_in, "to") == 0 || is_own_contact(msg, peer)))
        return msg->to.uri;
    if (peer && strcmp(peer->number_in, "p_called_party_id") == 0)
        header = sip_msg_hdr(msg, SIP_HDR_P_CALLED_PARTY_ID);
    return header && !sip_addr_decode(&called, &header->val) ? called.uri : msg->uri;
}

struct uri sip_caller(const struct sip_msg *msg, const struct config_peer *peer)
{
    struct sip_addr caller;
    const struct sip_hdr *header = NULL;
    if (peer && peer->caller_in && strcmp(peer->caller_in, "p_asserted_identity") == 0)
        header = sip_msg_hdr(msg, SIP_HDR_P_ASSERTED_IDENTITY);
    else if (peer && peer->caller_in && strcmp(peer->caller_in, "remote_party_id") == 0)
        header = sip_msg_xhdr(msg, "Remote-Party-ID");
    return header && !sip_addr_decode(&caller, &header->val) ? caller.uri : msg->from.uri;
}
