/* Scope texts in bodies. */
#pragma once
#include "base/arena.h"
#include "base/val.h"

/* Every scope, NULL-terminated, for field tables. */
extern const char *const scope_values[];
/* The texts of scope bits, as a list in the arena. */
struct val scope_list(struct arena *a, uint32_t scopes);
