/* Many concurrent POST requests to URLs that clients have given, on one thread: libcurl's multi interface over epoll.
 *
 * HTTPS only, TLS 1.2 or later, no redirects, no proxies, no cookies. Connections are kept for a second or two. A
 * request is sent at most once: if its connection breaks, the request has failed. Only the status of an answer matters;
 * it is valid once the head is complete. The body is skipped, and a long one is cut off. The address guard
 * (net/guard.h) checks every address before the connection. */
#pragma once
#include <curl/curl.h>

#include "base/err.h"
#include "base/str.h"

struct net_poster;

struct net_poster_options {
    bool allow_private; /* no address guard */
    bool verify_tls;
    long timeout_ms;       /* for everything: name, connection, TLS, answer; unless the request has its own */
    long connections_kept; /* idle ones included */
    const char *type;      /* the field of all bodies, "Content-Type: …"; NULL: of JSON. Must outlive the poster */
};

#define NET_POST_HEADERS_MAX  5
#define NET_RETRY_AFTER_MAX_S 86400

/* One request. It must stay valid until `done`, which may free it. */
struct net_post {
    const char *url;
    struct str body;
    const char *headers[NET_POST_HEADERS_MAX]; /* further lines, "Name: value"; NULL: none */
    long timeout_ms;                           /* 0: the poster's */
    void (*done)(struct net_post *p);
    void *context; /* for `done` */

    /* For `done`. */
    long status;         /* of the final answer; 0 without a complete head */
    const char *failure; /* without a status, one word: timeout resolve address connect tls url broken */
    bool timed_out;      /* with or without a status */
    long retry_after_s;  /* from Retry-After, at most NET_RETRY_AFTER_MAX_S; 0: not sent, or a date */

    /* The poster's. */
    CURL *curl;
    struct net_post *previous, *next;
    struct curl_slist lines[NET_POST_HEADERS_MAX];
    size_t head_bytes, body_bytes;
    bool refused, sent;
};

/* `wake_fd`: net_poster_wait returns when it is readable. */
enum err net_poster_new(const struct net_poster_options *options, int wake_fd, struct net_poster **ret) CHECKED;
/* Aborts the running requests without calling `done`. */
void net_poster_free(struct net_poster *p);

/* Starts a request. If it fails with ERR_IO (no memory), `done` is not called. */
enum err net_poster_start(struct net_poster *p, struct net_post *post) CHECKED;
/* Waits for the network or wake_fd, at most wait_ms, processes the events, and calls `done` for each finished request.
 * `done` may start others. Returns true if the thread is overloaded: a new request would only wait behind others. */
bool net_poster_wait(struct net_poster *p, int wait_ms);
