/* Authentication: turns the credential of a request into a principal, through a thread's cache. */
#pragma once
#include "api/gate.h"

/* Fills q->who. Fails with ERR_AUTH_REQUIRED, ERR_INVALID_KEY or ERR_AUTHENTICATION_REQUIRED. */
enum err gate_authenticate(struct gate_cache *cache, struct request *q) CHECKED;
