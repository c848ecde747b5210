/* Content that does not change while the service runs, in several codings, and what a client prefers of it. */
#pragma once
#include "http/request.h"

enum http_coding { HTTP_CODING_BR, HTTP_CODING_GZIP, HTTP_CODING_NONE, HTTP_CODINGS };

#define HTTP_TAG_MAX 40

struct http_content {
    struct str body[HTTP_CODINGS]; /* STR_NONE: not available; HTTP_CODING_NONE always is */
    /* Strong entity tags with their quotes. A strong tag identifies the bytes, so each coding has another. */
    char tag[HTTP_CODINGS][HTTP_TAG_MAX];
};

/* The value of Content-Encoding; NULL for HTTP_CODING_NONE. */
const char *http_coding_name(enum http_coding coding);

/* The available coding that the client prefers (RFC 9110 section 12.5.3), the smaller of two that it likes equally.
 * "*" does not choose br: a client that can read it says so. */
enum http_coding http_content_choose(const struct http_content *c, const struct http_header *headers, size_t count);

/* True if If-None-Match contains the tag (with its quotes), by weak comparison, or "*" (RFC 9110 section 13.1.2). */
bool http_has_tag(const struct http_header *headers, size_t count, struct str tag);

/* The index of the language that the client prefers by Accept-Language (RFC 9110 section 12.5.4), 0 if it names none of
 * them. `languages` are NULL-terminated primary subtags such as "en"; "es-MX" asks for "es". */
size_t http_language(const struct http_header *headers, size_t count, const char *const *languages);
