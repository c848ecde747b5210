#include "base/id.h"

#include <pthread.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/crypto.h"

#define PART_BITS   24 /* the second is divided into so many parts */
#define PROCESS_LEN 5
#define AHEAD       (uint64_t)((CLOCK_PARTED_US / US_PER_S) << PART_BITS)

static pthread_mutex_t id_lock = PTHREAD_MUTEX_INITIALIZER; /* of both */
static unsigned char process[PROCESS_LEN];
/* The time of the last ID in parts of a second; 0: there is none, and `process` is not chosen. */
static uint64_t last;

static uint64_t parts(int64_t us)
{
    const uint64_t t = us > 0 ? (uint64_t)us : 0;
    return t / US_PER_S << PART_BITS | (t % US_PER_S << PART_BITS) / US_PER_S;
}

/* Whether the last ID has the time of a clock that was ahead. A caller whose own time is old does not show that. */
static bool last_is_ahead(uint64_t now)
{
    return last > now + AHEAD && last > parts(clock_now_us()) + AHEAD;
}

static uint64_t next(uint64_t now, unsigned char ret_process[static PROCESS_LEN])
{
    pthread_mutex_lock(&id_lock);
    if (last_is_ahead(now))
        last = 0;
    if (!last)
        crypto_random(process, sizeof process);
    last = last >= now ? last + 1 : now;
    const uint64_t mine = last;
    memcpy(ret_process, process, sizeof process);
    pthread_mutex_unlock(&id_lock);
    return mine;
}

struct id id_new(int64_t now_us)
{
    unsigned char bytes[ID_BYTES_LEN];
    uint64_t n = next(parts(now_us), bytes + ID_BYTES_LEN - PROCESS_LEN);
    for (int i = ID_BYTES_LEN - PROCESS_LEN - 1; i >= 0; i--, n >>= 8)
        bytes[i] = (unsigned char)n;
    return id_from_bytes(bytes);
}

struct id id_first(int64_t at_us)
{
    const int64_t s = at_us / US_PER_S;
    struct id id;
    snprintf(id.text, sizeof id.text, "%08x%016x", s < 0 ? 0 : s > UINT32_MAX ? UINT32_MAX : (uint32_t)s, 0U);
    return id;
}

bool id_parse(struct str s, struct id *ret)
{
    if (!str_is_id(s))
        return false;
    for (size_t i = 0; i < ID_LEN; i++)
        ret->text[i] = (char)(s.p[i] | 0x20); /* sets lower case; digits already have the bit */
    ret->text[ID_LEN] = '\0';
    return true;
}

/* The value of a lower-case hexadecimal digit. */
static unsigned value(char digit)
{
    return (unsigned)(digit > '9' ? digit - 'a' + 10 : digit - '0');
}

struct id_bytes id_to_bytes(const struct id *id)
{
    struct id_bytes ret;
    for (size_t i = 0; i < sizeof ret.p; i++)
        ret.p[i] = (unsigned char)(value(id->text[2 * i]) << 4 | value(id->text[2 * i + 1]));
    return ret;
}

struct id id_from_bytes(const unsigned char bytes[static ID_BYTES_LEN])
{
    struct id id = {0};
    hex_encode(bytes, ID_BYTES_LEN, id.text);
    return id;
}
