#include "cli/setup_check.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <ifaddrs.h>
#include <libpq-fe.h>
#include <net/if.h>
#include <netdb.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/checks.h"
#include "handset/reach.h"
#include "handset/register.h"
#include "providers/mail.h"
#include "sip/trunk_form.h"

#define SOON_S    (14 * 86400) /* a certificate that ends earlier gets a warning */
#define CONNECT_S "5"
#define SIP_PORT  5060
#define TLS_PORT  5061

struct checking {
    const struct config *config;
    const char *path, *user;
    enum setup_result worst;
    void (*report)(enum setup_result r, const char *what, const char *text);
};

static void tell(struct checking *k, enum setup_result r, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void tell(struct checking *k, enum setup_result r, const char *what, const char *fmt, ...)
{
    char text[SETUP_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (r > k->worst)
        k->worst = r;
    k->report(r, what, text);
}

const char *setup_host(const char *url, char ret[static SETUP_HOST_MAX])
{
    const char *from = strstr(url, "://");
    from = from ? from + 3 : url;
    const bool bracketed = *from == '[';
    const size_t n = strcspn(from + bracketed, bracketed ? "]" : ":/");
    snprintf(ret, SETUP_HOST_MAX, "%.*s", (int)n, from + bracketed);
    const char *end = from + bracketed + n;
    return bracketed && *end ? end + 1 : end;
}

/* ---- name and ports ---- */

static bool is_loopback_address(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static bool is_link_local(const struct sockaddr *a)
{
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static bool take_own_address(const struct ifaddrs *i, int family, char ret[static SETUP_HOST_MAX])
{
    const struct sockaddr *a = i->ifa_addr;
    const socklen_t n = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    return a && a->sa_family == family && i->ifa_flags & IFF_UP && !is_loopback_address(a) && !is_link_local(a) &&
           getnameinfo(a, n, ret, SETUP_HOST_MAX, NULL, 0, NI_NUMERICHOST) == 0;
}

/* IPv4 first: call boxes speak it. */
bool setup_own_address(char ret[static SETUP_HOST_MAX])
{
    struct ifaddrs *all = NULL;
    bool found = false;
    if (getifaddrs(&all))
        return false;
    for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next)
        found = take_own_address(i, AF_INET, ret);
    for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next)
        found = take_own_address(i, AF_INET6, ret);
    freeifaddrs(all);
    return found;
}

static bool are_loopback(const struct addrinfo *all)
{
    while (all && is_loopback_address(all->ai_addr))
        all = all->ai_next;
    return !all;
}

bool setup_is_known_here_only(const char *host)
{
    struct addrinfo *all;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    if (getaddrinfo(host, NULL, &hints, &all))
        return false;
    const bool here = are_loopback(all);
    freeaddrinfo(all);
    return here;
}

static void check_name(struct checking *k)
{
    char host[SETUP_HOST_MAX], own[SETUP_HOST_MAX] = "", text[SETUP_TEXT_MAX / 2] = "";
    struct addrinfo *all;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    setup_host(k->config->top_public_url, host);
    const int e = getaddrinfo(host, NULL, &hints, &all);
    if (e) {
        tell(k, SETUP_FAILED, "name", "%s: %s: add an address record for it to the DNS", host, gai_strerror(e));
        return;
    }
    for (const struct addrinfo *a = all; a; a = a->ai_next) {
        char address[64];
        const size_t n = strlen(text);
        if (!getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST))
            snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "", address);
    }
    const bool here = are_loopback(all);
    freeaddrinfo(all);
    if (!here)
        tell(k, SETUP_OK, "name", "%s is %s", host, text);
    else
        tell(k, SETUP_WARNING, "name",
             "%s is %s here: no other machine reaches this one by that. Give public_url this machine's address%s%s, or "
             "a name that the DNS has, and put that into /etc/hosts as well",
             host, text, setup_own_address(own) ? ", " : "", own);
}

/* A proxy in front, or systemd, may have the port of public_url. */
static void check_public_port(struct checking *k)
{
    char host[SETUP_HOST_MAX], port[8] = "443";
    const char *at = setup_host(k->config->top_public_url, host), *listens = strrchr(k->config->listen_https, ':');
    if (*at == ':')
        snprintf(port, sizeof port, "%.*s", (int)strspn(at + 1, "0123456789"), at + 1);
    if (listens && strcmp(listens + 1, port) != 0)
        tell(k, SETUP_WARNING, "port",
             "public_url has port %s, the service listens on %s: a proxy in front must connect them", port,
             listens + 1);
}

static void check_ports(struct checking *k)
{
    const struct {
        const char *key, *address;
        bool udp;
    } all[] = {{"listen.https", k->config->listen_https, false},
               {"listen.sip", k->config->listen_sip, true},
               {"listen.metrics", k->config->listen_metrics, false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!*all[i].address)
            continue;
        if (!checks_bind_error(all[i].address, SOCK_STREAM) &&
            (!all[i].udp || !checks_bind_error(all[i].address, SOCK_DGRAM)))
            tell(k, SETUP_OK, "port", "%s %s is free", all[i].key, all[i].address);
        else
            tell(k, SETUP_WARNING, "port", "%s %s is in use: if not by Portero, stop the program or choose another",
                 all[i].key, all[i].address);
    }
}

/* ---- files ---- */

bool setup_user(const char *name, struct setup_user *ret)
{
    char buf[4096];
    struct passwd p, *found = NULL;
    if (getpwnam_r(name, &p, buf, sizeof buf, &found) || !found)
        return false;
    *ret = (struct setup_user){found->pw_uid, found->pw_gid};
    return true;
}

/* Runs `work` in a process of the service's user; its text gets into `ret_text`. Returns what it returned, -1 if that
 * process failed. */
static int as_service(const char *user, int (*work)(const char *what, char *ret_text), const char *what,
                      char ret_text[static SETUP_TEXT_MAX])
{
    struct setup_user u;
    int status, ends[2];
    ret_text[0] = '\0';
    if (!user || !setup_user(user, &u))
        return work(what, ret_text);
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        char text[SETUP_TEXT_MAX] = "";
        int result = -1;
        if (!initgroups(user, u.gid) && !setgid(u.gid) && !setuid(u.uid))
            result = work(what, text);
        _exit(write(ends[1], text, strlen(text)) < 0 ? 255 : result & 255);
    }
    close(ends[1]);
    const ssize_t n = child > 0 ? read(ends[0], ret_text, SETUP_TEXT_MAX - 1) : 0;
    ret_text[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    const bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
    return ended && WEXITSTATUS(status) != 255 ? WEXITSTATUS(status) : -1;
}

static int is_unreadable(const char *path, char *ret_text)
{
    const bool readable = access(path, R_OK) == 0;
    snprintf(ret_text, SETUP_TEXT_MAX, "%s", readable ? "" : strerror(errno));
    return !readable;
}

bool setup_can_read(const char *user, const char *path, char ret_why[static SETUP_TEXT_MAX])
{
    return as_service(user, is_unreadable, path, ret_why) == 0;
}

static void check_readable(struct checking *k, const char *key, const char *path)
{
    char why[SETUP_TEXT_MAX];
    if (!setup_can_read(k->user, path, why))
        tell(k, SETUP_FAILED, "file",
             "%s %s: user %s cannot read it: %s: change its owner or mode, or those of its directory", key, path,
             k->user ? k->user : "of this process", why);
}

static int is_unusable(const char *path, char *ret_text)
{
    const bool usable = access(path, R_OK | W_OK | X_OK) == 0;
    snprintf(ret_text, SETUP_TEXT_MAX, "%s", usable ? "" : strerror(errno));
    return !usable;
}

/* A data directory that is missing is made by the service. */
static void check_data_dir(struct checking *k)
{
    char why[SETUP_TEXT_MAX];
    const char *path = k->config->top_data_dir;
    if (access(path, F_OK) == 0 && as_service(k->user, is_unusable, path, why) != 0)
        tell(k, SETUP_FAILED, "file", "data_dir %s: user %s cannot use it: %s: change its owner or mode", path,
             k->user ? k->user : "of this process", why);
}

static void check_secret(struct checking *k, const char *key, const char *value)
{
    if (strncmp(value, "file:", 5) == 0)
        check_readable(k, key, value + 5);
}

/* Users who can change the configuration can make the service read any of its files. */
static void check_configuration(struct checking *k)
{
    struct stat st;
    check_readable(k, "configuration", k->path);
    if (stat(k->path, &st) == 0 && st.st_mode & (S_IWGRP | S_IWOTH))
        tell(k, SETUP_WARNING, "file", "configuration %s: other users can change it: chmod go-w it", k->path);
}

static void check_files(struct checking *k)
{
    const struct config *c = k->config;
    check_configuration(k);
    check_data_dir(k);
    check_readable(k, "tls.certificate", c->tls_certificate);
    check_readable(k, "tls.key", c->tls_key);
    const struct {
        const char *key, *value;
    } secrets[] = {{"secrets.master_key", c->secrets_master_key},
                   {"mail.password", c->mail_password},
                   {"store.dsn", c->store_dsn}};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        check_secret(k, secrets[i].key, secrets[i].value);
    for (size_t i = 0; i < c->peer_count; i++)
        check_secret(k, c->peers[i].name, c->peers[i].password);
}

/* ---- certificate ---- */

static X509 *read_certificate(const char *path)
{
    FILE *f = fopen(path, "re");
    X509 *x = f ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
    if (f)
        fclose(f);
    return x;
}

static bool is_named(X509 *x, const char *host)
{
    return X509_check_host(x, host, 0, 0, NULL) == 1 || X509_check_ip_asc(x, host, 0) == 1;
}

/* Why it is of no use for the host, in `ret_why`; false if it is. */
static bool is_unfit(X509 *x, const char *host, char ret_why[static SETUP_TEXT_MAX])
{
    const bool named = is_named(x, host), begun = X509_cmp_current_time(X509_get0_notBefore(
                                              x))<0, lasts = X509_cmp_current_time(X509_get0_notAfter(x))> 0;
    if (!named)
        snprintf(ret_why, SETUP_TEXT_MAX, "is not for %s: get one for this name", host);
    else if (!lasts)
        snprintf(ret_why, SETUP_TEXT_MAX, "has expired: renew it");
    else if (!begun)
        snprintf(ret_why, SETUP_TEXT_MAX, "is not yet valid: check this machine's clock");
    return !named || !lasts || !begun;
}

bool setup_certificate_fits(const char *path, const char *host, char ret_why[static SETUP_TEXT_MAX])
{
    X509 *x = read_certificate(path);
    snprintf(ret_why, SETUP_TEXT_MAX, "%s", x ? "" : "cannot be read");
    const bool fits = x && !is_unfit(x, host, ret_why);
    X509_free(x);
    return fits;
}

/* That the key fits was checked with the configuration. */
static void check_certificate(struct checking *k)
{
    char host[SETUP_HOST_MAX], why[SETUP_TEXT_MAX];
    X509 *x = read_certificate(k->config->tls_certificate);
    if (!x) {
        tell(k, SETUP_FAILED, "certificate", "%s: cannot be read", k->config->tls_certificate);
        return;
    }
    setup_host(k->config->top_public_url, host);
    int days = 0, seconds = 0;
    (void)ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(x));
    if (is_unfit(x, host, why))
        tell(k, SETUP_FAILED, "certificate", "%s", why);
    else if (X509_NAME_cmp(X509_get_subject_name(x), X509_get_issuer_name(x)) == 0)
        tell(k, SETUP_WARNING, "certificate",
             "is self-signed: browsers and clients warn; get one, for example with certbot");
    else
        tell(k, days * 86400LL < SOON_S ? SETUP_WARNING : SETUP_OK, "certificate", "is for %s, and valid for %d days",
             host, days);
    X509_free(x);
}

/* ---- database ---- */

static const char may_create_sql[] = "SELECT current_user, current_database(),"
                                     " coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)";

/* 0: this user can make tables there; otherwise the text is the reason, without the connection string. */
static int connect_store(const char *dsn, char *ret_text)
{
    const char *const keys[] = {"dbname", "connect_timeout", "fallback_application_name", NULL};
    const char *const values[] = {dsn, CONNECT_S, "porterod setup", NULL};
    PGconn *conn = PQconnectdbParams(keys, values, 1);
    PGresult *r = PQstatus(conn) == CONNECTION_OK ? PQexec(conn, may_create_sql) : NULL;
    const bool asked = PQresultStatus(r) == PGRES_TUPLES_OK;
    const bool good = asked && *PQgetvalue(r, 0, 2) == 't';
    if (good)
        snprintf(ret_text, SETUP_TEXT_MAX, "PostgreSQL %d, database %s, user %s", PQserverVersion(conn) / 10000,
                 PQgetvalue(r, 0, 1), PQgetvalue(r, 0, 0));
    else if (asked)
        snprintf(ret_text, SETUP_TEXT_MAX, "user %s may not create tables in database %s: make it the owner",
                 PQgetvalue(r, 0, 0), PQgetvalue(r, 0, 1));
    else
        snprintf(ret_text, SETUP_TEXT_MAX, "%s", PQerrorMessage(conn));
    ret_text[strcspn(ret_text, "\n")] = '\0';
    PQclear(r);
    PQfinish(conn);
    return !good;
}

static void check_store(struct checking *k)
{
    struct arena arena;
    struct str dsn;
    char text[SETUP_TEXT_MAX], *why = NULL;
    if (k->config->engine != ENGINE_POSTGRESQL)
        return;
    arena_init(&arena, NULL, 0);
    if (config_secret_of("store.dsn", k->config->store_dsn, &arena, &dsn, &why))
        tell(k, SETUP_FAILED, "store", "%s", why);
    else if (as_service(k->user, connect_store, dsn.p, text) == 0)
        tell(k, SETUP_OK, "store", "%s", text);
    else
        tell(k, SETUP_FAILED, "store", "%s", text);
    free(why);
    arena_done(&arena);
}

/* ---- mail and trunk ---- */

static void check_mail_server(struct checking *k)
{
    char *why = NULL;
    if (smtp_probe(k->config, &why))
        tell(k, SETUP_FAILED, "mail", "%s: %s: check mail.url, mail.user and the password", k->config->mail_url,
             why ? why : "no answer");
    else
        tell(k, SETUP_OK, "mail", "%s answers%s", k->config->mail_url,
             *k->config->mail_user ? " and accepts the login" : "");
    free(why);
}

/* The user that registers must be known there. Over TLS only the connection is checked. */
static bool check_registration(struct checking *k, const struct config_peer *p, const struct sip_server *server,
                               uint16_t port, bool tcp)
{
    struct arena arena;
    struct str password = STR("");
    struct sa at;
    char why[100] = "", *reason = NULL;
    arena_init(&arena, NULL, 0);
    enum err unread = config_secret_of("password", p->password, &arena, &password, &reason);
    int e = reach_find(server->host, port, tcp, REACH_PATIENCE_MS, &at);
    if (!e && !unread)
        e = register_try(p, password.p, &at, tcp, why, sizeof why);
    if (e)
        tell(k, SETUP_FAILED, "trunk", "%s refuses the registration of %s: %s: check the user and the password there",
             p->server, p->user, *why ? why : strerror(e));
    free(reason);
    arena_done(&arena);
    return !e && !unread;
}

static void check_trunk(struct checking *k, const struct config_peer *p)
{
    struct sip_server server;
    const bool tls = strcmp(p->transport, "tls") == 0, tcp = tls || strcmp(p->transport, "tcp") == 0;
    sip_server_parse(p->server, &server);
    const uint16_t port = server.port ? server.port : tls ? TLS_PORT : SIP_PORT;
    const int e = reach_answers(server.host, port, tcp, REACH_PATIENCE_MS);
    if (e)
        tell(k, SETUP_FAILED, "trunk", "%s: %s: check its address, and whether it knows this machine", p->server,
             e == ENOENT ? "name not found" : strerror(e));
    else if (!p->reg || tls)
        tell(k, SETUP_OK, "trunk", "%s answers%s", p->server,
             p->reg ? "; `porterod admin trunk list` tells whether it accepts the registration" : "");
    else if (check_registration(k, p, &server, port, tcp))
        tell(k, SETUP_OK, "trunk", "%s answers, and accepts the registration of %s", p->server, p->user);
}

static void check_callers(struct checking *k)
{
    const struct config *c = k->config;
    for (size_t i = 0; i < c->peer_count; i++)
        if (*c->peers[i].server)
            check_trunk(k, &c->peers[i]);
    for (size_t i = 0; i < c->peer_count && !c->voice_destinations[0]; i++)
        if (*c->peers[i].server) {
            tell(k, SETUP_WARNING, "destinations",
                 "residents can have any telephone number called: list the prefixes that may be in voice.destinations");
            break;
        }
    if (!c->peer_count && !c->voice_peers[0])
        tell(k, SETUP_WARNING, "callers",
             "any host that reaches the SIP port may call: list the call boxes in voice.peers");
}

static void (*const checks[])(struct checking *k) = {check_name,        check_public_port, check_ports,
                                                     check_files,       check_certificate, check_store,
                                                     check_mail_server, check_callers};

enum setup_result setup_check(const struct config *c, const char *path, const char *user,
                              void (*report)(enum setup_result r, const char *what, const char *text))
{
    struct checking k = {.config = c, .path = path, .user = user, .report = report};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        checks[i](&k);
    return k.worst;
}
