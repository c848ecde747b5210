/* What may come in: checks of a SIP request before the stack works on it. Pure. */
#pragma once
#include <re/re.h>

#include "base/config.h"
#include "voice/call.h"

#define SIP_ALLOW "INVITE, ACK, BYE, CANCEL, INFO, OPTIONS"

struct sip_verdict {
    int status;         /* 0: go on; -1: drop without an answer; else answer this */
    const char *reason; /* of a status */
    struct pl require;  /* 420: the options that are not supported */
};

/* Essential headers, their number and size, CSeq against the method, Via, body length, method, URI scheme, Require
 * (RFC 3261, 8.2). May shorten the message's buffer to its Content-Length. */
struct sip_verdict sip_guard(const struct sip_msg *msg);
/* Whom limits per source count: an IPv4 address, or the /64 of an IPv6 address, written as its beginning. */
struct sa sip_source_block(const struct sa *addr);
/* The telephone number a URI names, as E.164: the user part without parameters and visual separators (RFC 3966), with a
 * `+` put before bare digits, which are of the form that the peer (may be NULL) is configured for. False, and "", if
 * there is none. */
bool sip_number(const struct uri *uri, const struct config_peer *peer, char ret[static CALL_NUMBER_MAX]);
/* Where the request has the dialled number, by the peer's number_in (may be NULL: in the request URI). */
struct uri sip_dialled(const struct sip_msg *msg, const struct config_peer *peer);
/* The user part of a URI as it came, for the log: cut to size, and "" if there is none. */
void sip_user_text(const struct uri *uri, char *ret, size_t size);
/* Is the body one we read: none, or application/sdp as it stands? */
bool sip_body_is_sdp(const struct sip_msg *msg);
