/* The form of a log record with log.format = json. */
#pragma once
#include <stddef.h>

/* Writes the record as one line, a JSON object: `time` (omitted if NULL), `level`, `message` (its words up to the first
 * key), and a member for each `key=value` of the message. Values are strings, but for keys whose value is always a
 * number. A word that looks like a key is part of the value before it if that key was there already, so a value cannot
 * replace another. Invalid UTF-8 becomes U+FFFD. The end of a record that is too long is left out. Returns the length;
 * `size` must be at least 256. */
size_t log_json(char *ret, size_t size, const char *time, const char *level, const char *message);
