/* The client of a request: the direct peer, or the client that a trusted proxy names. */
#pragma once
#include "http/request.h"
#include "net/address.h"

/* The other end of a connection. */
struct http_origin {
    struct net_address address;
    char text[NET_ADDRESS_TEXT];
    bool tls;
    bool local;    /* the control socket */
    bool loopback; /* a loopback address */
    bool trusted;  /* one of the trusted proxies */
};

/* Fills r->peer from the connection. If the direct peer is trusted, X-Forwarded-For gives the address (the rightmost
 * hop that is not a trusted proxy), and X-Forwarded-Proto gives the scheme (its last value, set by the direct peer). An
 * invalid hop is ignored, and so is everything to its left. Any forwarding field (X-Forwarded-*, Forwarded, X-Real-IP,
 * Via), even from an untrusted peer, clears loopback. */
void http_peer_resolve(struct http_request *r, const struct http_origin *from, const struct net_cidrs *trusted);
