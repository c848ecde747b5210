/* How long an answer may be kept (RFC 9111). */
#pragma once
#include <stdint.h>

#include "base/str.h"

#define NET_CACHE_UNSAID (-1)

/* Seconds for which a cache that several users share may keep an answer with this Cache-Control, all lines joined by
 * commas. 0: it may not. NET_CACHE_UNSAID: the field does not say. */
int64_t net_cache_s(struct str cache_control);
