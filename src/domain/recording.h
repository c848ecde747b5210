/* Recorded greetings, played to visitors in place of the texts (PHONE-47). */
#pragma once
#include "domain/settings.h"

#define RECORDING_RATE 8000                  /* samples a second, a byte each: mu-law */
#define RECORDING_MAX  (20 * RECORDING_RATE) /* bytes */

extern const char *const recording_names[]; /* of enum greeting: "welcome" …; NULL-terminated */

struct recording {
    enum greeting which;
    struct id id; /* another one after each change */
    int64_t created_at_us;
    int64_t length; /* bytes */
};

/* Stores the recording in place of an earlier one, and tells the feed, as recording_remove does. Fails with
 * ERR_BUILDING_NOT_FOUND, or with ERR_BAD_REQUEST if it is empty or too long. */
enum err recording_put(struct tx *tx, const struct id *building, enum greeting which, struct str audio) CHECKED;
/* The building's recordings, at most one for each greeting. Fails with ERR_BUILDING_NOT_FOUND. */
enum err recording_list(struct tx *tx, const struct id *building, struct recording ret[static GREETING_COUNT],
                        size_t *ret_count) CHECKED;
/* Which greeting of the building has this recording. Fails with ERR_BUILDING_NOT_FOUND or ERR_NOT_FOUND. */
enum err recording_find(struct tx *tx, const struct id *building, const struct id *recording,
                        enum greeting *ret) CHECKED;
/* Fails with ERR_NOT_FOUND. */
enum err recording_remove(struct tx *tx, const struct id *building, enum greeting which) CHECKED;
/* The audio, in the arena. Fails with ERR_NOT_FOUND. */
enum err recording_audio(struct tx *tx, const struct id *recording, struct str *ret) CHECKED;
