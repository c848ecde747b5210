#include "api/slots.h"

#include <assert.h>
#include <curl/curl.h>

#include "base/clock.h"
#include "base/log.h"

#define RETRY_S   5
#define LOG_US    (10 * US_PER_S) /* anybody can cause refusals */
#define LIMIT_ALL SLOT_KEYS       /* the limit that refused, if no key's share did */

static const char *const limit_names[] = {"account", "address", "host", "all"};
static_assert((int)METRIC_SHARE_VALUES == SLOT_KEYS + 1, "a series for each limit");

/* "name:port"; empty if the URL has none. */
static struct str host_of(struct arena *a, struct str url)
{
    struct str host = STR("");
    char *name = NULL, *port = NULL;
    CURLU *u = curl_url();
    if (u && curl_url_set(u, CURLUPART_URL, arena_str(a, url).p, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_HOST, &name, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK)
        host = arena_printf(a, "%s:%s", name, port);
    curl_free(name);
    curl_free(port);
    curl_url_cleanup(u);
    return host;
}

/* The first of the keys whose share is used up; LIMIT_ALL: no key's is. */
static unsigned find_used_up(const struct slots *s, const struct slot *wanted)
{
    for (unsigned key = 0; key < SLOT_KEYS; key++) {
        unsigned same = 0;
        for (const struct slot *i = s->slots; i < s->slots + s->most; i++)
            same += i->used && wanted->keys[key].n && str_eqi(i->keys[key], wanted->keys[key]);
        if (same >= s->shares[key])
            return key;
    }
    return LIMIT_ALL;
}

static struct slot *find_unused(struct slots *s)
{
    for (struct slot *i = s->slots; i < s->slots + s->most; i++)
        if (!i->used)
            return i;
    return NULL;
}

/* Locked. False: suppress the line. */
static bool may_log_refusal(struct slots *s, unsigned *ret_unlogged)
{
    const int64_t now_us = clock_monotonic_us();
    if (s->logged_us && now_us - s->logged_us < LOG_US) {
        s->unlogged++;
        return false;
    }
    *ret_unlogged = s->unlogged;
    s->unlogged = 0;
    s->logged_us = now_us;
    return true;
}

enum err slots_take(struct slots *s, struct request *q, struct str url, struct slot **ret)
{
    struct arena *a = q->tx.arena;
    const struct slot wanted = {
        true, {id_str(&q->who.account_id), limit_address_block(a, q->http->peer.address), host_of(a, url)}};
    unsigned unlogged = 0;
    pthread_mutex_lock(&s->lock);
    const unsigned limit = find_used_up(s, &wanted);
    struct slot *slot = limit == LIMIT_ALL ? find_unused(s) : NULL;
    if (slot)
        *slot = wanted;
    const bool told = !slot && may_log_refusal(s, &unlogged);
    pthread_mutex_unlock(&s->lock);
    if (slot) {
        *ret = slot;
        return ERR_NONE;
    }
    metric_add(&metrics.lookups_refused[s->kind * METRIC_SHARE_VALUES + limit], 1);
    if (told)
        log_warn("look-up refused limit=%s account=%.*s id=%s unlogged=%u", limit_names[limit],
                 STR_ARG(id_str(&q->who.account_id)), q->request_id, unlogged);
    q->tx.retry_after_s = RETRY_S;
    return ERR_RATE_LIMIT_EXCEEDED;
}

void slots_release(struct slots *s, struct slot *slot)
{
    pthread_mutex_lock(&s->lock);
    *slot = (struct slot){0};
    pthread_mutex_unlock(&s->lock);
}
