/* application/x-www-form-urlencoded: bodies of providers' webhooks, and the decoding that query strings share. */
#pragma once
#include "base/arena.h"

#define FORM_MEDIA STR("application/x-www-form-urlencoded")

struct form_field {
    struct str name, value;
};

struct form {
    const struct form_field *fields; /* in the order of the body, in the arena */
    size_t count;
};

/* Decodes a name or a value: '+' is a space, %XX a byte, but never NUL. *ret is in the arena, NUL-terminated. False if
 * an escape is malformed. */
bool form_decode(struct str s, struct arena *a, struct str *ret);

/* Reads a whole body. False for more than `max` fields, a field without a name or without '=', a malformed escape,
 * bytes that must be escaped (white space, controls, bytes above 0x7e), and text that is not UTF-8. An empty body has
 * no fields. */
bool form_read(struct str body, size_t max, struct arena *a, struct form *ret);

/* The value of the only field of that name; STR_NONE without it, and if there are several. */
struct str form_value(const struct form *f, const char *name);
