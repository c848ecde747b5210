/* The building at whose door a decision is made, and what the decision leaves behind. */
#pragma once
#include "domain/access.h"
#include "domain/access_guard.h"
#include "domain/grant.h"

struct door {
    struct access_decision decision; /* verdict not set: accounts, tones, greetings, phone */
    struct str label;
    struct str owner_phone; /* the account's verified phone, STR_NONE without one */
    bool ready;             /* set up and subscribed: grants open it */
    struct guard guard;     /* of the caller's group */
};

/* By virtual number, or by ID, as somebody calls from `from`. ERR_NOT_FOUND. */
enum err door_by_number(struct tx *tx, struct str number, struct str from, struct door *ret) CHECKED;
enum err door_by_building(struct tx *tx, const struct id *building, struct str from, struct door *ret) CHECKED;

/* A grant that may be used now. */
struct usable {
    struct id id;
    enum grant_type type;
    struct str label;
    int remaining_uses; /* or GRANT_UNLIMITED */
    bool voice;
    char code[GRANT_CODE_MAX + 1]; /* zeros behind the digits */
    struct schedule schedule;
};

/* Every usable grant of one type, oldest first. */
enum err door_usable(struct tx *tx, const struct door *door, enum grant_type type, const struct usable **ret,
                     size_t *ret_count) CHECKED;

/* Takes a use and records the release: log entry, last buzz, known caller, events. */
enum err door_record_release(struct tx *tx, const struct door *door, const struct usable *grant) CHECKED;
/* Records a wrong code; *ret says whether it closed the keypad to the caller's group. */
enum err door_record_wrong_code(struct tx *tx, struct door *door, struct guard_closing *ret) CHECKED;
enum err door_record_forward(struct tx *tx, const struct door *door) CHECKED;
