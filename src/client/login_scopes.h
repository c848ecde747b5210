/* The scopes of the key that `portero login` makes. */
#pragma once
#include "base/arena.h"

#define LOGIN_SCOPES "account:read,access:read,access:write,logs:read"
/* A person at a terminal also sets up the door. */
#define LOGIN_SCOPES_TYPED LOGIN_SCOPES ",setup:write"

/* Whether a key for programs can have this scope. */
bool login_is_scope(struct str word);
/* All such scopes, separated by a comma and a blank, in the arena. */
struct str login_all_scopes(struct arena *a);
