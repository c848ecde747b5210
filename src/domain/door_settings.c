#include "domain/door_settings.h"

#include "domain/row.h"

const char *const release_mode_names[] = {
    [RELEASE_AUTO] = "auto", [RELEASE_EVENTS] = "events", [RELEASE_INBAND] = "inband",
    [RELEASE_INFO] = "info", [RELEASE_MODE_COUNT] = NULL,
};

const char *const ring_strategy_names[] = {
    [RING_ALL] = "all",
    [RING_ORDER] = "order",
    [RING_STRATEGY_COUNT] = NULL,
};

const struct door_patch door_unchanged = {.length_ms = -1,
                                          .gap_ms = -1,
                                          .delay_ms = -1,
                                          .repeat = -1,
                                          .mode = -1,
                                          .before_greeting = -1,
                                          .strategy = -1,
                                          .seconds = -1,
                                          .accept = -1,
                                          .message = -1};

struct release release_read(const struct cursor *c, int at, const struct config *config)
{
    return (struct release){
        .length_ms = col_int_or(c, at + COL_RELEASE_RELEASE_LENGTH_MS, config->voice_tone_ms),
        .gap_ms = col_int_or(c, at + COL_RELEASE_RELEASE_GAP_MS, config->voice_tone_gap_ms),
        .delay_ms = col_int_or(c, at + COL_RELEASE_RELEASE_DELAY_MS, 0),
        .repeat = col_int_or(c, at + COL_RELEASE_RELEASE_REPEAT, 1),
        .mode = (enum release_mode)col_int_or(c, at + COL_RELEASE_RELEASE_MODE, RELEASE_AUTO),
        .before_greeting = col_int_or(c, at + COL_RELEASE_RELEASE_BEFORE_GREETING, 0) != 0,
    };
}

struct ring ring_read(const struct cursor *c, int at, bool phone, struct arena *a)
{
    struct ring r = {
        .strategy = (enum ring_strategy)col_int_or(c, at + COL_RING_RING_STRATEGY, RING_ALL),
        .seconds = col_int_or(c, at + COL_RING_RING_SECONDS, RING_SECONDS),
        .message = col_int_or(c, at + COL_RING_RING_MESSAGE, 0) != 0,
    };
    struct str rest = col_copy(c, at + COL_RING_RING_NUMBERS, a);
    while (rest.n && r.count < RING_NUMBERS_MAX) {
        const char *end = memchr(rest.p, ' ', rest.n);
        const size_t n = end ? (size_t)(end - rest.p) : rest.n;
        r.numbers[r.count++] = str_n(rest.p, n);
        rest = str_from(rest, end ? n + 1 : n);
    }
    r.accept = col_int_or(c, at + COL_RING_RING_ACCEPT, r.count + phone > 1) != 0;
    return r;
}
