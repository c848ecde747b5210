/* Listening sockets. The kernel queues connections until http_listener_start. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

#define HTTP_BOUND_TEXT 64
#define HTTP_BACKLOG    1024 /* connections that the kernel queues */

#define HTTP_INHERITED "fd:" /* before the number of a listening descriptor, in place of an address */

/* Listens on "host:port", "[v6]:port" or ":port" (every address), with SO_REUSEPORT; or, on "fd:3", duplicates that
 * descriptor, which stays open. Without `shared` the call fails if
 * another socket listens on the address. With `shared` this process can bind it again. Fails with ERR_USAGE (not an
 * address) or ERR_IO (errno has the reason). */
enum err http_listen_tcp(const char *address, bool shared, int *ret_fd) CHECKED;
/* Listens on a Unix socket with mode 0600. Replaces the socket file of a process that has ended; fails with EADDRINUSE
 * if the process still listens. */
enum err http_listen_unix(const char *path, int *ret_fd) CHECKED;
/* Writes "127.0.0.1:8443" or "[::1]:8443", with the actual port. */
void http_listen_text(int fd, char ret[static HTTP_BOUND_TEXT]);
