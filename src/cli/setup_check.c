#include "cli/setup_check.h"

#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/mail.h"
#include "voice/reach.h"
#include "voice/sip_trunk_form.h"

#define SOON_S   (14 * 86400) /* a certificate that ends earlier gets a warning */
#define TEXT_MAX 600
#define SIP_PORT 5060
#define TLS_PORT 5061

struct checking {
    const struct config *config;
    const char *user;
    enum setup_result worst;
    void (*report)(enum setup_result r, const char *what, const char *text);
};

static void tell(struct checking *k, enum setup_result r, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void tell(struct checking *k, enum setup_result r, const char *what, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (r > k->worst)
        k->worst = r;
    k->report(r, what, text);
}

/* The host of public_url, without brackets. */
static void public_host(const struct config *c, char *ret, size_t size)
{
    const char *from = strstr(c->top_public_url, "://");
    from = from ? from + 3 : c->top_public_url;
    const bool bracketed = *from == '[';
    snprintf(ret, size, "%.*s", (int)strcspn(from + bracketed, bracketed ? "]" : ":/"), from + bracketed);
}

/* ---- name and ports ---- */

static void check_name(struct checking *k)
{
    char host[256], text[TEXT_MAX] = "";
    struct addrinfo *all;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    public_host(k->config, host, sizeof host);
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
    freeaddrinfo(all);
    tell(k, SETUP_OK, "name", "%s is %s", host, text);
}

static bool is_free(const char *address, int type)
{
    char host[64];
    const char *port = strrchr(address, ':');
    const bool bracketed = *address == '[';
    const struct addrinfo hints = {.ai_socktype = type, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *at;
    snprintf(host, sizeof host, "%.*s", (int)(port - address) - 2 * bracketed, address + bracketed);
    if (getaddrinfo(host, port + 1, &hints, &at))
        return false;
    const int fd = socket(at->ai_family, type | SOCK_CLOEXEC, 0);
    const bool bound = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0 &&
                       bind(fd, at->ai_addr, at->ai_addrlen) == 0;
    if (fd >= 0)
        close(fd);
    freeaddrinfo(at);
    return bound;
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
        if (is_free(all[i].address, SOCK_STREAM) && (!all[i].udp || is_free(all[i].address, SOCK_DGRAM)))
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

/* Whether the service's user may read the file: its directories count, too. */
static bool may_read(const char *user, const char *path)
{
    struct setup_user u;
    int status;
    if (!user || !setup_user(user, &u))
        return access(path, R_OK) == 0;
    const pid_t child = fork();
    if (child == 0) {
        const bool readable = !initgroups(user, u.gid) && !setgid(u.gid) && !setuid(u.uid) && !access(path, R_OK);
        _exit(readable ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void check_readable(struct checking *k, const char *key, const char *path)
{
    if (!may_read(k->user, path))
        tell(k, SETUP_FAILED, "file",
             "%s %s: user %s cannot read it: change its owner or mode, or those of its directory", key, path,
             k->user ? k->user : "of this process");
}

static void check_files(struct checking *k)
{
    const struct config *c = k->config;
    const struct {
        const char *key, *value;
    } all[] = {{"tls.certificate", c->tls_certificate},
               {"tls.key", c->tls_key},
               {"secrets.master_key", c->secrets_master_key},
               {"mail.password", c->mail_password},
               {"voice.peer.pbx.password", c->peer_count ? c->peers[0].password : ""}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const bool secret = strncmp(all[i].value, "file:", 5) == 0;
        if (secret || (i < 2 && *all[i].value))
            check_readable(k, all[i].key, all[i].value + (secret ? 5 : 0));
    }
}

/* That the key fits was checked with the configuration. */
static void check_certificate(struct checking *k)
{
    char host[256];
    FILE *f = fopen(k->config->tls_certificate, "re");
    X509 *x = f ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
    if (f)
        fclose(f);
    if (!x) {
        tell(k, SETUP_FAILED, "certificate", "%s: cannot be read", k->config->tls_certificate);
        return;
    }
    public_host(k->config, host, sizeof host);
    int days = 0, seconds = 0;
    (void)ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(x));
    const bool named = X509_check_host(x, host, 0, 0, NULL) == 1 || X509_check_ip_asc(x, host, 0) == 1;
    if (!named)
        tell(k, SETUP_FAILED, "certificate", "is not for %s: get one for this name", host);
    else if (days < 0 || seconds < 0)
        tell(k, SETUP_FAILED, "certificate", "has expired: renew it");
    else if (X509_NAME_cmp(X509_get_subject_name(x), X509_get_issuer_name(x)) == 0)
        tell(k, SETUP_WARNING, "certificate",
             "is self-signed: browsers and clients warn; get one, for example with certbot");
    else
        tell(k, days * 86400LL < SOON_S ? SETUP_WARNING : SETUP_OK, "certificate", "is for %s, and valid for %d days",
             host, days);
    X509_free(x);
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

static void check_trunk(struct checking *k, const struct config_peer *p)
{
    struct sip_server server;
    const bool tls = strcmp(p->transport, "tls") == 0, tcp = tls || strcmp(p->transport, "tcp") == 0;
    sip_server_parse(p->server, &server);
    const uint16_t port = server.port ? server.port : tls ? TLS_PORT : SIP_PORT;
    const int e = reach_answers(server.host, port, tcp);
    if (e)
        tell(k, SETUP_FAILED, "trunk", "%s: %s: check its address, and whether it knows this machine", p->server,
             e == ENOENT ? "name not found" : strerror(e));
    else
        tell(k, SETUP_OK, "trunk", "%s answers; `portero admin trunk list` tells whether it accepts the registration",
             p->server);
}

static void check_callers(struct checking *k)
{
    const struct config *c = k->config;
    for (size_t i = 0; i < c->peer_count; i++)
        if (*c->peers[i].server)
            check_trunk(k, &c->peers[i]);
    if (!c->peer_count && !c->voice_peers[0])
        tell(k, SETUP_WARNING, "callers",
             "any host that reaches the SIP port may call: list the call boxes in voice.peers");
}

static void (*const checks[])(struct checking *k) = {check_name,        check_ports,       check_files,
                                                     check_certificate, check_mail_server, check_callers};

enum setup_result setup_check(const struct config *c, const char *user,
                              void (*report)(enum setup_result r, const char *what, const char *text))
{
    struct checking k = {.config = c, .user = user, .report = report};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        checks[i](&k);
    return k.worst;
}
