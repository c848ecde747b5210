/* TLS 1.2 and 1.3 for the listeners: one certificate, which can be replaced while connections are open, and ticket keys
 * that stay valid across replacements. Any thread. */
#pragma once
#include <openssl/ssl.h>
#include <stdbool.h>

#include "base/err.h"

struct http_tls;

/* Reads the certificate chain and its key (PEM files). `groups` lists the key exchange groups, best first, in the form
 * of SSL_CTX_set1_groups_list. Fails with ERR_USAGE and *ret_why (owned by the caller) if a file cannot be read, the
 * key is encrypted, or the two do not match. */
enum err http_tls_new(const char *certificate, const char *key, const char *groups, struct http_tls **ret,
                      char **ret_why) CHECKED;
void http_tls_free(struct http_tls *t);
/* Reads both files again, for connections accepted later. Keeps the loaded ones on failure, with *ret_why as above. */
enum err http_tls_reload(struct http_tls *t, char **ret_why) CHECKED;
/* Replaces expired ticket keys. Cheap; must be called every few seconds. */
void http_tls_tick(struct http_tls *t);
/* Returns the server side of a new connection on fd, which the caller owns. NULL when out of memory. */
SSL *http_tls_accept(struct http_tls *t, int fd);
/* Whether the peer has closed or reset fd, so that a handshake would be wasted work. */
bool http_tls_is_gone(int fd);
/* Whether libssl may read the ClientHello that fd has received: libssl allocates the announced length. */
enum http_tls_hello {
    HTTP_TLS_HELLO_FINE,
    HTTP_TLS_HELLO_MORE /* its start has not arrived yet */,
    HTTP_TLS_HELLO_REFUSED
};
enum http_tls_hello http_tls_look(int fd);
