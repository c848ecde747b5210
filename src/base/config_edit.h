/* Changes of a configuration's text, key by key. All else stays as it is: comments, order, other keys. */
#pragma once
#include "base/arena.h"

/* A key, or without `key` the whole section. `section` NULL: outside of sections. `peer`: within `peer NAME { … }` of
 * the section; NULL: in the section itself. */
struct config_place {
    const char *section, *peer, *key;
};

/* The text with `value`, as the file has it (quoted, a list), at the place: in place of the present value, or added to
 * the section, which is added if missing. The text must be one that config_read takes. In the arena. */
struct str config_edit_set(struct arena *a, struct str text, struct config_place at, struct str value);
/* The text without the part at the place, which may be empty. In the arena. */
struct str config_edit_remove(struct arena *a, struct str text, struct config_place at);
/* Appends the value as a string of the file, in quotation marks. It must not have control characters. */
struct str config_edit_quoted(struct arena *a, struct str value);
