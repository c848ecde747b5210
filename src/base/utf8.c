#include "base/utf8.h"

#define HIGHEST     0x10ffff
#define NON_JOINER  0x200c
#define JOINER      0x200d
#define IN(c, list) is_within(c, list, sizeof(list) / sizeof *(list))

struct range {
    uint32_t from, to;
};

static const struct range commanding[] = {
    {0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},
    {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x2064},   {0x2066, 0x206f},   {0xfeff, 0xfeff},
    {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f},
};
static const struct range spaces[] = {
    {0x09, 0x0d},     {0x20, 0x20},     {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
    {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000},
};

static bool is_within(uint32_t c, const struct range *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c >= list[i].from && c <= list[i].to)
            return true;
    return false;
}

size_t utf8_read(const char *p, size_t n, uint32_t *ret)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    const unsigned char *bytes = (const unsigned char *)p;
    for (size_t i = 0; n && i < sizeof forms / sizeof *forms; i++) {
        if ((bytes[0] & forms[i].mask) != forms[i].lead)
            continue;
        uint32_t c = bytes[0] & (unsigned char)~forms[i].mask;
        for (size_t j = 1; j <= i; j++) {
            if (j >= n || (bytes[j] & 0xc0) != 0x80)
                return 0;
            c = c << 6 | (bytes[j] & 0x3f);
        }
        if (c < forms[i].least || c > HIGHEST || (c >= 0xd800 && c < 0xe000))
            return 0;
        *ret = c;
        return i + 1;
    }
    return 0;
}

bool utf8_commands(uint32_t c)
{
    return c != NON_JOINER && c != JOINER && IN(c, commanding);
}

bool utf8_is_space(uint32_t c)
{
    return IN(c, spaces);
}
