/* Access to the sandbox without a key: local programs and pages of the sandbox, but no page of another origin. */
#include "base/unit.h"

#include "api/gate_loopback.h"
#include "api/route.h"

struct caller {
    const char *what;
    bool loopback, page;
    const char *host, *origin, *site, *mode, *dest;
    enum err e;
};

static size_t put(struct http_header *h, size_t n, const char *name, const char *value)
{
    if (value)
        h[n++] = (struct http_header){str_z(name), str_z(value)};
    return n;
}

static enum err check(const struct caller *c)
{
    static const struct config config = {.top_public_url = "https://door.example.com:8443/"};
    const struct route route = {.credential = CRED_LOOPBACK, .flags = c->page ? ROUTE_PAGE : 0};
    struct http_header headers[5];
    size_t n = put(headers, 0, "Host", c->host);
    n = put(headers, n, "Origin", c->origin);
    n = put(headers, n, "Sec-Fetch-Site", c->site);
    n = put(headers, n, "Sec-Fetch-Mode", c->mode);
    n = put(headers, n, "Sec-Fetch-Dest", c->dest);
    struct http_request r = {.headers = headers, .header_count = n, .peer = {.loopback = c->loopback, .secure = true}};
    struct request q = {.http = &r, .route = &route, .tx = {.config = &config}};
    return gate_check_loopback(&q);
}

#define REFUSED ERR_LOOPBACK_REQUIRED

/* SANDBOX-1 */
static void only_local_callers_of_this_origin_are_admitted(void **state)
{
    (void)state;
    static const struct caller callers[] = {
        {"a program", true, false, "localhost:8443", NULL, NULL, NULL, NULL, ERR_NONE},
        {"a program, by IPv4", true, false, "127.0.0.1", NULL, NULL, NULL, NULL, ERR_NONE},
        {"a program, by IPv6", true, false, "[::1]:8443", NULL, NULL, NULL, NULL, ERR_NONE},
        {"a program, by the public name", true, false, "Door.Example.com", NULL, NULL, NULL, NULL, ERR_NONE},
        {"another machine", false, false, "localhost", NULL, NULL, NULL, NULL, REFUSED},
        {"another machine, a page", false, true, "localhost", NULL, "none", "navigate", "document", REFUSED},
        {"a name rebound to loopback", true, false, "evil.example:8443", NULL, NULL, NULL, NULL, REFUSED},
        {"a name that begins like ours", true, false, "localhost.evil.example", NULL, NULL, NULL, NULL, REFUSED},
        {"no Host", true, false, NULL, NULL, NULL, NULL, NULL, REFUSED},
        {"the sandbox's page", true, false, "localhost:8443", "https://localhost:8443", "same-origin", "cors", "empty",
         ERR_NONE},
        {"its form, without Fetch Metadata", true, false, "localhost:8443", "https://localhost:8443", NULL, NULL, NULL,
         ERR_NONE},
        {"a script of another site", true, false, "localhost:8443", "https://evil.example", "cross-site", "cors",
         "empty", REFUSED},
        {"a form of another site", true, false, "localhost:8443", "https://evil.example", "cross-site", "navigate",
         "document", REFUSED},
        {"an image of another site", true, true, "localhost:8443", NULL, "cross-site", "no-cors", "image", REFUSED},
        {"a frame of another site", true, true, "localhost:8443", NULL, "cross-site", "navigate", "iframe", REFUSED},
        {"another port of this machine", true, false, "localhost:8443", "https://localhost:9999", "same-site", "cors",
         "empty", REFUSED},
        {"Origin alone, of another site", true, false, "localhost:8443", "https://evil.example", NULL, NULL, NULL,
         REFUSED},
        {"plain HTTP of the same name", true, false, "localhost:8443", "http://localhost:8443", NULL, NULL, NULL,
         REFUSED},
        {"an opaque origin", true, false, "localhost:8443", "null", NULL, NULL, NULL, REFUSED},
        {"a typed address", true, true, "localhost:8443", NULL, "none", "navigate", "document", ERR_NONE},
        {"a link of another site, to a page", true, true, "localhost:8443", NULL, "cross-site", "navigate", "document",
         ERR_NONE},
        {"a link of another site, to an operation", true, false, "localhost:8443", NULL, "cross-site", "navigate",
         "document", REFUSED},
    };
    for (size_t i = 0; i < COUNT(callers); i++)
        if (check(&callers[i]) != callers[i].e)
            fail_msg("%s: %s", callers[i].what, callers[i].e ? "admitted" : "refused");
}

static void repeated_fields_are_refused(void **state)
{
    (void)state;
    static const struct config config = {.top_public_url = ""};
    const struct route route = {.credential = CRED_LOOPBACK};
    static const char *const names[] = {"Origin", "Sec-Fetch-Site"};
    static const char *const values[] = {"https://localhost", "same-origin"};
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct http_header headers[] = {
            {STR("Host"), STR("localhost")}, {str_z(names[i]), str_z(values[i])}, {str_z(names[i]), str_z(values[i])}};
        struct http_request r = {.headers = headers, .header_count = 2, .peer = {.loopback = true, .secure = true}};
        struct request q = {.http = &r, .route = &route, .tx = {.config = &config}};
        assert_int_equal(gate_check_loopback(&q), ERR_NONE);
        r.header_count = 3;
        assert_int_equal(gate_check_loopback(&q), ERR_LOOPBACK_REQUIRED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_local_callers_of_this_origin_are_admitted),
        cmocka_unit_test(repeated_fields_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
