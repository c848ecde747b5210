/* Which requests below /app come from a page of the same host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/door_site.h"

struct sender {
    const char *site, *second_site, *origin, *second_origin; /* NULL: not sent */
    bool reads, writes;                                      /* expected: GET passes, others pass */
};

static const struct sender senders[] = {
    {"same-origin", NULL, NULL, NULL, true, true},
    {"same-origin", NULL, "https://door.example", NULL, true, true},
    {"same-site", NULL, NULL, NULL, false, false},
    {"same-site", NULL, "https://door.example", NULL, false, false},
    {"cross-site", NULL, "https://door.example", NULL, false, false},
    {"none", NULL, NULL, NULL, false, false},
    {"", NULL, NULL, NULL, false, false},
    {"Same-Origin", NULL, NULL, NULL, false, false},
    {"same-origin", "same-origin", NULL, NULL, false, false},
    {"same-origin", "cross-site", NULL, NULL, false, false},
    {NULL, NULL, NULL, NULL, true, false},
    {NULL, NULL, "https://door.example", NULL, true, true},
    {NULL, NULL, "https://DOOR.example", NULL, true, true},
    {NULL, NULL, "https://door.example", "https://door.example", false, false},
    {NULL, NULL, "http://door.example", NULL, false, false},
    {NULL, NULL, "https://door.example:444", NULL, false, false},
    {NULL, NULL, "https://door.example.evil.example", NULL, false, false},
    {NULL, NULL, "https://evil.example", NULL, false, false},
    {NULL, NULL, "https://", NULL, false, false},
    {NULL, NULL, "null", NULL, false, false},
    {NULL, NULL, "", NULL, false, false},
};

static size_t put(struct http_header *headers, size_t n, struct str name, const char *value)
{
    if (value)
        headers[n++] = (struct http_header){name, str_z(value)};
    return n;
}

static bool passes(const struct sender *s, enum http_method method)
{
    struct http_header headers[5];
    size_t n = put(headers, 0, STR("Host"), "door.example");
    n = put(headers, n, STR("Sec-Fetch-Site"), s->site);
    n = put(headers, n, STR("sec-fetch-site"), s->second_site);
    n = put(headers, n, STR("Origin"), s->origin);
    n = put(headers, n, STR("Origin"), s->second_origin);
    struct http_request r = {.method = method, .headers = headers, .header_count = n};
    struct request q = {.http = &r};
    const enum err e = site_check(&q);
    assert_true(!e || e == ERR_CROSS_SITE_REQUEST);
    return !e;
}

/* KEY-32 */
static void only_a_page_of_the_same_host_may_send_a_request(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof senders / sizeof *senders; i++)
        for (enum http_method method = 0; method <= HTTP_OTHER; method++) {
            const bool reads = method == HTTP_GET || method == HTTP_HEAD;
            if (passes(&senders[i], method) != (reads ? senders[i].reads : senders[i].writes))
                fail_msg("row %zu, method %d", i, (int)method);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_a_page_of_the_same_host_may_send_a_request)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
