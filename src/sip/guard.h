/* Checks of a SIP request before the stack handles it. Pure. */
#pragma once
#include <re/re.h>

#include "base/config.h"
#include "call/call.h"

#define SIP_ALLOW "INVITE, ACK, BYE, CANCEL, INFO, OPTIONS, REGISTER, UPDATE"

struct sip_verdict {
    int status;         /* 0: accept; -1: drop without an answer; otherwise the SIP status of the answer */
    const char *reason; /* of a status */
    struct pl require;  /* 420: the options that are not supported */
};

/* Checks essential headers, their number and size, CSeq against the method, Via, body length, method, URI scheme and
 * Require (RFC 3261, 8.2), and Session-Expires (RFC 4028). May shorten the message's buffer to its Content-Length. */
struct sip_verdict sip_guard(const struct sip_msg *msg);
/* The source that limits count: an IPv4 address, or the first address of the /64 of an IPv6 address. */
struct sa sip_source_block(const struct sa *addr);
/* The telephone number of a URI as E.164: the user part without parameters and visual separators (RFC 3966). Digits
 * without a `+` are completed as the peer (may be NULL) is configured. False, and "", if it holds no number. */
bool sip_number(const struct uri *uri, const struct config_peer *peer, char ret[static CALL_NUMBER_MAX]);
/* The URI with the dialled number, chosen by the peer's number_in; the request URI if peer is NULL. To, if the request
 * URI is the contact that we registered at the peer. */
struct uri sip_dialled(const struct sip_msg *msg, const struct config_peer *peer);
/* The URI with the caller's number: From, or the header of the peer's caller_in if the request has it. */
struct uri sip_caller(const struct sip_msg *msg, const struct config_peer *peer);
/* The user part of a URI as received, for the log: cut to size, "" without a user part. */
void sip_user_text(const struct uri *uri, char *ret, size_t size);
/* Whether the body is empty, or application/sdp without an encoding. */
bool sip_body_is_sdp(const struct sip_msg *msg);
