/* The texts sent to a trunk: a server of the configuration, and numbers of buildings and residents. The input is lines:
 * the server, the number that is called, the one that calls, and the one that is diverted. */
#include <assert.h>
#include <string.h>

#include "base/config_check.h"
#include "base/str.h"
#include "sip/trunk.h"
#include "sip/trunk_form.h"

/* A header or URI must not contain anything that ends it. */
static void is_one_line(const char *text, const char *also)
{
    assert(!strpbrk(text, "\r\n<>\" ") && !strpbrk(text, also));
}

static void form(const char *const line[4])
{
    static const char *const numbers[] = {"e164", "plain", "national", "international"};
    static const char *const ids[] = {"from", "p_asserted_identity", "both"};
    static const char *const diversions[] = {"none", "diversion", "history_info"};
    for (size_t i = 0; i < 4; i++) {
        struct sip_route r;
        const struct config_peer p = {.server = line[0],
                                      .domain = "",
                                      .transport = "tcp",
                                      .user = "user",
                                      .number_out = numbers[i],
                                      .caller_id = ids[i % 3],
                                      .diversion = diversions[i % 3],
                                      .country_code = "44",
                                      .national_prefix = "0",
                                      .international_prefix = "00"};
        if (!sip_trunk_form(&p, line[1], line[2], line[3], &r))
            continue;
        is_one_line(r.uri, ",?");
        is_one_line(r.from, ",;?");
        assert(!*r.headers || strcmp(r.headers + strlen(r.headers) - 2, "\r\n") == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    char text[1024], *rest = text;
    const char *line[4];
    struct sip_server server;
    if (n >= sizeof text)
        return 0;
    memcpy(text, p, n);
    text[n] = '\0';
    for (size_t i = 0; i < 4; i++)
        line[i] = rest ? strsep(&rest, "\n") : "";
    if (!config_is_server(line[0]))
        return 0;
    sip_server_parse(line[0], &server);
    assert(*server.host && !strpbrk(server.host, "[]/@ "));
    form(line);
    return 0;
}
