#include "net/tls.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

static pthread_once_t net_tls_once = PTHREAD_ONCE_INIT;
static int net_tls_index; /* of a connection's count */

static void make_count_index(void)
{
    net_tls_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
}

static bool is_record_of_data(const SSL *ssl, int type, const unsigned char *p, size_t n)
{
    const int says_kind = SSL_version(ssl) == TLS1_3_VERSION ? SSL3_RT_INNER_CONTENT_TYPE : SSL3_RT_HEADER;
    return type == says_kind && n > 0 && *p == SSL3_RT_APPLICATION_DATA;
}

/* Returns true if the peer has sent too many messages without data. */
static bool count_message(SSL *ssl, int type, const void *p, size_t n)
{
    uintptr_t count = (uintptr_t)SSL_get_ex_data(ssl, net_tls_index);
    if (type == SSL3_RT_HANDSHAKE)
        count++;
    else if (is_record_of_data(ssl, type, p, n))
        count = 0;
    (void)SSL_set_ex_data(ssl, net_tls_index, (void *)count);
    return count > NET_TLS_IDLE_MAX;
}

/* libssl reads the end of the input next: also within a handshake, where it skips requests for another one. */
static void on_socket_message(int sent, int version, int type, const void *p, size_t n, SSL *ssl, void *arg)
{
    (void)version, (void)arg;
    BIO *empty = !sent && count_message(ssl, type, p, n) ? BIO_new(BIO_s_mem()) : NULL;
    if (!empty)
        return;
    BIO_set_mem_eof_return(empty, 0);
    SSL_set0_rbio(ssl, empty);
}

/* The owner of the memory goes on to write there. */
static void on_given_message(int sent, int version, int type, const void *p, size_t n, SSL *ssl, void *arg)
{
    (void)version, (void)arg;
    if (!sent && count_message(ssl, type, p, n))
        SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) | SSL_RECEIVED_SHUTDOWN);
}

void net_tls_bound(SSL_CTX *ctx)
{
    net_tls_bound_given(ctx);
    SSL_CTX_set_msg_callback(ctx, on_socket_message);
    SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
}

void net_tls_bound_given(SSL_CTX *ctx)
{
    (void)pthread_once(&net_tls_once, make_count_index);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_msg_callback(ctx, on_given_message);
}

static CURLcode on_curl_context(CURL *curl, void *ctx, void *arg)
{
    (void)curl, (void)arg;
    net_tls_bound(ctx);
    return CURLE_OK;
}

void net_tls_bound_curl(CURL *curl)
{
    curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, on_curl_context);
}
