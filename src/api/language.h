/* The language of texts for whoever sends a request. */
#pragma once
#include "api/request.h"
#include "domain/notice.h"
#include "http/content.h"

/* Of those that notices have, the one that Accept-Language prefers. */
static inline struct str request_language(const struct request *q)
{
    return str_z(notice_languages[http_language(q->http->headers, q->http->header_count, notice_languages)]);
}
