/* The door of a building: the facts for a decision, and the records of one. */
#pragma once
#include "domain/access.h"
#include "domain/access_guard.h"
#include "domain/grant.h"

struct door {
    struct access_decision decision; /* without verdict and reason */
    struct str label;
    struct str owner_phone;   /* the account's verified phone; STR_NONE: not verified */
    struct str forward_phone; /* also in quiet hours, when it is not decision.forward_to */
    bool say_opening;         /* a visitor hears when a right code opens next */
    unsigned lacks;           /* parts of READY_DOOR; 0: grants open it */
    enum access_audio audio;
    struct guard guard; /* the state of the caller's group */
    struct callers callers;
    bool noticed; /* someone wants notices of the building */
    /* Filled by the records, for door_tell. */
    unsigned notices; /* bits (domain/notice.h) */
    struct str used;  /* label of the grant */
    int remaining_uses;
    int64_t closed_minutes;
};

/* Read the door of a virtual number or of a building, for a call from `from`. Fail with ERR_NOT_FOUND. */
enum err door_by_number(struct tx *tx, struct str number, struct str from, struct door *ret) CHECKED;
enum err door_by_building(struct tx *tx, const struct id *building, struct str from, struct door *ret) CHECKED;

/* A grant that is usable now. */
struct usable {
    struct id id;
    enum grant_type type;
    bool pass;
    struct str label;
    int remaining_uses; /* or GRANT_UNLIMITED */
    bool voice;
    char code[GRANT_CODE_MAX + 1]; /* padded with zeros, for a comparison in constant time */
    int64_t ends_us;               /* or GRANT_NO_END */
    struct row_schedule times;     /* as stored, as the next: read by door_schedule() */
    struct str windows;
};

/* The windows of a usable grant. A code's are read only once it matches: most of a building's do not. */
struct schedule door_schedule(const struct usable *grant);

/* The usable grants of one type, oldest first, in the arena. */
enum err door_usable(struct tx *tx, const struct door *door, enum grant_type type, const struct usable **ret,
                     size_t *ret_count) CHECKED;

/* Takes a use of the grant, and writes the log entry, the last buzz, the known caller and the events of a release. */
enum err door_record_release(struct tx *tx, struct door *door, const struct usable *grant) CHECKED;
/* Records a wrong code: log entry, event, guard. ret->minutes is not 0 if the code closed the keypad to the group. */
enum err door_record_wrong_code(struct tx *tx, struct door *door, bool spoken, struct guard_closing *ret) CHECKED;
/* Records a right code outside its window, of a caller who has opened this door before: a log entry of its grant. */
enum err door_record_outside(struct tx *tx, const struct door *door, const struct access_decision *d) CHECKED;
/* A forwarding at at_us, now or earlier. */
enum err door_record_forward(struct tx *tx, const struct door *door, int64_t at_us) CHECKED;
/* Records the moment for notices, after all other records. */
enum err door_tell(struct tx *tx, const struct door *door) CHECKED;
