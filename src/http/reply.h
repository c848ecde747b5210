/* The head of an HTTP/1.1 response: the status line and the fields that the server adds. */
#pragma once
#include <stdint.h>

#include "base/buf.h"

#define HTTP_DATE_LINE (sizeof "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n" - 1)

/* The Date field, formatted once a second. Zeroed at first. */
struct http_date {
    int64_t at_s;
    char line[HTTP_DATE_LINE + 1];
};

/* RFC 9110 section 6.4.1: whether a response of that status may have content. */
bool http_status_has_content(int status);
/* Writes the status line, Date, Content-Length and Connection to b. `option` is the Connection option, NULL without
 * one. The caller adds its own fields and the empty line. */
void http_reply_head(struct buf *b, struct http_date *date, int status, size_t content_length, const char *option);
/* The same for a 200 whose body ends with the connection. */
void http_stream_head(struct buf *b, struct http_date *date);
