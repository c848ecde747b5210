/* Listening sockets. Connections wait in the kernel until http_listener_start. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

#define HTTP_BOUND_TEXT 64
#define HTTP_BACKLOG    1024 /* connections that wait in the kernel */

/* Listens on "host:port", "[v6]:port" or ":port" (every address), with SO_REUSEPORT. Without `shared` an address that
 * any other socket listens on is refused; with it, one that this process has bound before can be bound again.
 * ERR_USAGE: not an address; ERR_IO: errno has the reason. */
enum err http_listen_tcp(const char *address, bool shared, int *ret_fd) CHECKED;
/* A Unix socket with mode 0600. A file left by a process that is gone is replaced; a live one is EADDRINUSE. */
enum err http_listen_unix(const char *path, int *ret_fd) CHECKED;
/* "127.0.0.1:8443" or "[::1]:8443", with the real port. */
void http_listen_text(int fd, char ret[static HTTP_BOUND_TEXT]);
