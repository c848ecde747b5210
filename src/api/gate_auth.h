/* Authentication: the Authorization header to a principal, through a thread's cache. */
#pragma once
#include "api/gate.h"

/* ERR_AUTH_REQUIRED, ERR_INVALID_KEY or ERR_AUTHENTICATION_REQUIRED; fills q->who. */
enum err gate_authenticate(struct gate_cache *cache, struct request *q) CHECKED;
