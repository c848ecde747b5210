/* Identifiers (HTTP-15): 24 lower-case hexadecimal characters of 4 bytes of Unix seconds, 5 random bytes
 * chosen at the start of the process and a 3-byte counter. The IDs of a process ascend in the order of creation, even
 * if the clock does not advance or the counter wraps: the seconds then run ahead of the clock. That ends where they are
 * over a minute ahead: the clock was wrong and has been set back. IDs then follow it, as after a start, and get other
 * random bytes, so that they stay unique. */
#pragma once
#include "base/arena.h"

#define ID_LEN       24
#define ID_BYTES_LEN (ID_LEN / 2)
#define ID_ABOVE_ALL STR("g") /* sorts after the text of every ID */

/* An ID as NUL-terminated text; empty: no ID. */
struct id {
    char text[ID_LEN + 1];
};

struct id id_new(int64_t now_us);
/* The lowest ID of that second; all IDs created earlier are lower. */
struct id id_first(int64_t at_us);
/* Parses 24 hexadecimal characters of either case into lower case; false otherwise. */
bool id_parse(struct str s, struct id *ret);

/* An ID as its 12 bytes, which sort as the text does. */
struct id_bytes {
    unsigned char p[ID_BYTES_LEN];
};

struct id_bytes id_to_bytes(const struct id *id);
struct id id_from_bytes(const unsigned char bytes[static ID_BYTES_LEN]);
static inline struct str id_str(const struct id *id)
{
    return (struct str){id->text[0] ? id->text : NULL, id->text[0] ? ID_LEN : 0};
}
static inline bool id_given(const struct id *id)
{
    return id->text[0] != '\0';
}
static inline bool id_equal(const struct id *a, const struct id *b)
{
    return str_eq(id_str(a), id_str(b));
}
