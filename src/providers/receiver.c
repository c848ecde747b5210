#include "providers/receiver.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/mem.h"

#define ADDRESS "https://receiver.test/"
#define TIME    "t="

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct received kept[RECEIVED_MAX]; /* a ring; each has its texts in one piece of memory, at `url` */
static size_t taken;

bool receiver_has(const struct config *c, struct str url)
{
    return !c->production && str_starts(url, STR(ADDRESS));
}

/* The status that the URL asks for: three digits after the host. */
static long asked_status(struct str url)
{
    const struct str path = str_from(url, strlen(ADDRESS));
    uint64_t status;
    return path.n == 3 && str_to_u64(path, 599, &status) && status >= 200 ? (long)status : 200;
}

/* Whether one of the signatures `v1=…`, separated by commas, is this one. */
static bool has_signature(struct str list, struct str hex)
{
    while (list.n) {
        struct str rest;
        const struct str one = str_cut(list, ',', &rest);
        if (str_starts(one, STR("v1=")) && str_eq(str_from(one, strlen("v1=")), hex))
            return true;
        list = rest;
    }
    return false;
}

/* As the guide tells receivers to: HMAC-SHA256 of the time, a period and the body. */
static bool is_genuine(const struct received *r, struct str secret)
{
    struct str value, time, rest;
    unsigned char mac[SHA256_LEN];
    char hex[2 * SHA256_LEN + 1];
    (void)str_cut(r->signature, ':', &value); /* the name, which depends on the revision */
    value = str_trim(value);
    if (!str_starts(value, STR(TIME)))
        return false;
    time = str_cut(str_from(value, strlen(TIME)), ',', &rest);
    struct buf text = BUF(r->body.n + time.n + 2);
    buf_str(&text, time);
    buf_char(&text, '.');
    buf_str(&text, r->body);
    crypto_hmac_sha256(secret, buf_view(&text), mac);
    buf_done(&text);
    hex_encode(mac, sizeof mac, hex);
    return has_signature(rest, str_z(hex));
}

static struct str keep(char **at, struct str text)
{
    const struct str copy = str_n(*at, text.n);
    if (text.n)
        memcpy(*at, text.p, text.n);
    *at += text.n;
    return copy;
}

long receiver_take(struct received r, struct str secret)
{
    r.at_us = clock_real_us();
    r.status = asked_status(r.url);
    r.genuine = is_genuine(&r, secret);
    char *at = mem_array(char, r.url.n + r.body.n + r.signature.n + r.trace.n + 1);
    r.url = keep(&at, r.url);
    r.body = keep(&at, r.body);
    r.signature = keep(&at, r.signature);
    r.trace = keep(&at, r.trace);
    pthread_mutex_lock(&lock);
    struct received *place = &kept[taken % RECEIVED_MAX];
    taken += 1;
    free((void *)(uintptr_t)place->url.p); /* NOLINT(performance-no-int-to-ptr): its own memory */
    *place = r;
    pthread_mutex_unlock(&lock);
    return r.status;
}

size_t receiver_list(struct arena *arena, struct received *list, size_t max)
{
    pthread_mutex_lock(&lock);
    size_t count = taken < RECEIVED_MAX ? taken : RECEIVED_MAX;
    if (count > max)
        count = max;
    for (size_t i = 0; i < count; i++) {
        list[i] = kept[(taken - 1 - i) % RECEIVED_MAX];
        list[i].url = arena_str(arena, list[i].url);
        list[i].body = arena_str(arena, list[i].body);
        list[i].signature = arena_str(arena, list[i].signature);
        list[i].trace = arena_str(arena, list[i].trace);
    }
    pthread_mutex_unlock(&lock);
    return count;
}
