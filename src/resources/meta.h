/* The body of GET /v1/health, also for a service that has no routes yet. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

/* Appends the body of GET /v1/health. `started_us`: monotonic. */
void meta_write_health(const char *public_url, int64_t started_us, struct arena *a, struct buf *out);
