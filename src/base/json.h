/* JSON: strict reading through jansson, writing straight into a buffer.
 *
 * Reading refuses what decisions section 1 lists under INVALID_JSON: syntax errors, invalid UTF-8, duplicate members,
 * more than 32 nested containers, trailing bytes, NUL, numbers out of range. A number without a fraction is an integer
 * however it is written (5, 5.0, 5e0), below 2^53; numbers are read as IEEE 754 doubles (RFC 8259 section 6). */
#pragma once
#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

#define JSON_MAX_DEPTH 32

/* Parses one JSON text of any type. On success the caller owns *ret (json_decref). ERR_INVALID_JSON otherwise. */
enum err json_read(struct str text, json_t **ret) CHECKED;

/* The canonical form of a JSON text: members sorted by key, no white space, numbers and escapes normalised. Two bodies
 * that are equal as JSON have equal canonical forms (decisions section 6, idempotency). Appends to out. */
void json_canonical(const json_t *value, struct buf *out);

/* A quoted, escaped JSON string of UTF-8 text. */
void json_put_str(struct buf *b, struct str s);
/* A quoted RFC 3339 UTC time with milliseconds: "2026-11-20T09:30:00.000Z". */
void json_put_time(struct buf *b, int64_t at_us);
