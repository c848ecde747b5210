#include "client/listen_replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"

struct moment {
    struct val at;
};
static const struct field moment_fields[] = {FIELD(struct moment, at, T_TIME, .flags = F_REQUIRED)};
static const struct shape moment_shape = SHAPE(struct moment, "Moment", moment_fields);

static bool read_replay_time(const char *text, int64_t *ret_us)
{
    struct arena a;
    struct moment m;
    struct schema_fault fault;
    json_t *object = json_pack("{s:s}", "at", text);
    arena_init(&a, NULL, 0);
    const bool read = object && schema_read(&moment_shape, object, ERR_BAD_REQUEST, &a, &m, &fault);
    if (read)
        *ret_us = m.at.i;
    arena_done(&a);
    json_decref(object);
    return read;
}

bool listen_choice_read(const char *text, int64_t now_us, struct listen_choice *ret)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
    uint64_t n;
    const size_t digits = strspn(text, "0123456789");
    if (!str_to_u64(str_n(text, digits), 86400, &n)) {
        *ret = (struct listen_choice){0};
        return read_replay_time(text, &ret->since_us);
    }
    if (!text[digits]) {
        *ret = (struct listen_choice){.count = (int64_t)n};
        return n > 0 && n <= LISTEN_REPLAY_MAX;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (text[digits] == units[i].unit && !text[digits + 1]) {
            *ret = (struct listen_choice){.since_us = now_us - (int64_t)n * units[i].seconds * US_PER_S};
            return true;
        }
    *ret = (struct listen_choice){0};
    return read_replay_time(text, &ret->since_us);
}

/* Asks in the middle of the bounds; once they meet, at the one that works. */
static int64_t ask_next(struct listen_search *s, int64_t at)
{
    s->done = s->works - s->fails <= 1;
    s->asked = s->done ? s->works : s->fails + (s->works - s->fails) / 2;
    return s->asked == at ? -1 : s->asked;
}

int64_t listen_search_step(struct listen_search *s, int64_t at)
{
    if (s->done)
        return -1;
    if (!s->begun) {
        *s = (struct listen_search){.begun = true, .newest = at, .works = at};
        s->asked = at > LISTEN_REPLAY_MAX ? at - LISTEN_REPLAY_MAX : 0;
        s->fails = s->asked - 1;
        s->done = s->asked == at;
        return s->done ? -1 : s->asked;
    }
    if (at == s->asked)
        s->works = at;
    else
        s->fails = s->asked;
    return ask_next(s, at);
}
