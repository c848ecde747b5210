/* The HTTP/1.1 server (RFC 9112): listeners, TLS, connections and their deadlines, on a few loop threads.
 *
 * It knows nothing of doors. It parses strictly (http/parse.h), refuses every ambiguous framing, and hands each request
 * to one handler, which answers once, now or later. A connection's requests are handled one after the other: the next
 * of a pipeline waits, unread or in the read buffer, until the one before it is answered and its reply was taken. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/config.h"
#include "base/mailbox.h"

/* Beyond them: 431 (414 if the request line alone is too long), 413, unless the handler takes longer bodies. */
#define HTTP_MAX_HEADERS 100
#define HTTP_MAX_HEAD    16384 /* bytes of request line and header fields together */
#define HTTP_MAX_BODY    102400

#define HTTP_MAX_LOOPS 256 /* loop threads, however many cores there are */

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE, HTTP_OPTIONS, HTTP_OTHER };

struct http_header {
    struct str name, value; /* value without surrounding white space */
};

/* Who is at the other end, after trusted proxies were taken into account. */
struct http_peer {
    char address[46]; /* textual IPv4 or IPv6, IPv4-mapped addresses as IPv4; 127.0.0.1 on the control socket */
    bool secure;      /* TLS, the control socket, or a trusted proxy said X-Forwarded-Proto: https */
    bool loopback;    /* the direct peer is on loopback, and no field says that a proxy stands in between */
    bool local;       /* came in on the control socket (a Unix socket) */
};

/* One request, from its head to its reply. Slices are valid until it is answered. */
struct http_request {
    enum http_method method;
    struct str method_text;
    struct str target; /* origin-form: path and query */
    struct str path;   /* percent-encoded as sent; "" never */
    struct str query;  /* without '?'; STR_NONE if there was none */
    const struct http_header *headers;
    size_t header_count;
    struct str body; /* complete, de-chunked, when `request` is called; empty if none */
    bool has_body;   /* Content-Length above 0 or chunked */
    size_t body_max; /* HTTP_MAX_BODY; `head` may change it */
    struct http_peer peer;
    struct arena arena; /* the request's own; freed after the reply was sent */
    struct mail mail;   /* free for the handler's use with net_post */
    void *user;         /* the handler's */
};

/* The first field of that name (case-insensitive), STR_NONE without one. *ret_count (may be NULL): how many of them. */
struct str http_header(const struct http_request *r, struct str name, size_t *ret_count);

/* What the server asks of its user. Every function runs on the request's loop thread; loop is 0..threads-1. */
struct http_handler {
    void *ctx;
    /* The head is complete, the body not yet read (100-continue not yet sent): may answer at once with http_reply, or
     * return to have the body read. After an early answer the connection closes, unless there is no body or all of it
     * has come in already. */
    void (*head)(void *ctx, struct http_request *r, unsigned loop);
    /* The whole request is there. Must answer with http_reply, now or later. */
    void (*request)(void *ctx, struct http_request *r, unsigned loop);
    /* The server refuses it: framing, limits, time-outs, or a peer that went away while its body was read (the answer
     * then goes nowhere). The handler composes the answer (the table row `why` names the status) and calls http_reply;
     * the connection closes after it. What was parsed so far is in r, the rest empty. So every r that `head` was given
     * is answered by exactly one http_reply. */
    void (*refuse)(void *ctx, struct http_request *r, enum err why, unsigned loop);
    /* A loop thread starts, is about to sleep, and ends. May be NULL. */
    void (*thread_start)(void *ctx, unsigned loop);
    void (*thread_idle)(void *ctx, unsigned loop);
    void (*thread_stop)(void *ctx, unsigned loop);
};

/* Answers r, on its loop thread, exactly once. `head` is complete header lines ("Name: value\r\n"…) without
 * Content-Length, Connection and Date, which the server adds. `body` is sent only if the method was not HEAD and the
 * status allows one. Both are copied or sent before the call returns. r is gone afterwards. A request whose peer has
 * gone is answered all the same: its memory lives until then. A peer for whom more than 16 MiB wait is cut off, and
 * when more waits for all peers together than http.output_memory_mb, the one that has taken longest. */
void http_reply(struct http_request *r, int status, struct str head, struct str body);
/* The same with a body that outlives the server and never changes: it is sent from where it is, however slow the peer.
 */
void http_reply_constant(struct http_request *r, int status, struct str head, struct str body);
/* Any thread: runs mail->run on r's loop thread. */
void http_post(struct http_request *r, struct mail *mail);

struct http_server;

/* The listeners of config (https, http; an empty address leaves one out) and a control socket (path, mode 0600; NULL:
 * none), served by config's threads. c is not kept. ret_why as in config_load: an address in use, a certificate that
 * does not fit its key, ... */
enum err http_server_new(const struct config *c, const char *control_path, struct http_handler handler,
                         struct http_server **ret, char **ret_why) CHECKED;
/* Accepts connections, those that have waited since http_server_new among them. ret_why: the kernel's reason. */
enum err http_server_start(struct http_server *s, char **ret_why) CHECKED;
const char *http_server_https(const struct http_server *s); /* "127.0.0.1:8443", NULL without one */
const char *http_server_http(const struct http_server *s);
/* Reads certificate and key again; keeps the old ones if they do not load (ERR_USAGE, ret_why as above). */
enum err http_server_reload(struct http_server *s, char **ret_why) CHECKED;
/* Graceful: stops accepting, answers everything accepted (at most wait_ms), closes idle connections. Blocks until the
 * loop threads have ended. */
void http_server_stop(struct http_server *s, int wait_ms);
/* Stops it if need be. Requests that are still unanswered, and mail posted to them, are gone afterwards: whatever might
 * post must have ended. */
void http_server_free(struct http_server *s);
