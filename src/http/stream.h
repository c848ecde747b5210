/* Responses that go on: the answer to a request begins a stream of bytes, which other parts of the service send as they
 * come, until one side ends it. While it is quiet, a stream holds neither the request nor a buffer. All functions run
 * on the loop thread of the connection, which is also the thread of the callbacks. */
#pragma once
#include "http/request.h"

#define HTTP_STREAM_BEAT_MS 15000
#define HTTP_STREAM_OUTPUT  65536 /* bytes that a peer has not read; beyond it the connection is reset */

struct http_conn;

struct http_stream_handler {
    /* Every HTTP_STREAM_BEAT_MS: sends something, so that proxies and peers see that the stream lives. May end it. */
    void (*beat)(void *user);
    /* The server stops: must end the stream. */
    void (*drain)(void *user);
    /* The peer has taken what was sent before http_stream_await(). May be NULL. */
    void (*taken)(void *user);
    /* The stream is over: its peer has left or does not read, or it was ended. The last call. */
    void (*closed)(void *user);
};

/* Answers r with 200 and this head, as http_respond does, but without a length: the end of the connection is the end of
 * the body. r is freed. Returns NULL, and `closed` is not called, if the peer has gone already. */
struct http_conn *http_stream_begin(struct http_request *r, struct str head, const struct http_stream_handler *handler,
                                    void *user);
/* Sends the bytes, which are copied. Returns false if the peer was too slow: the stream is closed then. Other streams
 * of the loop may be closed meanwhile. */
bool http_stream_send(struct http_conn *c, struct str bytes);
/* Bytes that can be sent now. */
size_t http_stream_room(const struct http_conn *c);
/* Calls `taken` once, when the peer has taken all that was sent; not from within a call of ours. */
void http_stream_await(struct http_conn *c);
/* Closes the stream after its last data. */
void http_stream_end(struct http_conn *c);
/* Where other threads post mail to the loop. It outlives the streams, until http_server_free. */
struct mailbox *http_stream_mailbox(const struct http_conn *c);
