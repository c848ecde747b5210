#include "base/lookup.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/wait.h"

#define RUNNING_MOST 64 /* look-ups that nobody waits for any more count */

/* The caller and the thread each hold a reference; the last one frees it. */
struct lookup {
    pthread_mutex_t lock;
    pthread_cond_t over;
    unsigned references;
    bool done;
    int error;
    struct addrinfo *list;
    char host[]; /* NUL-terminated */
};

static _Atomic unsigned running;

/* The caller must hold the lock. */
static void lookup_unref(struct lookup *l)
{
    const unsigned left = --l->references;
    pthread_mutex_unlock(&l->lock);
    if (left > 0)
        return;
    if (l->list)
        freeaddrinfo(l->list);
    pthread_cond_destroy(&l->over);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static void *lookup_thread(void *arg)
{
    static const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct lookup *l = arg;
    struct addrinfo *list = NULL;
    const int error = getaddrinfo(l->host, NULL, &wanted, &list);
    atomic_fetch_sub(&running, 1);
    pthread_mutex_lock(&l->lock);
    l->error = error;
    l->list = error ? NULL : list;
    l->done = true;
    pthread_cond_signal(&l->over);
    lookup_unref(l);
    return NULL;
}

static struct lookup *lookup_new(const char *host)
{
    const size_t n = strlen(host) + 1;
    struct lookup *l = mem_new_with(struct lookup, n);
    memcpy(l->host, host, n);
    l->error = EAI_AGAIN;
    l->references = 2;
    cond_init(&l->over);
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

struct lookup *lookup_begin(const char *host)
{
    pthread_t thread;
    if (atomic_fetch_add(&running, 1) < RUNNING_MOST) {
        struct lookup *l = lookup_new(host);
        if (pthread_create(&thread, NULL, lookup_thread, l) == 0) {
            pthread_detach(thread);
            return l;
        }
        l->references = 1;
        pthread_mutex_lock(&l->lock);
        lookup_unref(l);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

int lookup_end(struct lookup *l, int64_t until_us, struct addrinfo **ret)
{
    if (!l) {
        sleep_for_us(until_us - clock_monotonic_us());
        return EAI_AGAIN;
    }
    pthread_mutex_lock(&l->lock);
    while (!l->done && cond_wait_until(&l->over, &l->lock, until_us))
        ;
    const int error = l->error;
    if (!error) {
        *ret = l->list;
        l->list = NULL;
    }
    lookup_unref(l);
    return error;
}
