#include "net/guard.h"

#include <curl/curl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/wait.h"

/* ---- addresses ---- */

/* Not public, of IANA's special-purpose address registries (November 2026); IPv6 is given only what it keeps from
 * 2000::/3, as nothing else is assigned for general use. */
static const char *const special[] = {
    "0.0.0.0/8",       /* this network */
    "10.0.0.0/8",      /* private */
    "100.64.0.0/10",   /* shared with a carrier's translator */
    "127.0.0.0/8",     /* loopback */
    "169.254.0.0/16",  /* link-local */
    "172.16.0.0/12",   /* private */
    "192.0.0.0/24",    /* protocol assignments */
    "192.0.2.0/24",    /* documentation */
    "192.88.99.0/24",  /* 6to4 relays, deprecated */
    "192.168.0.0/16",  /* private */
    "198.18.0.0/15",   /* benchmarks */
    "198.51.100.0/24", /* documentation */
    "203.0.113.0/24",  /* documentation */
    "224.0.0.0/4",     /* multicast */
    "240.0.0.0/4",     /* reserved, and the broadcast address */
    "2001::/23",       /* protocol assignments: Teredo, benchmarks, ORCHID, … */
    "2001:db8::/32",   /* documentation */
    "2002::/16",       /* 6to4, deprecated */
    "3fff::/20",       /* documentation */
    NULL,
};
static const char *const general[] = {
    "::ffff:0.0.0.0/96", /* IPv4 */
    "2000::/3",          /* global unicast */
    NULL,
};
static const char *const translated[] = {"64:ff9b::/96", NULL}; /* the well-known prefix; 64:ff9b:1::/48 is local */

static struct net_cidrs special_cidrs, general_cidrs, translated_cidrs;
static pthread_once_t tables = PTHREAD_ONCE_INIT;

static void read_table(const char *const *texts, struct net_cidrs *ret)
{
    const char *bad;
    if (net_cidrs_parse(texts, ret, &bad))
        abort();
}

static void read_tables(void)
{
    read_table(special, &special_cidrs);
    read_table(general, &general_cidrs);
    read_table(translated, &translated_cidrs);
}

static struct net_address of_ipv4(const unsigned char *bytes)
{
    struct sockaddr_storage at = {.ss_family = AF_INET};
    memcpy(&((struct sockaddr_in *)&at)->sin_addr, bytes, 4);
    return net_address_of(&at);
}

bool net_address_is_public(const struct net_address *a)
{
    struct net_address carried;
    pthread_once(&tables, read_tables);
    if (net_cidrs_contain(&translated_cidrs, a)) {
        carried = of_ipv4(a->bytes + 12);
        a = &carried;
    }
    return net_cidrs_contain(&general_cidrs, a) && !net_cidrs_contain(&special_cidrs, a);
}

bool net_guard_permits(const struct sockaddr *a, socklen_t len)
{
    struct sockaddr_storage at = {0};
    bool known = (a->sa_family == AF_INET && len >= sizeof(struct sockaddr_in)) ||
                 (a->sa_family == AF_INET6 && len >= sizeof(struct sockaddr_in6));
    if (!known || len > sizeof at)
        return false;
    memcpy(&at, a, len);
    struct net_address address = net_address_of(&at);
    return net_address_is_public(&address);
}

/* ---- names ---- */

/* One look-up, on a thread of its own, as getaddrinfo knows no time limit. Whoever lets go of it last frees it. */
struct lookup {
    pthread_mutex_t lock;
    pthread_cond_t over;
    unsigned holders;
    bool done;
    enum net_guard_verdict verdict;
    char host[]; /* NUL-terminated */
};

static void let_go(struct lookup *l)
{
    unsigned left = --l->holders;
    pthread_mutex_unlock(&l->lock);
    if (left > 0)
        return;
    pthread_cond_destroy(&l->over);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static enum net_guard_verdict judge(const char *host)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    enum net_guard_verdict verdict = GUARD_PUBLIC;
    if (getaddrinfo(host, NULL, &wanted, &list) != 0 || !list)
        return GUARD_UNRESOLVED;
    for (const struct addrinfo *i = list; i; i = i->ai_next)
        if (!net_guard_permits(i->ai_addr, i->ai_addrlen))
            verdict = GUARD_PRIVATE;
    freeaddrinfo(list);
    return verdict;
}

static void *look_up(void *arg)
{
    struct lookup *l = arg;
    enum net_guard_verdict verdict = judge(l->host);
    pthread_mutex_lock(&l->lock);
    l->verdict = verdict;
    l->done = true;
    pthread_cond_signal(&l->over);
    let_go(l);
    return NULL;
}

static struct lookup *lookup_new(const char *host)
{
    size_t n = strlen(host) + 1;
    struct lookup *l = calloc(1, sizeof *l + n);
    if (!l)
        abort();
    memcpy(l->host, host, n);
    l->verdict = GUARD_UNRESOLVED;
    l->holders = 1;
    cond_init(&l->over);
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

static bool lookup_start(struct lookup *l)
{
    pthread_t thread;
    l->holders++;
    if (pthread_create(&thread, NULL, look_up, l)) {
        l->holders--;
        return false;
    }
    pthread_detach(thread);
    return true;
}

static enum net_guard_verdict resolve(const char *host, int wait_ms)
{
    struct lookup *l = lookup_new(host);
    int64_t until_us = clock_monotonic_us() + wait_ms * 1000LL;
    bool in_time = true;
    pthread_mutex_lock(&l->lock);
    bool started = lookup_start(l);
    while (started && !l->done && in_time)
        in_time = cond_wait_until(&l->over, &l->lock, until_us);
    enum net_guard_verdict verdict = l->verdict;
    let_go(l);
    return verdict;
}

/* The host as a resolver wants it: no brackets around IPv6, no letters beyond ASCII. curl_free it. */
static char *host_of(struct str url)
{
    char *text = strndup(url.p ? url.p : "", url.n), *host = NULL;
    CURLU *u = curl_url();
    if (text && u && strlen(text) == url.n && curl_url_set(u, CURLUPART_URL, text, 0) == CURLUE_OK)
        (void)curl_url_get(u, CURLUPART_HOST, &host, CURLU_PUNYCODE);
    curl_url_cleanup(u);
    free(text);
    size_t n = host ? strlen(host) : 0;
    if (n > 2 && host[0] == '[') {
        memmove(host, host + 1, n - 2);
        host[n - 2] = '\0';
    }
    return host;
}

enum net_guard_verdict net_guard_check(struct str url, int wait_ms)
{
    char *host = host_of(url);
    enum net_guard_verdict verdict = host && *host ? resolve(host, wait_ms) : GUARD_UNRESOLVED;
    curl_free(host);
    return verdict;
}
