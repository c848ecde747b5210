/* HTTP/1.1 on one connection: takes requests from its input one after the other and gives them to the handler. */
#pragma once
#include "http/body.h"
#include "http/conn.h"
#include "http/parse.h"

#define HTTP_ARENA_FIRST 3072

/* A request and what the server keeps with it. Pooled: only the part before `headers` is cleared for reuse. */
struct http_exchange {
    struct http_request r; /* first: the handler's pointer is ours */
    struct http_conn *conn;
    struct http_framing framing;
    struct http_body body;
    bool complete;  /* the body was read, or there is none */
    bool refused;   /* the connection closes after the reply */
    bool skip_body; /* the whole body is in the buffer, so an early answer need not close */
    struct http_header headers[HTTP_MAX_HEADERS];
    _Alignas(16) char arena[HTTP_ARENA_FIRST];
};

/* Something has changed: input is there, output has drained, or a reply was made. Goes on as far as it can. A
 * connection with gathered output is settled when that is sent. */
void http_session_run(struct http_conn *c);
/* Decides what the connection waits for, once its output is on its way. c may be gone afterwards. */
void http_session_settle(struct http_conn *c);
/* Reads what there is, unless output is in the way, and has the session run in this turn. */
void http_session_input(struct http_conn *c);
/* Refuses what has arrived of a request (408), whose reply closes the connection. */
void http_session_timeout(struct http_conn *c);
/* The connection broke: a request the handler has seen but not yet wholly got is refused, so that it can let go. */
void http_session_broken(struct http_conn *c);
/* The handler has answered: its request ends. */
void http_session_answered(struct http_conn *c);
/* Gives back the read buffer. */
void http_session_release(struct http_conn *c);
