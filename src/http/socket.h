/* The bytes of a connection's socket, plain or in TLS. Every function may set eof or broken. */
#pragma once
#include "http/conn.h"

/* Reads at most n bytes. Returns 0 if there are no bytes now, or sets eof or broken. */
size_t http_socket_recv(struct http_conn *c, void *p, size_t n);
/* TLS has bytes that no event will announce. */
bool http_socket_has_pending(const struct http_conn *c);
/* Returns the number of bytes that the socket accepted; 0 also if the connection broke. */
size_t http_socket_send(struct http_conn *c, const char *p, size_t n);
/* The same for several parts, in one system call. Only without TLS. */
size_t http_socket_send_parts(struct http_conn *c, const struct str *parts, size_t count);
/* Continues the TLS handshake. Returns the event to wait for, or 0 when it is complete or broken. */
short http_socket_shake_hands(struct http_conn *c);
/* Sends close_notify, so that the peer knows nothing was cut off, and frees the TLS state. */
void http_socket_end_tls(struct http_conn *c);
