#include "net/cache.h"

#define SECONDS_MOST 2147483648u /* a greater number means this one (section 1.2.2) */

/* The number of max-age=N, also in quotes. Other text than a number is 0: stale (section 4.2.1). */
static int64_t delta_seconds(struct str value)
{
    uint64_t s;
    if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
        value = str_n(value.p + 1, value.n - 2);
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] < '0' || value.p[i] > '9')
            return 0;
    if (!value.n)
        return 0;
    return str_to_u64(value, SECONDS_MOST, &s) ? (int64_t)s : (int64_t)SECONDS_MOST;
}

int64_t net_cache_s(struct str cache_control)
{
    int64_t most = NET_CACHE_UNSAID, shared = NET_CACHE_UNSAID;
    for (struct str rest = cache_control; rest.p;) {
        struct str value, directive = str_trim(str_cut(rest, ',', &rest));
        const struct str name = str_trim(str_cut(directive, '=', &value));
        if (str_eqi(name, STR("no-store")) || str_eqi(name, STR("no-cache")) || str_eqi(name, STR("private")))
            return 0;
        if (str_eqi(name, STR("max-age")) && most == NET_CACHE_UNSAID)
            most = delta_seconds(str_trim(value));
        if (str_eqi(name, STR("s-maxage")) && shared == NET_CACHE_UNSAID)
            shared = delta_seconds(str_trim(value));
    }
    return shared != NET_CACHE_UNSAID ? shared : most;
}
