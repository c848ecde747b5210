/* TLS 1.2 and 1.3 for the listeners: one certificate, replaceable while connections run; ticket keys that outlive it.
 * Any thread. */
#pragma once
#include <openssl/ssl.h>
#include <stdbool.h>

#include "base/err.h"

struct http_tls;

/* Reads the certificate chain and its key (PEM files). `groups` are those for the key exchange, best first, as
 * SSL_CTX_set1_groups_list takes them. ERR_USAGE with *ret_why (owned by the caller) if the files cannot be read or do
 * not belong together. */
enum err http_tls_new(const char *certificate, const char *key, const char *groups, struct http_tls **ret,
                      char **ret_why) CHECKED;
void http_tls_free(struct http_tls *t);
/* Reads both files again, for connections accepted from now on. Keeps what it has if they do not load: *ret_why as
 * above. */
enum err http_tls_reload(struct http_tls *t, char **ret_why) CHECKED;
/* Replaces the ticket keys that are too old. Cheap; to be called every few seconds. */
void http_tls_tick(struct http_tls *t);
/* The server side of a new connection on fd, which stays the caller's. NULL when out of memory. */
SSL *http_tls_accept(struct http_tls *t, int fd);
/* The other side of fd has closed or reset it: nobody waits for what a handshake would compute. */
bool http_tls_is_gone(int fd);
/* Whether the ClientHello that waits in fd may be given to libssl, which takes as much memory as it announces. */
enum http_tls_hello {
    HTTP_TLS_HELLO_FINE,
    HTTP_TLS_HELLO_MORE /* its start has not come yet */,
    HTTP_TLS_HELLO_REFUSED
};
enum http_tls_hello http_tls_look(int fd);
