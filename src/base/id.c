#include "base/id.h"

#include <pthread.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/crypto.h"

#define COUNTER_BITS 24
#define PROCESS_LEN  5
#define AHEAD_S      ((uint64_t)(CLOCK_PARTED_US / US_PER_S))

static pthread_mutex_t id_lock = PTHREAD_MUTEX_INITIALIZER; /* guards process and last */
static unsigned char process[PROCESS_LEN];
/* Seconds and counter of the last ID as one number; 0: there is none, and `process` is not chosen. */
static uint64_t last;

static uint64_t seconds(int64_t us)
{
    return us > 0 ? (uint64_t)(us / US_PER_S) : 0;
}

/* Whether the last ID has the time of a clock that was ahead. A caller whose own time is old does not show that. */
static bool last_is_ahead(uint64_t s)
{
    const uint64_t last_s = last >> COUNTER_BITS;
    return last_s > s + AHEAD_S && last_s > seconds(clock_now_us()) + AHEAD_S;
}

static uint64_t next(uint64_t s, unsigned char ret_process[static PROCESS_LEN])
{
    pthread_mutex_lock(&id_lock);
    if (last_is_ahead(s))
        last = 0;
    if (!last)
        crypto_random(process, sizeof process);
    last = last >= s << COUNTER_BITS ? last + 1 : s << COUNTER_BITS;
    const uint64_t mine = last;
    memcpy(ret_process, process, sizeof process);
    pthread_mutex_unlock(&id_lock);
    return mine;
}

struct id id_new(int64_t now_us)
{
    unsigned char of[PROCESS_LEN];
    uint64_t n = next(seconds(now_us), of);
    uint64_t s = n >> COUNTER_BITS;
    const struct id_bytes id = {{
        (unsigned char)(s >> 24),
        (unsigned char)(s >> 16),
        (unsigned char)(s >> 8),
        (unsigned char)s,
        of[0],
        of[1],
        of[2],
        of[3],
        of[4],
        (unsigned char)(n >> 16),
        (unsigned char)(n >> 8),
        (unsigned char)n,
    }};
    return id_from_bytes(id.p);
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
