/* A building's release tone and greetings, edited together (contract, Setup and settings; decisions section 5). */
#pragma once
#include "domain/building.h"
#include "domain/principal.h"
#include "domain/tx.h"

#define GREETING_MAX 119 /* UTF-16 code units */

enum greeting { GREETING_WELCOME, GREETING_GRANTED, GREETING_DENIED, GREETING_FORWARDING, GREETING_COUNT };

/* What is said while the building has no greeting of its own (`stored` is STR_NONE): the configuration's. */
struct str greeting_or_default(const struct config *config, enum greeting which, struct str stored);

#define SETTINGS_VERSION_LEN 64 /* hex */

struct settings {
    struct str number;                    /* STR_NONE: unprovisioned, then the tone and the version are none as well */
    struct str unlock_tone;               /* STR_NONE while not set */
    struct str greetings[GREETING_COUNT]; /* the default where the building has none */
    struct str version; /* SETTINGS_VERSION_LEN hex: SHA-256 over what is stored and the row's version */
};

/* ERR_BUILDING_NOT_FOUND. */
enum err settings_get(struct tx *tx, const struct id *account, const struct id *building, struct settings *ret) CHECKED;

struct settings_patch {
    struct str unlock_tone; /* STR_NONE: unchanged; valid */
    struct str greetings[GREETING_COUNT];
};

/* Changes what is given and answers the new state. `linked`: the building is not the account's primary one. Errors, in
 * this order: ERR_NUMBER_OWNER_REQUIRED (an invited member), ERR_MULTI_BUILDING_REQUIRED (linked, without an active
 * subscription), ERR_BUILDING_NOT_FOUND, ERR_NUMBER_NOT_FOUND (unprovisioned), ERR_SETTINGS_VERSION_CONFLICT. */
enum err settings_patch(struct tx *tx, const struct principal *who, const struct id *building, bool linked,
                        struct str version, const struct settings_patch *patch, struct settings *ret) CHECKED;

enum setup_status { SETUP_AWAITING_NUMBER, SETUP_TO_DO, SETUP_BUZZ_RECORDED };

/* What the building's owner has to do next, and the text that says so, in the arena. */
enum setup_status setup_status(const struct building *building);
const char *setup_status_text(enum setup_status status);
struct str setup_instructions(const struct building *building, struct arena *a);
