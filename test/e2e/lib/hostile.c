/* Peers that keep a connection busy for ever, at each of its layers.
 *
 *   hostile serve PEM   servers on loopback with this certificate and key, one for each row of `peers`: prints
 *                       "NAME PORT" of each, then "ready", and "+ NAME" for each connection. A client whose first byte
 *                       does not begin a TLS handshake is treated in the same way without TLS
 *   hostile flood PORT  a client that sends new TLS keys, and no data, until the server closes: prints "closed" */
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK    65536
#define BLOCK_US 2000 /* between two */
#define KEYS_US                                                                                                        \
    50000 /* between two thousand new keys, which take 20 ms of the processor to make, and as much to read */

struct peer {
    const char *name;
    const char *raw;   /* sent again and again in place of a handshake */
    size_t raw_n;      /* 0: there is a handshake */
    const char *first; /* then */
    const char *again; /* and then again and again; NULL: new keys */
    unsigned pause_us; /* between two of `again`; else 32 MB a second: no client waits for more, and the processor is
                          others' too */
    bool greets;       /* does not wait for a request */
};

#define HEAD      "HTTP/1.1 200 OK\r\n"
#define CHUNKED   HEAD "Transfer-Encoding: chunked\r\n\r\n"
#define RAW(text) .raw = (text), .raw_n = sizeof(text) - 1
static const struct peer peers[] = {
    {"silent", .raw = ""},
    {"slow-hello", RAW("\x16"), .pause_us = 100000},
    {"hello-requests", RAW("\x16\x03\x03\x00\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"keys", .first = ""},
    {"keys-at-once", .first = "", .greets = true},
    {"no-answer", .first = "", .again = ""},
    {"slow-head", .first = "HTTP/1.1 200 OK\r\nX: ", .again = "x", .pause_us = 100000},
    {"heads", .first = HEAD, .again = "X: x\r\n"},
    {"line", .first = HEAD "X: ", .again = "xxxxxxxxxxxxxxxx"},
    {"informational", .first = "", .again = "HTTP/1.1 103 Early Hints\r\n\r\n"},
    {"body", .first = HEAD "\r\n", .again = "xxxxxxxxxxxxxxxx"},
    {"slow-body", .first = HEAD "Content-Length: 100000\r\n\r\n", .again = "x", .pause_us = 100000},
    {"chunks", .first = CHUNKED, .again = "1\r\nx\r\n"},
    {"extension", .first = CHUNKED "1;", .again = "xxxxxxxxxxxxxxxx"},
    {"trailers", .first = CHUNKED "0\r\n", .again = "X: x\r\n"},
    {"redirect", .first = "HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n", .again = ""},
    {"greeting", .first = "", .again = "220-x\r\n", .greets = true},
};
#define PEERS (sizeof peers / sizeof *peers)

static SSL_CTX *context;
static int listeners[PEERS];

static bool send_all(int fd, const char *p, size_t n)
{
    for (ssize_t sent = 0; n; p += sent, n -= (size_t)sent)
        if ((sent = send(fd, p, n, MSG_NOSIGNAL)) <= 0)
            return false;
    return true;
}

static bool say(int fd, SSL *ssl, const char *p, size_t n)
{
    return !n || (ssl ? SSL_write(ssl, p, (int)n) > 0 : send_all(fd, p, n));
}

/* Until the other side has closed. */
static void repeat(int fd, SSL *ssl, const char *text, size_t n, unsigned pause_us)
{
    char block[BLOCK], byte;
    size_t filled = 0;
    while (n && !pause_us && filled + n <= sizeof block) {
        memcpy(block + filled, text, n);
        filled += n;
    }
    for (;;) {
        if (!n) {
            if (recv(fd, &byte, 1, 0) <= 0)
                return;
        } else if (!say(fd, ssl, pause_us ? text : block, pause_us ? n : filled)) {
            return;
        }
        usleep(pause_us ? pause_us : BLOCK_US);
    }
}

/* Until the other side has closed. A thousand messages are made in memory and sent at once: one by one they would come
 * slower than they are read. */
static void send_keys(int fd, SSL *ssl)
{
    BIO *memory = BIO_new(BIO_s_mem());
    SSL_set0_wbio(ssl, memory);
    for (bool open = true; open;) {
        char *p;
        for (int i = 0; i < 1000; i++)
            if (SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) != 1 || SSL_do_handshake(ssl) != 1)
                return;
        const long n = BIO_get_mem_data(memory, &p);
        open = send_all(fd, p, (size_t)n);
        (void)BIO_reset(memory);
        usleep(KEYS_US);
    }
}

static void serve(const struct peer *peer, int fd)
{
    char request[BLOCK];
    if (!peer->first) {
        repeat(fd, NULL, peer->raw, peer->raw_n, peer->pause_us);
        return;
    }
    if (!peer->greets && recv(fd, request, 1, MSG_PEEK) == 1 && request[0] != SSL3_RT_HANDSHAKE) {
        if (recv(fd, request, sizeof request, 0) > 0 && say(fd, NULL, peer->first, strlen(peer->first)) && peer->again)
            repeat(fd, NULL, peer->again, strlen(peer->again), peer->pause_us);
        return;
    }
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    if (SSL_accept(ssl) == 1 && (peer->greets || SSL_read(ssl, request, sizeof request) > 0) &&
        say(fd, ssl, peer->first, strlen(peer->first))) {
        if (peer->again)
            repeat(fd, ssl, peer->again, strlen(peer->again), peer->pause_us);
        else
            send_keys(fd, ssl);
    }
    SSL_free(ssl);
}

struct connection {
    const struct peer *peer;
    int fd;
};

static void *serve_thread(void *arg)
{
    struct connection *c = arg;
    serve(c->peer, c->fd);
    close(c->fd);
    free(c);
    return NULL;
}

static void *accept_thread(void *arg)
{
    const size_t i = (size_t)arg;
    for (;;) {
        struct connection *c = calloc(1, sizeof *c);
        pthread_t thread;
        c->peer = &peers[i];
        c->fd = accept(listeners[i], NULL, NULL);
        printf("+ %s\n", peers[i].name);
        fflush(stdout);
        if (c->fd >= 0 && pthread_create(&thread, NULL, serve_thread, c) == 0)
            pthread_detach(thread);
    }
    return NULL;
}

static int serve_all(const char *pem)
{
    context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(context, pem) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, pem, SSL_FILETYPE_PEM) != 1)
        return 1;
    for (size_t i = 0; i < PEERS; i++) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        socklen_t n = sizeof at;
        pthread_t thread;
        listeners[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(listeners[i], (struct sockaddr *)&at, n) || listen(listeners[i], 100) ||
            getsockname(listeners[i], (struct sockaddr *)&at, &n) ||
            pthread_create(&thread, NULL, accept_thread, (void *)i))
            return 1;
        printf("%s %d\n", peers[i].name, ntohs(at.sin_port));
    }
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}

static int flood(int port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    SSL *ssl = SSL_new(SSL_CTX_new(TLS_client_method()));
    SSL_set_fd(ssl, fd);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) || SSL_connect(ssl) != 1)
        return 1;
    send_keys(fd, ssl);
    puts("closed");
    return 0;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        return serve_all(argv[2]);
    return argc == 3 && strcmp(argv[1], "flood") == 0 ? flood(atoi(argv[2])) : 2;
}
