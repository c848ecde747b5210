/* Scope names in request and reply bodies. */
#pragma once
#include "base/arena.h"
#include "base/val.h"

/* All scopes, NULL-terminated, for field tables. */
extern const char *const scope_values[];
/* The names of scope bits, as a list in the arena. */
struct val scope_list(struct arena *a, uint32_t scopes);
