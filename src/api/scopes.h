/* Scope names in request and reply bodies. */
#pragma once
#include "base/arena.h"
#include "base/val.h"

/* All scopes of the current revision, of the earlier one, and of both; NULL-terminated, for field tables. */
extern const char *const scope_values[], *const scope_values_earlier[], *const scope_values_all[];
#define SCOPE_VALUES 9 /* of the current revision */
/* The names of scope bits, as a list in the arena. */
struct val scope_list(struct arena *a, uint32_t scopes);
/* The texts, separated by spaces (RFC 6749 section 3.3), in the arena. */
struct str scope_words(struct arena *a, uint32_t scopes);
