#include "base/id.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/crypto.h"

#define COUNTER_BITS 24
#define PROCESS_LEN  5

static unsigned char process[PROCESS_LEN];
static pthread_once_t started = PTHREAD_ONCE_INIT;
/* Seconds and counter of the last ID as one number. The next is always larger. */
static _Atomic uint64_t last;

static void choose_random_part(void)
{
    crypto_random(process, sizeof process);
}

static uint64_t next(uint64_t s)
{
    uint64_t seen = atomic_load_explicit(&last, memory_order_relaxed);
    uint64_t mine;
    do
        mine = seen >= s << COUNTER_BITS ? seen + 1 : s << COUNTER_BITS;
    while (!atomic_compare_exchange_weak_explicit(&last, &seen, mine, memory_order_relaxed, memory_order_relaxed));
    return mine;
}

struct id id_new(int64_t now_us)
{
    pthread_once(&started, choose_random_part);
    uint64_t n = next(now_us > 0 ? (uint64_t)(now_us / US_PER_S) : 0);
    uint64_t s = n >> COUNTER_BITS;
    const struct id_bytes id = {{
        (unsigned char)(s >> 24),
        (unsigned char)(s >> 16),
        (unsigned char)(s >> 8),
        (unsigned char)s,
        process[0],
        process[1],
        process[2],
        process[3],
        process[4],
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
