/* JSON: strict parsing with jansson, and writing into a buffer.
 *
 * INVALID_JSON (HTTP-7): syntax errors, invalid UTF-8, duplicate members, more than 32 nested containers,
 * trailing bytes, NUL characters, numbers out of range. A number below 2^53 without a fraction is an integer in any
 * notation (5, 5.0, 5e0); numbers are IEEE 754 doubles (RFC 8259 section 6). */
#pragma once
#include <jansson.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define JSON_MAX_DEPTH 32

/* Parses one JSON text of any type. The caller releases *ret with json_decref. Fails with ERR_INVALID_JSON. */
enum err json_read(struct str text, json_t **ret) CHECKED;

/* Gives the value to the arena, which releases it at its end. */
void json_keep(struct arena *a, json_t *value);

/* Appends the canonical form: members sorted by key, no white space, normalised numbers and escapes. Bodies that are
 * equal as JSON have equal canonical forms (GRANT-13, idempotency). */
void json_canonical(const json_t *value, struct buf *out);

/* Appends UTF-8 text as a quoted, escaped JSON string. */
void json_put_str(struct buf *b, struct str s);
/* Appends a quoted RFC 3339 UTC time with milliseconds: "2026-11-20T09:30:00.000Z". */
void json_put_time(struct buf *b, int64_t at_us);
