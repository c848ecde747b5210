/* Authentication: turns the Authorization header into a principal, through a thread's cache. */
#pragma once
#include "api/gate.h"

/* Fills q->who. Fails with ERR_AUTH_REQUIRED, ERR_INVALID_KEY or ERR_AUTHENTICATION_REQUIRED. */
enum err gate_authenticate(struct gate_cache *cache, struct request *q) CHECKED;
/* The hash by which the request's key, or its cookie's, is stored. Fails as gate_authenticate does without a key. */
enum err gate_key_hash(struct request *q, unsigned char ret[static SHA256_LEN]) CHECKED;
