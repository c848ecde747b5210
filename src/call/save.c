#include "call/save.h"

#include <assert.h>
#include <glib.h>
#include <string.h>

enum saved_type { SAVED_INT, SAVED_INT64, SAVED_SIZE, SAVED_BOOL, SAVED_TEXT };

/* A member, or an array of them. */
struct saved {
    const char *name;
    enum saved_type type;
    size_t offset;
    size_t size;   /* of SAVED_TEXT: bytes, NUL included */
    int64_t max;   /* of a number; none is negative */
    size_t count;  /* of an array; 0: one value */
    size_t stride; /* from one element to the next */
};

#define OF(member)   .offset = offsetof(struct call, member)
#define IN(member)   .offset = offsetof(struct story, member)
#define TEXT(member) SAVED_TEXT, IN(member), .size = sizeof((struct story *)0)->member
#define LAST(name)   ((int64_t)(name)-1)
#define MANY         1000000
#define TONE_KEYS    "0123456789#*" /* the answers of webhooks have them as they are */

static_assert(sizeof(enum call_state) == sizeof(int) && sizeof(enum release_mode) == sizeof(int), "enums are ints");

static const struct saved call_members[] = {
    {"state", SAVED_INT, OF(state), .max = CALL_OVER},
    {"outcome", SAVED_INT, OF(outcome), .max = CALL_OWNER},
    {"reason", SAVED_INT, OF(reason), .max = LAST(ACCESS_REASON_COUNT)},
    {"building", SAVED_TEXT, OF(building_id), .size = sizeof(struct id)},
    {"grant", SAVED_TEXT, OF(grant_id), .size = sizeof(struct id)},
    {"near", SAVED_TEXT, OF(near[0].grant_id), .size = sizeof(struct id), .count = ACCESS_NEAR_MAX,
     .stride = sizeof(struct access_near)},
    {"near_why", SAVED_INT, OF(near[0].why), .max = NEAR_OUTSIDE_WINDOW, .count = ACCESS_NEAR_MAX,
     .stride = sizeof(struct access_near)},
    {"near_count", SAVED_SIZE, OF(near_count), .max = ACCESS_NEAR_MAX},
    {"hung_up", SAVED_BOOL, OF(hung_up)},
    {"known", SAVED_BOOL, OF(known)},
    {"answered", SAVED_BOOL, OF(answered)},
    {"speech", SAVED_BOOL, OF(speech)},
    {"keys", SAVED_INT, OF(keys), .max = MANY},
    {"spoken", SAVED_INT, OF(spoken), .max = MANY},
    {"unclear", SAVED_INT, OF(unclear), .max = MANY},
    {"wrong", SAVED_INT, OF(wrong), .max = MANY},
    {"incomplete", SAVED_INT, OF(incomplete), .max = MANY},
    {"lengths", SAVED_INT, OF(lengths), .max = MANY},
    {"denied", SAVED_BOOL, OF(denied)},
    {"opening", SAVED_TEXT, OF(opening), .size = CALL_OPENING_MAX},
    {"opened", SAVED_BOOL, OF(opened)},
    {"tones", SAVED_TEXT, OF(tones), .size = sizeof((struct call *)0)->tones},
    {"length_ms", SAVED_INT64, OF(release.length_ms), .max = 10000},
    {"gap_ms", SAVED_INT64, OF(release.gap_ms), .max = 10000},
    {"delay_ms", SAVED_INT64, OF(release.delay_ms), .max = 10000},
    {"repeat", SAVED_INT64, OF(release.repeat), .max = 10},
    {"mode", SAVED_INT, OF(release.mode), .max = LAST(RELEASE_MODE_COUNT)},
    {"before_greeting", SAVED_BOOL, OF(release.before_greeting)},
    /* An earlier program knows the first ones alone, as below. */
    {"phones", SAVED_TEXT, OF(ring.phones), .size = CALL_NUMBER_MAX, .count = 1 + RING_NUMBERS_MAX,
     .stride = CALL_NUMBER_MAX},
    {"more_phones", SAVED_TEXT, OF(ring.phones[1 + RING_NUMBERS_MAX]), .size = CALL_NUMBER_MAX,
     .count = RING_MEMBERS_MAX, .stride = CALL_NUMBER_MAX},
    {"phone_count", SAVED_SIZE, OF(ring.count), .max = CALL_PHONES_MAX},
    {"quiet_count", SAVED_SIZE, OF(ring.quiet), .max = CALL_PHONES_MAX},
    {"quiet_browsers", SAVED_BOOL, OF(ring.quiet_browsers)},
    {"barred", SAVED_INT, OF(barred), .max = BARRED_DESTINATION},
    {"spent", SAVED_BOOL, OF(spent)},
    {"minutes", SAVED_INT64, OF(ring.minutes), .max = MANY},
    {"strategy", SAVED_INT, OF(ring.strategy), .max = LAST(RING_STRATEGY_COUNT)},
    {"seconds", SAVED_INT64, OF(ring.seconds), .max = MANY},
    {"accept", SAVED_BOOL, OF(ring.accept)},
    {"message", SAVED_BOOL, OF(ring.message)},
    {"recordings", SAVED_TEXT, OF(recordings), .size = sizeof(struct id), .count = GREETING_MESSAGE,
     .stride = sizeof(struct id)},
    {"greetings", SAVED_TEXT, OF(greetings), .size = CALL_TEXT_MAX, .count = GREETING_MESSAGE, .stride = CALL_TEXT_MAX},
    {"message_recording", SAVED_TEXT, OF(recordings[GREETING_MESSAGE]), .size = sizeof(struct id)},
    {"message_greeting", SAVED_TEXT, OF(greetings[GREETING_MESSAGE]), .size = CALL_TEXT_MAX},
};

static const struct saved story_members[] = {
    {"id", TEXT(arrival.id)},
    {"started_us", SAVED_INT64, IN(arrival.started_us), .max = INT64_MAX},
    {"front", SAVED_INT, IN(arrival.front), .max = CALL_FRONT_WEBHOOK},
    {"source", TEXT(arrival.source)},
    {"dialled", TEXT(arrival.dialled)},
    {"caller", TEXT(arrival.caller)},
    {"account", TEXT(end.account_id)},
    {"building", TEXT(end.building_id)},
    {"outcome", SAVED_INT, IN(end.outcome), .max = CALL_RECORD_FORWARDED},
    {"reason", SAVED_INT, IN(end.reason), .max = LAST(ACCESS_REASON_COUNT)},
    {"grant", TEXT(end.grant_id)},
    {"opened", SAVED_BOOL, IN(end.resident_opened)},
    {"minutes", SAVED_INT64, IN(end.minutes), .max = MANY},
    {"ended_by", SAVED_INT, IN(end.ended_by), .max = CALL_ENDED_STOP},
    {"recorded", SAVED_BOOL, IN(recorded)},
    {"ended", SAVED_BOOL, IN(ended)},
    {"omitted", SAVED_INT, IN(omitted), .max = MANY},
    {"fed", SAVED_SIZE, IN(fed), .max = CALL_RECORD_STEPS_MAX},
};

static json_t *save_value(const struct saved *m, const char *at)
{
    switch (m->type) {
    case SAVED_INT:
        return json_integer(*(const int *)(const void *)at);
    case SAVED_INT64:
        return json_integer(*(const int64_t *)(const void *)at);
    case SAVED_SIZE:
        return json_integer((json_int_t) * (const size_t *)(const void *)at);
    case SAVED_BOOL:
        return json_boolean(*(const bool *)at);
    case SAVED_TEXT:
        return json_string(at);
    }
    return NULL;
}

/* Zero, false or "": not saved, as a member that is missing is read as that. */
static bool is_unset(const struct saved *m, const char *from)
{
    static const size_t sizes[] = {[SAVED_INT] = sizeof(int),
                                   [SAVED_INT64] = sizeof(int64_t),
                                   [SAVED_SIZE] = sizeof(size_t),
                                   [SAVED_BOOL] = sizeof(bool),
                                   [SAVED_TEXT] = 1};
    static const char zero[sizeof(int64_t)];
    const char *at = from + m->offset;
    for (size_t i = 0; i < (m->count ? m->count : 1); i++)
        if (memcmp(at + i * m->stride, zero, sizes[m->type]) != 0)
            return false;
    return true;
}

static json_t *save_member(const struct saved *m, const void *from)
{
    const char *at = (const char *)from + m->offset;
    if (!m->count)
        return save_value(m, at);
    json_t *list = json_array();
    for (size_t i = 0; i < m->count; i++)
        json_array_append_new(list, save_value(m, at + i * m->stride));
    return list;
}

static json_t *save_members(const struct saved *members, size_t count, const void *from)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        if (!is_unset(&members[i], from) &&
            json_object_set_new(object, members[i].name, save_member(&members[i], from))) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

json_t *call_save(const struct call *c)
{
    return save_members(call_members, G_N_ELEMENTS(call_members), c);
}

json_t *call_save_story(const struct story *s)
{
    json_t *object = save_members(story_members, G_N_ELEMENTS(story_members), s);
    if (object && json_object_set_new(object, "steps", json_stringn(s->steps, s->n))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static bool load_text(const json_t *value, size_t size, char *at)
{
    const size_t n = json_string_length(value);
    if (!json_is_string(value) || n >= size)
        return false;
    memcpy(at, json_string_value(value), n + 1);
    return true;
}

static bool load_value(const struct saved *m, const json_t *value, char *at)
{
    const json_int_t number = json_integer_value(value);
    if (m->type == SAVED_TEXT)
        return load_text(value, m->size, at);
    if (m->type == SAVED_BOOL) {
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value);
    }
    if (!json_is_integer(value) || number < 0 || number > m->max)
        return false;
    if (m->type == SAVED_INT)
        *(int *)(void *)at = (int)number;
    else if (m->type == SAVED_INT64)
        *(int64_t *)(void *)at = number;
    else
        *(size_t *)(void *)at = (size_t)number;
    return true;
}

static bool load_member(const struct saved *m, const json_t *value, void *to)
{
    char *at = (char *)to + m->offset;
    if (!m->count)
        return load_value(m, value, at);
    if (json_array_size(value) != m->count)
        return false;
    for (size_t i = 0; i < m->count; i++)
        if (!load_value(m, json_array_get(value, i), at + i * m->stride))
            return false;
    return true;
}

static bool load_members(const struct saved *members, size_t count, const json_t *object, void *to)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(object, members[i].name);
        if (value && !load_member(&members[i], value, to))
            return false;
    }
    return json_is_object(object);
}

bool call_load(const json_t *object, struct call *ret)
{
    struct call c;
    call_init(&c);
    if (!load_members(call_members, G_N_ELEMENTS(call_members), object, &c) ||
        c.ring.count + c.ring.quiet > CALL_PHONES_MAX || strspn(c.tones, TONE_KEYS) != strlen(c.tones))
        return false;
    *ret = c;
    return true;
}

bool call_load_story(const json_t *object, struct story *ret)
{
    struct story s = {.n = 0};
    const json_t *steps = json_object_get(object, "steps");
    s.n = json_string_length(steps);
    if (s.n > sizeof s.steps || !load_members(story_members, G_N_ELEMENTS(story_members), object, &s))
        return false;
    if (s.n)
        memcpy(s.steps, json_string_value(steps), s.n);
    *ret = s;
    return true;
}
