/* The language of texts for whoever sends a request. */
#pragma once
#include "api/request.h"
#include "domain/notice.h"
#include "http/content.h"

/* The language of notices that Accept-Language prefers. */
static inline struct str request_language(const struct request *q)
{
    return str_z(notice_languages[http_language(q->http->headers, q->http->header_count, notice_languages)]);
}
