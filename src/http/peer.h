/* Who sent a request: the direct peer, or whom a trusted proxy says it speaks for. */
#pragma once
#include "http/request.h"
#include "net/address.h"

/* What is known of a connection's other end. */
struct http_origin {
    struct net_address address;
    char text[NET_ADDRESS_TEXT];
    bool tls;
    bool local;    /* the control socket */
    bool loopback; /* the address is */
    bool trusted;  /* one of the trusted proxies */
};

/* Fills r->peer from the connection and, only if the direct peer is trusted, from r's X-Forwarded-For (the rightmost
 * hop that is not itself a trusted proxy) and X-Forwarded-Proto (what the direct peer said: the last value). A
 * forwarding field that cannot be read counts for nothing, nor does anything left of it. Any such field, whoever sent
 * it (X-Forwarded-*, Forwarded, X-Real-IP, Via), ends loopback. */
void http_peer_resolve(struct http_request *r, const struct http_origin *from, const struct net_cidrs *trusted);
