#include "providers/fault.h"

#include <pthread.h>
#include <signal.h>

#define ORDERS   32
#define NAME_LEN 31

struct order {
    char provider[NAME_LEN + 1];
    char call[NAME_LEN + 1]; /* "": any */
    enum fault fault;
    int64_t left;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct order orders[ORDERS]; /* oldest first */
static size_t count;

bool fault_parse(struct str text, enum fault *ret)
{
    static const char *const names[] = {"none", "timeout", "error", "decline", "crash_after"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(text, str_z(names[i]))) {
            *ret = (enum fault)i;
            return true;
        }
    return false;
}

static void drop_order(size_t i)
{
    count--;
    memmove(&orders[i], &orders[i + 1], (count - i) * sizeof *orders);
}

static void clear_orders(struct str provider)
{
    for (size_t i = count; i-- > 0;)
        if (str_eq(str_z(orders[i].provider), provider))
            drop_order(i);
}

static bool append_order(struct str provider, struct str call, enum fault fault, int64_t n)
{
    if (count == ORDERS)
        return false;
    struct order *o = &orders[count++];
    *o = (struct order){.fault = fault, .left = n};
    memcpy(o->provider, provider.p, provider.n);
    if (call.n)
        memcpy(o->call, call.p, call.n);
    return true;
}

bool fault_order(struct str provider, struct str call, enum fault fault, int64_t n)
{
    if (provider.n == 0 || provider.n > NAME_LEN || call.n > NAME_LEN)
        return false;
    pthread_mutex_lock(&lock);
    bool fits = true;
    if (fault == FAULT_NONE)
        clear_orders(provider);
    else if (n > 0)
        fits = append_order(provider, call, fault, n);
    pthread_mutex_unlock(&lock);
    return fits;
}

static bool order_matches(const struct order *o, const char *provider, const char *call)
{
    return strcmp(o->provider, provider) == 0 && (!o->call[0] || strcmp(o->call, call) == 0);
}

enum fault fault_take(const char *provider, const char *call)
{
    enum fault fault = FAULT_NONE;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && fault == FAULT_NONE; i++)
        if (order_matches(&orders[i], provider, call)) {
            fault = orders[i].fault;
            if (--orders[i].left == 0)
                drop_order(i);
        }
    pthread_mutex_unlock(&lock);
    return fault;
}

void fault_after(enum fault f)
{
    if (f == FAULT_CRASH_AFTER)
        raise(SIGKILL);
}
