/* Lines of a building's stream as the webhook events that an endpoint gets. */
#include "client/listen_event.h"

#include "base/clock.h"
#include "base/unit.h"

#define ID   "6b018faceb9d0c2ba6000002"
#define HEAD "{\"seq\":7,\"at\":\"2026-07-01T12:00:00.000Z\",\"building_id\":\"6b018faceb9d0c2ba6000001\","
#define USED "\"unlock_id\":\"" ID "\",\"label\":\"Dog \\\"walker\\\"\",\"reason\":\"passcode\","

static struct remote_building building(void)
{
    struct remote_building b = {.label = STR("Home")};
    assert_true(id_parse(STR("6b018faceb9d0c2ba6000001"), &b.id));
    return b;
}

static const struct {
    const char *line;
    size_t count;
    enum event_type types[LISTEN_EVENTS_MAX];
    const char *parts[4]; /* of the first event's data */
} lines[] = {
    {HEAD USED "\"type\":\"call.released\",\"remaining_uses\":3}",
     1,
     {EVENT_ACCESS_GRANTED},
     {"\"building_label\":\"Home\"", "\"unlock_type\":\"passcode\"", "\"label\":\"Dog \\\"walker\\\"\"",
      "\"remaining_uses\":3"}},
    {HEAD USED "\"type\":\"call.released\",\"remaining_uses\":null}",
     1,
     {EVENT_ACCESS_GRANTED},
     {"\"remaining_uses\":null"}},
    {HEAD USED "\"type\":\"call.released\"}", 1, {EVENT_ACCESS_GRANTED}, {"\"remaining_uses\":null"}},
    {HEAD USED "\"type\":\"call.released\",\"remaining_uses\":0}",
     2,
     {EVENT_ACCESS_GRANTED, EVENT_UNLOCK_NO_USES_REMAINING},
     {"\"remaining_uses\":0", "\"occurred_at\":\"2026-07-01T12:00:00.000Z\""}},
    {HEAD "\"type\":\"call.forwarded\",\"reason\":\"no_grant\"}",
     1,
     {EVENT_ACCESS_CALL_FORWARDED},
     {"\"building_id\":"}},
    {HEAD "\"type\":\"call.code_wrong\",\"other\":[1]}", 1, {EVENT_ACCESS_DENIED}, {"\"occurred_at\":"}},
    /* of no webhook event */
    {HEAD "\"type\":\"call.ring\"}", 0, {0}, {NULL}},
    {HEAD "\"type\":\"grant.created\"}", 0, {0}, {NULL}},
    {HEAD "\"type\":\"call.released\"}", 0, {0}, {NULL}},
    {"{\"type\":\"call.forwarded\"}", 0, {0}, {NULL}},
    {"[]", 0, {0}, {NULL}},
    {"", 0, {0}, {NULL}},
    {HEAD "\"type\":5}", 0, {0}, {NULL}},
};

static void a_line_is_the_events_that_an_endpoint_would_get(void **state)
{
    (void)state;
    const struct remote_building b = building();
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct arena a;
        struct listen_event events[LISTEN_EVENTS_MAX] = {0};
        arena_init(&a, NULL, 0);
        const size_t count = listen_events(&b, str_z(lines[i].line), &a, events);
        if (count != lines[i].count)
            fail_msg("%s: %zu events", lines[i].line, count);
        for (size_t k = 0; k < count; k++)
            assert_int_equal(events[k].type, lines[i].types[k]);
        for (size_t k = 0; k < COUNT(lines[i].parts) && lines[i].parts[k]; k++)
            if (!memmem(events[0].data.p, events[0].data.n, lines[i].parts[k], strlen(lines[i].parts[k])))
                fail_msg("no %s in %.*s", lines[i].parts[k], STR_ARG(events[0].data));
        if (count == 2)
            assert_true(events[1].created_us >= events[0].created_us &&
                        strcmp(events[0].id.text, events[1].id.text) != 0);
        arena_done(&a);
    }
}

static void an_event_keeps_its_id_when_it_is_read_again(void **state)
{
    (void)state;
    struct remote_building b = building();
    struct arena a;
    struct listen_event first[LISTEN_EVENTS_MAX], again[LISTEN_EVENTS_MAX], other[LISTEN_EVENTS_MAX];
    const char *next = "{\"seq\":8,\"at\":\"2026-07-01T12:00:00.000Z\",\"type\":\"call.forwarded\"}";
    arena_init(&a, NULL, 0);
    assert_int_equal(listen_events(&b, STR(HEAD "\"type\":\"call.forwarded\"}"), &a, first), 1);
    b.label = STR("Renamed");
    assert_int_equal(listen_events(&b, STR(HEAD "\"type\":\"call.forwarded\"}"), &a, again), 1);
    assert_int_equal(listen_events(&b, str_z(next), &a, other), 1);
    assert_string_equal(first[0].id.text, again[0].id.text);
    assert_string_not_equal(first[0].id.text, other[0].id.text);
    assert_int_equal(strlen(first[0].id.text), 28);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_the_events_that_an_endpoint_would_get),
        cmocka_unit_test(an_event_keeps_its_id_when_it_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
