/* Identifiers (decisions section 1): 24 lower-case hex of 4 bytes Unix seconds, 5 random bytes fixed per process start
 * and a 3-byte counter. IDs of one process ascend in the order they were made, also when the clock stands still or the
 * counter wraps (the seconds part then runs ahead). */
#pragma once
#include "base/arena.h"

#define ID_LEN       24
#define ID_BYTES_LEN (ID_LEN / 2)

/* An ID by value: NUL-terminated text. The empty string means "none". */
struct id {
    char text[ID_LEN + 1];
};

struct id id_new(int64_t now_us);
/* The lowest ID of that second: what was made earlier is below it. */
struct id id_first(int64_t at_us);
/* From 24 hex characters of either case, to lower; false for anything else. */
bool id_parse(struct str s, struct id *ret);

/* An ID as the 12 bytes it is made of: they sort as its text does. */
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
