#include "base/str.h"

#include <ctype.h>

bool str_to_u64(struct str s, uint64_t max, uint64_t *ret)
{
    uint64_t v = 0;
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(s.p[i] - '0');
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v) || v > max)
            return false;
    }
    *ret = v;
    return true;
}

bool str_is_id(struct str s)
{
    if (s.n != 24)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!isxdigit((unsigned char)s.p[i]))
            return false;
    return true;
}

int str_index(struct str s, const char *const *names)
{
    for (int i = 0; names[i]; i++) {
        if (str_eq(s, str_z(names[i])))
            return i;
    }
    return -1;
}
