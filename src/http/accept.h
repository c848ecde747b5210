/* A listening socket of one loop: accepts connections within the limits of the counter. */
#pragma once
#include "http/conn.h"

enum http_listen_kind { HTTP_LISTEN_TLS, HTTP_LISTEN_PLAIN, HTTP_LISTEN_CONTROL, HTTP_LISTEN_KINDS };

struct http_listener {
    struct http_conns *conns;
    int fd; /* -1: none */
    enum http_listen_kind kind;
    bool paused; /* out of descriptors */
    struct event ev;
};

enum err http_listener_start(struct http_listener *l) CHECKED;
/* Accepts the connections that wait in the kernel, then closes. */
void http_listener_stop(struct http_listener *l);
/* Tries again after a lack of descriptors. */
void http_listener_resume(struct http_listener *l);
