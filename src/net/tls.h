/* TLS peers that send records without data: new keys, tickets, requests for a handshake. libssl goes on to the next
 * record by itself, so a peer that sends nothing else would keep SSL_read() from returning: beyond each time-out, on a
 * thread that others need. For every connection of ours, as client and as server, DTLS excepted: there a call reads one
 * datagram. */
#pragma once
#include <curl/curl.h>
#include <openssl/ssl.h>

#define NET_TLS_IDLE_MAX                                                                                               \
    64 /* messages of the handshake in a row, without data between them; the next one ends the input */

/* Connections of this context that libssl reads from a socket: a call returns after each record. May be called once for
 * a context, before it has connections. */
void net_tls_bound(SSL_CTX *ctx);

/* Connections whose bytes are given to libssl in memory: a call ends with them, and must read all of them. */
void net_tls_bound_given(SSL_CTX *ctx);

/* The connections that libcurl opens for this handle: net_tls_bound. */
void net_tls_bound_curl(CURL *curl);
