#include "net/guard.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/lookup.h"
#include "base/mem.h"

/* ---- addresses ---- */

/* Not public according to IANA's special-purpose address registries (November 2026). For IPv6, only blocks within
 * 2000::/3: no other address is public. */
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

static void parse_table(const char *const *texts, struct net_cidrs *ret)
{
    const char *bad;
    if (net_cidrs_parse(texts, ret, &bad))
        abort();
}

static void parse_tables(void)
{
    parse_table(special, &special_cidrs);
    parse_table(general, &general_cidrs);
    parse_table(translated, &translated_cidrs);
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
    pthread_once(&tables, parse_tables);
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

static enum net_guard_verdict guard_resolve(const char *host, int wait_ms)
{
    struct addrinfo *list = NULL;
    enum net_guard_verdict verdict = GUARD_PUBLIC;
    if (lookup_end(lookup_begin(host), clock_monotonic_us() + wait_ms * 1000LL, &list) || !list)
        return GUARD_UNRESOLVED;
    for (const struct addrinfo *i = list; i; i = i->ai_next)
        if (!net_guard_permits(i->ai_addr, i->ai_addrlen))
            verdict = GUARD_PRIVATE;
    freeaddrinfo(list);
    return verdict;
}

/* Returns the host in the form for a resolver: no brackets around IPv6, Punycode. curl_free it. */
static char *guard_url_host(struct str url)
{
    char *text = mem_strndup(url.p ? url.p : "", url.n), *host = NULL;
    CURLU *u = curl_url();
    if (u && strlen(text) == url.n && curl_url_set(u, CURLUPART_URL, text, 0) == CURLUE_OK)
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
    char *host = guard_url_host(url);
    enum net_guard_verdict verdict = host && *host ? guard_resolve(host, wait_ms) : GUARD_UNRESOLVED;
    curl_free(host);
    return verdict;
}
