/* A request, its handler and its answer: the types that the server, its protocols and its user share. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mailbox.h"

/* Beyond these limits the server answers 431 (414 if the request line alone is too long) and 413, unless the handler
 * accepts longer bodies. */
#define HTTP_MAX_HEADERS 100
#define HTTP_MAX_HEAD    16384 /* bytes of request line and header fields together */
#define HTTP_MAX_BODY    102400

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE, HTTP_OPTIONS, HTTP_OTHER };
extern const struct str http_method_names[HTTP_OTHER]; /* NUL-terminated */

struct http_header {
    struct str name, value; /* value without surrounding white space */
};

/* The client, after trusted proxies were taken into account. */
struct http_peer {
    char address[46]; /* textual IPv4 or IPv6, IPv4-mapped addresses as IPv4; 127.0.0.1 on the control socket */
    bool secure;      /* TLS, the control socket, or a trusted proxy said X-Forwarded-Proto: https */
    bool loopback;    /* the direct peer is on loopback, and no field says that a proxy is in between */
    bool local;       /* came in on the control socket (a Unix socket) */
};

struct http_conn;

/* One request, from its head to its answer. Slices are valid until it is answered. */
struct http_request {
    enum http_method method;
    struct str method_text;
    struct str target; /* origin-form: path and query */
    struct str path;   /* percent-encoded as sent; never empty */
    struct str query;  /* without '?'; STR_NONE without one */
    const struct http_header *headers;
    size_t header_count;
    struct str body; /* complete and de-chunked when `request` is called; empty without one */
    bool has_body;   /* Content-Length above 0 or chunked */
    size_t body_max; /* HTTP_MAX_BODY; `head` may change it */
    struct http_peer peer;
    struct arena arena;     /* the request's own; freed after the answer was sent */
    struct mail mail;       /* free for the handler's use with http_post */
    void *user;             /* the handler's */
    struct http_conn *conn; /* the server's */
};

/* The first field of that name (case-insensitive), STR_NONE without one. *ret_count (may be NULL): the number of them.
 */
struct str http_header(const struct http_request *r, struct str name, size_t *ret_count);
/* True if the field Accept names the media type, such as "text/html". */
bool http_accepts(const struct http_request *r, const char *media);

/* The server's callbacks. Each runs on the request's loop thread; loop is 0..threads-1. */
struct http_handler {
    void *ctx;
    /* The head is complete, the body not yet read (100-continue not yet sent). May answer at once, or return to have
     * the body read. After an early answer the connection closes, unless the request has no body or all of it has
     * already arrived. */
    void (*head)(void *ctx, struct http_request *r, unsigned loop);
    /* The request is complete. Must answer, now or later. */
    void (*request)(void *ctx, struct http_request *r, unsigned loop);
    /* The server refuses the request: framing, limits, time-outs, or a peer that disconnected while its body was read
     * (the answer is then dropped). The handler must answer; the table row of `why` has the status. The connection
     * closes afterwards. r holds the parts that were parsed, the rest is empty. So every request that `head` was given
     * is answered exactly once. */
    void (*refuse)(void *ctx, struct http_request *r, enum err why, unsigned loop);
    /* A loop thread starts, is about to sleep, and ends. May be NULL. */
    void (*thread_start)(void *ctx, unsigned loop);
    void (*thread_idle)(void *ctx, unsigned loop);
    void (*thread_stop)(void *ctx, unsigned loop);
};

/* Answers r, on its loop thread, exactly once. `head` is complete header lines ("Name: value\r\n"…) without
 * Content-Length, Connection and Date, which the server adds. `body` is sent only if the method was not HEAD and the
 * status allows one. Both are copied or sent before the call returns. r is freed. A request must be answered even if
 * its peer has disconnected: its memory lives until then. A peer that has not read 16 MiB of its replies is
 * disconnected. When all peers together have not read http.output_memory_mb, the slowest are disconnected. */
void http_respond(struct http_request *r, int status, struct str head, struct str body);
/* The same, with a body that never changes and outlives the server. It is not copied, however slow the peer. */
void http_respond_constant(struct http_request *r, int status, struct str head, struct str body);
/* Any thread: runs mail->run on r's loop thread. */
void http_post(struct http_request *r, struct mail *mail);
