/* How a building greets a visitor, opens the door and rings its residents, and which callers may use its grants.
 * `release`, `ring` and `callers` are the objects of BuildingSettings (BUILDING-34 to BUILDING-40). */
#pragma once
#include "base/config.h"
#include "store/store.h"

enum greeting {
    GREETING_WELCOME,
    GREETING_GRANTED,
    GREETING_DENIED,
    GREETING_FORWARDING,
    GREETING_MESSAGE,
    GREETING_COUNT
};

enum release_mode {
    RELEASE_AUTO,   /* RFC 4733 events where the call box negotiated them, else in-band */
    RELEASE_EVENTS, /* as RELEASE_AUTO, but the fallback to in-band is noted in the call's record */
    RELEASE_INBAND,
    RELEASE_INFO, /* SIP INFO */
    RELEASE_MODE_COUNT
};
extern const char *const release_mode_names[]; /* NULL-terminated */

/* How the release tone is sent. */
struct release {
    int64_t length_ms, gap_ms; /* of a key, and between two */
    int64_t delay_ms;          /* before the first */
    int64_t repeat;            /* how often the whole tone is sent */
    enum release_mode mode;
    bool before_greeting; /* before greeting_granted, not after it */
};

#define RING_NUMBERS_MAX 4 /* of the settings, besides the building's forwarding phone */
#define RING_MEMBERS_MAX 5 /* phones of members */
#define RING_PHONES_MAX  (RING_NUMBERS_MAX + RING_MEMBERS_MAX)
#define RING_SECONDS     30

enum ring_strategy { RING_ALL, RING_ORDER, RING_STRATEGY_COUNT };
extern const char *const ring_strategy_names[]; /* NULL-terminated */

/* The phones that ring in a forwarded call, besides the building's forwarding phone. */
struct ring {
    struct str numbers[1 + RING_PHONES_MAX]; /* E.164, in the arena; first the ones that ring */
    size_t count;
    size_t quiet;        /* numbers behind those, left out because of quiet hours */
    bool quiet_browsers; /* browsers are left out, too */
    bool resting;        /* nobody rings who is in quiet hours: others do */
    enum ring_strategy strategy;
    int64_t seconds; /* how long a phone rings */
    bool accept;     /* the person who answers must press 1 to talk. Default: with more than one phone */
    bool message;    /* the visitor may leave a message when nobody talks */
};

#define CALLERS_MAX 20 /* listed numbers */

enum callers_mode { CALLERS_ANY, CALLERS_LISTED, CALLERS_MODE_COUNT };
extern const char *const callers_mode_names[]; /* NULL-terminated */

enum callers_others { CALLERS_FORWARD, CALLERS_REJECT, CALLERS_OTHERS_COUNT };
extern const char *const callers_others_names[]; /* NULL-terminated */

/* The callers whose calls may use a building's grants. */
struct callers {
    enum callers_mode mode;
    struct str numbers[CALLERS_MAX]; /* in the arena */
    size_t count;
    enum callers_others others; /* the end of other calls */
};

/* A change of all. -1 and STR_NONE: unchanged. */
struct door_patch {
    int64_t length_ms, gap_ms, delay_ms, repeat, mode, before_greeting;
    struct str numbers; /* separated by spaces; "": none */
    int64_t strategy, seconds, accept, message;
    int64_t callers_mode, callers_others;
    struct str callers_numbers; /* as `numbers` */
    int64_t say_opening;        /* a visitor hears when a right code opens next */
};
extern const struct door_patch door_unchanged;

/* The settings of a row, whose texts they borrow, with the defaults in place of NULL. `others`: the
 * phones that ring besides the row's. */
struct release release_read(const struct row_release *r, const struct config *config);
struct ring ring_read(const struct row_ring *r, size_t others);
struct callers callers_read(const struct row_callers *r);

/* Whether calls from this number may use grants. A leading + makes no difference. */
bool callers_allow(const struct callers *c, struct str from);
