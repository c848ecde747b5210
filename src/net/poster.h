/* Many POST requests at once to receivers that clients have named, on one thread: libcurl's multi interface over epoll.
 *
 * HTTPS only, TLS 1.2 or later, no redirects, no proxies, no cookies. Connections are kept for a second or two. A
 * request goes out once at most: it has failed, too, when the connection it went out on was closed. What counts of an
 * answer is its status: it counts once the head is complete, a body is skipped, and cut where it is long. The address
 * guard (net/guard.h) judges every address that is connected to. */
#pragma once
#include <curl/curl.h>

#include "base/err.h"
#include "base/str.h"

struct net_poster;

struct net_poster_options {
    bool allow_private; /* no address guard */
    bool verify_tls;
    long timeout_ms;       /* for everything: name, connection, TLS, answer */
    long connections_kept; /* idle ones included */
};

/* One request. The poster keeps a pointer to it until `done`, which may free it. */
struct net_post {
    const char *url;
    struct str body;    /* application/json */
    const char *header; /* one line more: "Name: value" */
    void (*done)(struct net_post *p);
    void *context; /* for `done` */

    /* For `done`. */
    long status;         /* of a final answer whose head is complete; 0: none came */
    const char *failure; /* without status, in a word: timeout resolve address connect tls url broken */
    bool timed_out;      /* with or without a status */

    /* The poster's. */
    CURL *curl;
    struct net_post *previous, *next;
    struct curl_slist line;
    size_t head_bytes, body_bytes;
    bool refused, sent;
};

/* `wake_fd`: net_poster_wait returns when it is readable. */
enum err net_poster_new(const struct net_poster_options *options, int wake_fd, struct net_poster **ret) CHECKED;
/* Breaks off what is under way: `done` is not called for it. */
void net_poster_free(struct net_poster *p);

/* Starts a request. On failure (ERR_IO: no memory), `done` is not called. */
enum err net_poster_start(struct net_poster *p, struct net_post *post) CHECKED;
/* Waits for the network or the wake_fd, wait_ms at most, and does what there is to do; calls `done` of requests that
 * have ended. A `done` may start others. True if it could not keep up: there was so much to do at once that a new
 * request would only wait behind it. */
bool net_poster_wait(struct net_poster *p, int wait_ms);
