#include "cli/checks.h"

#include <errno.h>
#include <libpq-fe.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/config_check.h"
#include "base/config_table.h"
#include "cli/control.h"
#include "cli/datadir.h"
#include "http/tls.h"
#include "providers/providers.h"
#include "providers/stripe_object.h"

/* Adds the reason that a part of the service gave, and frees it. */
static void add_fault(const struct config *c, struct buf *faults, char *why)
{
    config_fault(c, faults, "%s", why);
    free(why);
}

/* ---- files and secrets ---- */

/* `kind`: of datadir_check's errors. */
static void add_data_dir_fault(const struct config *c, enum err kind, struct buf *faults)
{
    char *why = NULL;
    if (*c->top_data_dir && datadir_check(c, &why) == kind)
        add_fault(c, faults, why);
    else
        free(why);
}

static void check_socket_path(const struct config *c, struct buf *faults)
{
    if (strlen(c->top_data_dir) + sizeof "/" CONTROL_SOCKET > sizeof((struct sockaddr_un *)0)->sun_path)
        config_fault(c, faults, "data_dir is too long for the path of a socket");
    else
        add_data_dir_fault(c, ERR_USAGE, faults);
}

static void check_data_dir_now(const struct config *c, struct buf *faults)
{
    add_data_dir_fault(c, ERR_IO, faults);
}

static void check_master_key(const struct config *c, struct buf *faults)
{
    char *why = NULL;
    if (datadir_master_key_check(c, &why))
        add_fault(c, faults, why);
}

static void check_secrets(const struct config *c, struct buf *faults)
{
    struct arena arena;
    struct str unused;
    arena_init(&arena, NULL, 0);
    for (const struct config_row *r = config_rows; r->key; r++) {
        char name[100], *why = NULL;
        if (r->kind != CONFIG_SECRET)
            continue;
        const char *value = *(const char *const *)(const void *)((const char *)c + r->offset);
        snprintf(name, sizeof name, "%s.%s", r->section, r->key);
        if (*value && config_secret_of(name, value, &arena, &unused, &why))
            add_fault(c, faults, why);
    }
    for (size_t i = 0; i < c->peer_count; i++) {
        char name[100], *why = NULL;
        snprintf(name, sizeof name, "voice.peer.%s.password", c->peers[i].name);
        if (config_secret_of(name, c->peers[i].password, &arena, &unused, &why))
            add_fault(c, faults, why);
    }
    arena_done(&arena);
}

/* `name` is the prefix of both keys in section tls. */
static void check_pair(const struct config *c, const char *name, const char *certificate, const char *key,
                       struct buf *faults)
{
    struct http_tls *tls;
    char *why = NULL;
    if (!*certificate || !*key)
        return;
    if (http_tls_new(certificate, key, c->tls_groups, &tls, &why)) {
        const bool of_key = str_starts(str_z(why), str_z(key)) && strcmp(key, certificate) != 0;
        config_fault(c, faults, "tls.%s%s: %s", name, of_key ? "key" : "certificate", why);
        free(why);
    } else {
        http_tls_free(tls);
    }
}

static void check_certificates(const struct config *c, struct buf *faults)
{
    check_pair(c, "", c->tls_certificate, c->tls_key, faults);
    check_pair(c, "sip_", c->tls_sip_certificate, c->tls_sip_key, faults);
    for (size_t i = 0; i < c->peer_count; i++)
        if (*c->peers[i].tls_ca && access(c->peers[i].tls_ca, R_OK))
            config_fault(c, faults, "voice.peer.%s.tls_ca: %s: %s", c->peers[i].name, c->peers[i].tls_ca,
                         strerror(errno));
}

/* check_secrets reports a DSN that cannot be read. */
static void check_dsn(const struct config *c, struct buf *faults)
{
    struct arena arena;
    struct str dsn;
    char *why = NULL;
    if (c->engine != ENGINE_POSTGRESQL || !*c->store_dsn)
        return;
    arena_init(&arena, NULL, 0);
    if (config_secret_of("store.dsn", c->store_dsn, &arena, &dsn, &why)) {
        free(why);
    } else {
        PQconninfoOption *options = PQconninfoParse(dsn.p, &why);
        if (!options) /* libpq's message may contain the password */
            config_fault(c, faults, "store.dsn is not a valid libpq connection string");
        PQconninfoFree(options);
        PQfreemem(why);
    }
    arena_done(&arena);
}

/* ---- addresses ---- */

struct listener {
    const char *key, *address;
    bool udp; /* as well as TCP */
};

#define LISTENERS_MAX 5

/* The listeners of the configuration. */
static size_t listeners(const struct config *c, struct listener ret[static LISTENERS_MAX])
{
    const struct listener all[LISTENERS_MAX] = {
        {"listen.https", c->listen_https, false},
        {"listen.http", c->listen_http, false},
        {"listen.sip", strcmp(c->voice_provider, "sip") == 0 ? c->listen_sip : "", true},
        {"listen.sips", strcmp(c->voice_provider, "sip") == 0 ? c->listen_sips : "", false},
        {"listen.metrics", c->listen_metrics, false},
    };
    size_t n = 0;
    for (size_t i = 0; i < LISTENERS_MAX; i++)
        if (*all[i].address)
            ret[n++] = all[i];
    return n;
}

static int bind_error(const char *host, const char *port, int type)
{
    const struct addrinfo hints = {.ai_socktype = type, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *at;
    if (getaddrinfo(host, port, &hints, &at))
        return 0;
    int fd = socket(at->ai_family, type | SOCK_CLOEXEC, 0);
    bool bound = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0 &&
                 bind(fd, at->ai_addr, at->ai_addrlen) == 0;
    int error = bound ? 0 : errno;
    if (fd >= 0)
        close(fd);
    freeaddrinfo(at);
    return error;
}

/* localhost may lack IPv6. */
static int localhost_bind_error(const char *port, int type)
{
    const int error = bind_error("127.0.0.1", port, type);
    return error ? error : bind_error("::1", port, type) == EADDRINUSE ? EADDRINUSE : 0;
}

int checks_bind_error(const char *address, int type)
{
    char host[64];
    const char *port = strrchr(address, ':');
    const bool bracketed = *address == '[';
    if (!port)
        return 0; /* config_set has reported it */
    if (config_localhost_port(address))
        return localhost_bind_error(port + 1, type);
    snprintf(host, sizeof host, "%.*s", (int)(port - address) - 2 * bracketed, address + bracketed);
    return bind_error(host, port + 1, type);
}

static int listen_error(const struct listener *l)
{
    int error = checks_bind_error(l->address, SOCK_STREAM);
    if ((!error || error == EADDRINUSE) && l->udp)
        error = checks_bind_error(l->address, SOCK_DGRAM);
    return error == EADDRINUSE ? 0 : error;
}

/* `absent`: the errors of addresses that this machine does not have, or all others. */
static void check_address(const struct config *c, const struct listener *l, bool absent, struct buf *faults)
{
    const int error = listen_error(l);
    if (error && (error == EADDRNOTAVAIL) == absent)
        config_fault(c, faults, "%s: cannot listen on %s: %s", l->key, l->address, strerror(error));
}

/* Whether both take the same port of an address. */
static bool is_same_address(const char *a, const char *b)
{
    const char *local_a = config_localhost_port(a), *local_b = config_localhost_port(b);
    const char *port_a = strrchr(a, ':'), *port_b = strrchr(b, ':');
    if (!port_a || !port_b || strcmp(port_a, ":0") == 0)
        return false;
    if (!local_a == !local_b)
        return strcmp(a, b) == 0;
    const char *other = local_a ? b : a;
    return strcmp(port_a, port_b) == 0 &&
           (str_starts(str_z(other), STR("127.0.0.1:")) || str_starts(str_z(other), STR("[::1]:")));
}

static void check_addresses(const struct config *c, struct buf *faults)
{
    struct listener all[LISTENERS_MAX];
    size_t n = listeners(c, all);
    for (size_t i = 0; i < n; i++) {
        check_address(c, &all[i], false, faults);
        for (size_t j = 0; j < i; j++)
            if (is_same_address(all[i].address, all[j].address))
                config_fault(c, faults, "%s is the same address as %s", all[i].key, all[j].key);
    }
}

static void check_addresses_now(const struct config *c, struct buf *faults)
{
    struct listener all[LISTENERS_MAX];
    size_t n = listeners(c, all);
    for (size_t i = 0; i < n; i++)
        check_address(c, &all[i], true, faults);
}

/* ---- providers, opened as the service does ---- */

static void check_mail(const struct config *c, struct buf *faults)
{
    struct mailer *mailer = NULL;
    char *why = NULL;
    if (mailer_new(c, NULL, &mailer, &why))
        add_fault(c, faults, why);
    mailer_free(mailer);
}

static void check_rtp_ports(const struct config *c, struct buf *faults)
{
    const long long ports = 4 * (long long)c->voice_calls;
    if (c->voice_rtp_port_high - c->voice_rtp_port_low < ports)
        config_fault(c, faults,
                     "voice.rtp_port_high must be at least %lld above voice.rtp_port_low: four for each call of "
                     "voice.calls, two for the call box and two for the phone that it rings",
                     ports);
}

static void check_texts(const struct config *c, struct buf *faults)
{
    struct texter *texter = NULL;
    char *why = NULL;
    if (texter_new(c, NULL, &texter, &why))
        add_fault(c, faults, why);
    texter_free(texter);
}

static void check_numbers(const struct config *c, struct buf *faults)
{
    struct number_source *numbers = NULL;
    char *why = NULL;
    if (number_source_new(c, NULL, &numbers, &why))
        add_fault(c, faults, why);
    number_source_free(numbers);
}

static void check_twilio_hook(const struct config *c, struct buf *faults)
{
    struct twilio_hook *hook = NULL;
    char *why = NULL;
    if (twilio_hook_new(c, &hook, &why))
        add_fault(c, faults, why);
    twilio_hook_free(hook);
}

static void check_billing(const struct config *c, struct buf *faults)
{
    struct billing *billing = NULL;
    char *why = NULL;
    if (billing_new(c, NULL, &billing, &why))
        add_fault(c, faults, why);
    billing_free(billing);
}

static void check_prices(const struct config *c, struct buf *faults)
{
    for (size_t i = 0; i < CONFIG_PLANS && strcmp(c->billing_provider, "stripe") == 0; i++)
        if (*c->plans[i].stripe_price && !stripe_is_id(str_z(c->plans[i].stripe_price)))
            config_fault(c, faults, "billing.plan.%s.stripe_price must be the ID of a price, like price_1AbC",
                         c->plans[i].id);
}

/* ---- the table ---- */

static void check_backup(const struct config *c, struct buf *faults)
{
    if (*c->backup_directory && c->engine != ENGINE_SQLITE)
        config_fault(c, faults, "backup.directory follows a SQLite store; PostgreSQL has its own archive");
}

static const struct {
    void (*run)(const struct config *c, struct buf *faults);
    bool passes; /* its faults may pass by themselves, and a start meets them again */
} checks[] = {
    {check_socket_path, false}, {check_master_key, false}, {check_secrets, false},     {check_certificates, false},
    {check_dsn, false},         {check_addresses, false},  {check_mail, false},        {check_rtp_ports, false},
    {check_texts, false},       {check_numbers, false},    {check_twilio_hook, false}, {check_prices, false},
    {check_billing, false},     {check_backup, false},     {check_data_dir_now, true}, {check_addresses_now, true},
};

static void run_checks(const struct config *c, bool start, struct buf *faults)
{
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (!(start && checks[i].passes))
            checks[i].run(c, faults);
}

void checks_run(const struct config *c, struct buf *faults)
{
    run_checks(c, false, faults);
}

static enum err load_and_check(const char *path, const struct config_override *overrides, size_t count, bool start,
                               struct config **ret, char **ret_why)
{
    struct buf faults = BUF(CONFIG_FAULTS_MAX);
    struct config *c = config_read(path, overrides, count, &faults);
    if (c)
        run_checks(c, start, &faults);
    if (faults.n) {
        config_free(c);
        *ret_why = config_faults_text(&faults);
        return ERR_USAGE;
    }
    buf_done(&faults);
    *ret = c;
    return ERR_NONE;
}

enum err checks_load(const char *path, const struct config_override *overrides, size_t count, struct config **ret,
                     char **ret_why)
{
    return load_and_check(path, overrides, count, false, ret, ret_why);
}

enum err checks_load_start(const char *path, const struct config_override *overrides, size_t count, struct config **ret,
                           char **ret_why)
{
    return load_and_check(path, overrides, count, true, ret, ret_why);
}
