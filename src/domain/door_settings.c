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

const char *const callers_mode_names[] = {
    [CALLERS_ANY] = "any",
    [CALLERS_LISTED] = "listed",
    [CALLERS_MODE_COUNT] = NULL,
};

const char *const callers_others_names[] = {
    [CALLERS_FORWARD] = "forward",
    [CALLERS_REJECT] = "reject",
    [CALLERS_OTHERS_COUNT] = NULL,
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
                                          .message = -1,
                                          .callers_mode = -1,
                                          .callers_others = -1};

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

/* Splits numbers that are separated by spaces. Returns how many. */
static size_t split_numbers(struct str text, struct str *ret, size_t max)
{
    size_t count = 0;
    while (text.n && count < max)
        ret[count++] = str_cut(text, ' ', &text);
    return count;
}

struct ring ring_read(const struct cursor *c, int at, bool phone, struct arena *a)
{
    struct ring r = {
        .strategy = (enum ring_strategy)col_int_or(c, at + COL_RING_RING_STRATEGY, RING_ALL),
        .seconds = col_int_or(c, at + COL_RING_RING_SECONDS, RING_SECONDS),
        .message = col_int_or(c, at + COL_RING_RING_MESSAGE, 0) != 0,
    };
    r.count = split_numbers(col_copy(c, at + COL_RING_RING_NUMBERS, a), r.numbers, RING_NUMBERS_MAX);
    r.accept = col_int_or(c, at + COL_RING_RING_ACCEPT, r.count + phone > 1) != 0;
    return r;
}

struct callers callers_read(const struct cursor *c, int at, struct arena *a)
{
    struct callers r = {
        .mode = (enum callers_mode)col_int_or(c, at + COL_CALLERS_CALLERS_MODE, CALLERS_ANY),
        .others = (enum callers_others)col_int_or(c, at + COL_CALLERS_CALLERS_OTHERS, CALLERS_FORWARD),
    };
    r.count = split_numbers(col_copy(c, at + COL_CALLERS_CALLERS_NUMBERS, a), r.numbers, CALLERS_MAX);
    return r;
}

static struct str digits_of(struct str number)
{
    return str_starts(number, STR("+")) ? str_from(number, 1) : number;
}

bool callers_allow(const struct callers *c, struct str from)
{
    bool listed = c->mode == CALLERS_ANY;
    for (size_t i = 0; i < c->count && !listed; i++)
        listed = str_eq(digits_of(c->numbers[i]), digits_of(from));
    return listed;
}
