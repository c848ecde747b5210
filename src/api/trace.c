#include "api/trace.h"

#include <string.h>

#define VERSION_0_LEN 55 /* "00-" 32 digits "-" 16 digits "-" 2 digits */

static bool is_hex(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    return true;
}

static bool is_zero(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '0')
            return false;
    return true;
}

/* A later version may add fields at the end. */
bool trace_parse(struct str value, struct trace *ret)
{
    if (value.n < VERSION_0_LEN)
        return false;
    const struct str version = str_n(value.p, 2), trace = str_n(value.p + 3, 32), parent = str_n(value.p + 36, 16),
                     flags = str_n(value.p + 53, 2);
    const bool is_0 = str_eq(version, STR("00"));
    if (!is_hex(version) || str_eq(version, STR("ff")) || value.p[2] != '-' || value.p[35] != '-' || value.p[52] != '-')
        return false;
    if (value.n > VERSION_0_LEN && (is_0 || value.p[VERSION_0_LEN] != '-'))
        return false;
    if (!is_hex(trace) || is_zero(trace) || !is_hex(parent) || is_zero(parent) || !is_hex(flags))
        return false;
    memcpy(ret->trace_id, trace.p, trace.n);
    memcpy(ret->parent_id, parent.p, parent.n);
    memcpy(ret->flags, flags.p, flags.n);
    ret->trace_id[trace.n] = ret->parent_id[parent.n] = ret->flags[flags.n] = '\0';
    return true;
}

void trace_read(const struct http_request *r, struct trace *ret)
{
    size_t count = 0;
    const struct str value = http_header(r, STR("traceparent"), &count);
    if (count != 1 || !trace_parse(value, ret))
        *ret = (struct trace){0};
}
