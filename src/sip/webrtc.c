#include "sip/webrtc.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "sip/agent.h"
#include "webrtc/webrtc.h"

static bool is_given(const struct sip_agent *a)
{
    return a->config->listen_webrtc && *a->config->listen_webrtc;
}

/* The port of STUN, which firewalls of companies often let out. A free one if SIP's is free, too. */
static bool address_of_browsers(const struct sip_agent *a, struct sa *ret)
{
    const char *text = is_given(a) ? a->config->listen_webrtc : a->config->listen_sip;
    if (sa_decode(ret, text, strlen(text)))
        return false;
    if (!is_given(a) && sa_port(ret))
        sa_set_port(ret, STUN_PORT);
    return true;
}

enum err sip_webrtc_open(struct sip_agent *a, char *why, size_t why_size)
{
    struct sa at, external;
    const char *address = a->config->voice_external_address;
    const bool outside = address && *address && !sa_set_str(&external, address, 0);
    errno = EINVAL;
    if (!address_of_browsers(a, &at) ||
        webrtc_new(&a->webrtc,
                   &(struct webrtc_options){.listen = &at, .external = outside ? &external : NULL, .tick = a->tick})) {
        char text[80] = "", where[64] = "";
        const char *reason = str_error(errno, text, sizeof text);
        (void)re_snprintf(where, sizeof where, "%J", &at);
        (void)snprintf(why, why_size, "listen.webrtc: cannot listen on %s, UDP: %s", where, reason);
        if (is_given(a))
            return ERR_USAGE;
        log_warn("no calls in browsers: %s", why);
        return ERR_NONE;
    }
    if (a->config->production && webrtc_is_local(a->webrtc))
        log_warn("no calls in browsers of other machines: only loopback addresses are offered");
    return ERR_NONE;
}
