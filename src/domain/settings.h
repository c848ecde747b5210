/* The release tone and the greetings of a building (contract, Setup and settings; BUILDING-41 to BUILDING-44). */
#pragma once
#include "domain/building.h"
#include "domain/door_settings.h"
#include "domain/principal.h"
#include "domain/tx.h"

#define GREETING_MAX 119 /* UTF-16 code units */

/* The stored greeting, or the configured default if `stored` is STR_NONE. */
struct str greeting_or_default(const struct config *config, enum greeting which, struct str stored);

#define SETTINGS_VERSION_LEN 64 /* hex */
#define CALLERS_KNOWN_MAX    10

struct settings {
    struct str number;      /* STR_NONE: not provisioned yet; then unlock_tone and version are STR_NONE too */
    struct str unlock_tone; /* STR_NONE: not set */
    struct str greetings[GREETING_COUNT]; /* the building's or the default */
    struct release release;
    struct ring ring;
    struct callers callers;
    bool say_opening;
    struct str known[CALLERS_KNOWN_MAX]; /* numbers that released the door, the last one first */
    size_t known_count;
    struct str label;
    struct building_address address; /* without a city: not known */
    struct str call_box_name;        /* in the directory of the call box; STR_NONE: not known */
    struct str timezone;             /* IANA name; STR_NONE: not set */
    struct str phone;                /* the forwarding phone that was given for the building; STR_NONE: the account's */
    struct str version; /* SETTINGS_VERSION_LEN hex: SHA-256 of the stored settings and the row's version */
};

/* In the arena. Fails with ERR_BUILDING_NOT_FOUND. */
enum err settings_get(struct tx *tx, const struct id *account, const struct id *building, struct settings *ret) CHECKED;

struct settings_patch {
    struct str unlock_tone; /* STR_NONE: unchanged; must be valid */
    struct str greetings[GREETING_COUNT];
    struct door_patch door;
    struct str label;                       /* STR_NONE: unchanged */
    const struct building_address *address; /* NULL: unchanged; normalised, or without a city for none */
    struct val call_box_name;               /* not given: unchanged; null: none */
    struct str timezone;                    /* STR_NONE: unchanged */
    struct str timezone_else;               /* for a building that has none */
    struct val phone;                       /* not given: unchanged; null: the account's */
};

/* Changes the settings that are given; *ret is the new state. `linked`: the building is not the primary one. Fails, in
 * this order, with ERR_NUMBER_OWNER_REQUIRED (an invited member), ERR_MULTI_BUILDING_REQUIRED (linked, without an
 * active subscription), ERR_BUILDING_NOT_FOUND, ERR_NUMBER_NOT_FOUND (not provisioned yet),
 * ERR_SETTINGS_VERSION_CONFLICT, ERR_FORWARDING_PHONE_NOT_VERIFIED, ERR_INVALID_SETTINGS (a number to ring is the
 * building's own, the zone is not known, or no caller would be listed). */
enum err settings_patch(struct tx *tx, const struct principal *who, const struct id *building, bool linked,
                        struct str version, const struct settings_patch *patch, struct settings *ret) CHECKED;

/* Gives the account's first building this time zone, unless it has one, or the zone is not known (BUILDING-33). */
enum err settings_first_zone(struct tx *tx, const struct id *account, struct str timezone) CHECKED;
