/* Passes as people type and read them: days, hours and dates in place of windows and times. Dates follow this
 * computer's calendar; the service reads them, and the hours, in the building's zone. */
#pragma once
#include "client/operation_row.h"

/* Options that are no fields of the body; NULL: after the last name. */
extern const struct field pass_words_fields[];

/* Whether the operation makes or changes a pass. */
bool pass_words_fit(const struct operation_row *row);

/* Replaces the words in the body, and dates and times of day in `from` and `until`, by the fields that they stand for;
 * today is a day since 1970-01-01. NULL, or what is wrong with them, for a message. */
const char *pass_words_read(json_t *body, long today);
/* Today's day by this computer's calendar. */
long pass_words_today(void);

/* Gives each pass of a list the member `opens`, a sentence, in place of its calendar. */
void pass_words_tell(json_t *rows);
