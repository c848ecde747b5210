#include "domain/door_settings.h"

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
                                          .callers_others = -1,
                                          .say_opening = -1};

struct release release_read(const struct row_release *r, const struct config *config)
{
    return (struct release){
        .length_ms = v_int_or(r->release_length_ms, config->voice_tone_ms),
        .gap_ms = v_int_or(r->release_gap_ms, config->voice_tone_gap_ms),
        .delay_ms = v_int_or(r->release_delay_ms, 0),
        .repeat = v_int_or(r->release_repeat, 1),
        .mode = (enum release_mode)v_int_or(r->release_mode, RELEASE_AUTO),
        .before_greeting = v_bool_or(r->release_before_greeting, false),
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

struct ring ring_read(const struct row_ring *r, size_t others)
{
    struct ring ring = {
        .strategy = (enum ring_strategy)v_int_or(r->ring_strategy, RING_ALL),
        .seconds = v_int_or(r->ring_seconds, RING_SECONDS),
        .message = v_bool_or(r->ring_message, false),
    };
    ring.count = split_numbers(r->ring_numbers, ring.numbers, RING_NUMBERS_MAX);
    ring.accept = v_bool_or(r->ring_accept, ring.count + others > 1);
    return ring;
}

struct callers callers_read(const struct row_callers *r)
{
    struct callers callers = {
        .mode = (enum callers_mode)v_int_or(r->callers_mode, CALLERS_ANY),
        .others = (enum callers_others)v_int_or(r->callers_others, CALLERS_FORWARD),
    };
    callers.count = split_numbers(r->callers_numbers, callers.numbers, CALLERS_MAX);
    return callers;
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
