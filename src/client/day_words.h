/* Days of the week as people type them. */
#pragma once
#include "base/json.h"

#define DAY_WORDS_DOC "; also weekdays, weekend, daily, and mon-fri"

/* "sunday" …, as the interface names them; NULL-terminated. */
extern const char *const day_words_names[];

/* The days of "weekdays", "mon,tue", "fri-mon" as names of the interface, from sunday: a new reference. A word that is
 * not understood stays as it is, for the check, whose message lists the valid words. */
json_t *day_words_read(struct str text);
