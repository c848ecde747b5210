/* The line of section `privacy` on pages that are shown without a session. */
#pragma once
#include "base/arena.h"
#include "base/config.h"
#include "base/str.h"

/* Markup in the arena: a link with these words, and the contact. STR_NONE if the configuration has neither. */
struct str privacy_line(const struct config *config, struct str words, struct arena *a);
