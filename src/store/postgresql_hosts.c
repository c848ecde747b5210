/* The addresses of the servers that the connection string names.
 *
 * libpq resolves names with getaddrinfo, which may block for longer than any other wait here, and cannot be
 * interrupted. So the names are resolved before, with a deadline, and libpq is given the addresses (hostaddr). It still
 * has the names, for certificates and passwords. A name from the environment (PGHOST, a service file) is left to it. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "store/postgresql.h"

#define HOSTS_MOST 16
#define LIST_MAX   65536

/* ---- the connection string ---- */

/* The value of an option; "" if it has none. */
static const char *option(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0)
            return options->val ? options->val : "";
    return "";
}

/* The element of a comma-separated list; beyond its end, none. */
static struct str element(const char *list, size_t i)
{
    for (; i > 0 && list; i--)
        list = (list = strchr(list, ',')) ? list + 1 : NULL;
    return list ? str_n(list, strcspn(list, ",")) : STR_NONE;
}

static size_t elements(const char *list)
{
    size_t n = *list ? 1 : 0;
    for (; *list; list++)
        n += *list == ',';
    return n;
}

/* Whether libpq would have to resolve the host: neither an address nor the directory of a socket. */
static bool is_name(const char *host)
{
    static const struct addrinfo numeric = {.ai_flags = AI_NUMERICHOST};
    struct addrinfo *list = NULL;
    if (*host == '\0' || *host == '/' || *host == '@' || getaddrinfo(host, NULL, &numeric, &list) == 0) {
        if (list)
            freeaddrinfo(list);
        return false;
    }
    return true;
}

/* ---- the lists for libpq ---- */

struct lists {
    struct buf host, address, port;
};

static void put_element(struct buf *list, struct str s)
{
    if (list->cap)
        buf_char(list, ',');
    buf_reserve(list, 1);
    buf_str(list, s);
}

static void put_server(struct lists *l, struct str host, struct str address, struct str port)
{
    put_element(&l->host, host);
    put_element(&l->address, address);
    put_element(&l->port, port);
}

static void put_addresses(struct lists *l, struct str host, const struct addrinfo *list, struct str port)
{
    char address[INET6_ADDRSTRLEN + 32];
    for (; list; list = list->ai_next)
        if (getnameinfo(list->ai_addr, list->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST) == 0)
            put_server(l, host, str_z(address), port);
}

static char *list_take(struct buf *list)
{
    buf_char(list, '\0');
    char *text = list->full || list->n == 1 ? NULL : mem_strdup(list->p);
    buf_done(list);
    return text;
}

/* ---- resolving ---- */

struct server {
    struct str host, address, port;
    bool named;
    struct lookup *lookup;
};

static size_t read_servers(const PQconninfoOption *options, struct server servers[static HOSTS_MOST])
{
    const char *hosts = option(options, "host"), *addresses = option(options, "hostaddr"),
               *ports = option(options, "port");
    const size_t n = elements(hosts), n_ports = elements(ports);
    if (n > HOSTS_MOST || (*addresses && elements(addresses) != n) || (n_ports > 1 && n_ports != n))
        return 0; /* libpq says that the lists differ in length */
    for (size_t i = 0; i < n; i++)
        servers[i] = (struct server){.host = element(hosts, i),
                                     .address = element(addresses, i),
                                     .port = n_ports > 1 ? element(ports, i) : STR_NONE};
    return n;
}

/* Begins to look up all names at once. Returns false if there are none. */
static bool look_up(struct server *servers, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        char *host = mem_strndup(servers[i].host.p, servers[i].host.n);
        servers[i].named = servers[i].address.n == 0 && is_name(host);
        if (servers[i].named)
            servers[i].lookup = lookup_begin(host);
        any |= servers[i].named;
        free(host);
    }
    return any;
}

/* Returns false, and the reason in db->why, if no server is left. */
static bool collect(struct postgresql_db *db, struct server *servers, size_t n, int64_t until_us, struct lists *l)
{
    for (size_t i = 0; i < n; i++) {
        struct server *s = &servers[i];
        struct addrinfo *list = NULL;
        const int error = s->named ? lookup_end(s->lookup, until_us, &list) : 0;
        if (!s->named)
            put_server(l, s->host, s->address, s->port);
        else if (error)
            snprintf(db->why, sizeof db->why, "could not translate host name \"%.*s\" to address: %s", STR_ARG(s->host),
                     gai_strerror(error));
        else
            put_addresses(l, s->host, list, s->port);
        if (list)
            freeaddrinfo(list);
    }
    return l->host.cap > 0;
}

bool postgresql_resolve(struct postgresql_db *db, int64_t until_us, struct postgresql_servers *ret)
{
    struct server servers[HOSTS_MOST];
    struct lists l = {BUF(LIST_MAX), BUF(LIST_MAX), BUF(LIST_MAX)};
    PQconninfoOption *options = PQconninfoParse(db->store->dsn, NULL); /* libpq says what is wrong with it */
    const size_t n = options ? read_servers(options, servers) : 0;
    bool good = true;
    *ret = (struct postgresql_servers){0};
    if (look_up(servers, n)) {
        good = collect(db, servers, n, until_us, &l);
        *ret = (struct postgresql_servers){list_take(&l.host), list_take(&l.address), NULL};
        ret->port = elements(option(options, "port")) > 1 ? list_take(&l.port) : NULL;
    }
    buf_done(&l.port);
    PQconninfoFree(options);
    return good;
}

void postgresql_servers_free(struct postgresql_servers *s)
{
    free(s->host);
    free(s->address);
    free(s->port);
}
