#include "base/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config_check.h"
#include "base/config_file.h"
#include "base/config_names.h"
#include "base/config_table.h"
#include "base/mem.h"

#define SECRET_MAX 65536
#define FAULT_MAX  1000

/* Whether the line was added before. */
static bool has_fault(const struct buf *faults, struct str line)
{
    for (struct str rest = buf_view(faults), one; rest.n;) {
        one = str_cut(rest, '\n', &rest);
        if (str_eq(one, line))
            return true;
    }
    return false;
}

void config_fault(const struct config *c, struct buf *faults, const char *fmt, ...)
{
    char text[FAULT_MAX], line[2 * FAULT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct config_origin *origin = config_origin_named(c, text);
    if (origin && origin->wrong)
        return;
    if (origin)
        origin->wrong = true;
    snprintf(line, sizeof line, "%s: %s", origin && origin->where ? origin->where : c->file, text);
    if (!has_fault(faults, str_z(line)))
        buf_printf(faults, "%s\n", line);
}

static void set_defaults(struct config *c)
{
    char rule[CONFIG_RULE_MAX];
    for (const struct config_row *r = config_rows; r->key; r++)
        if (!config_set(r, r->dflt, &c->arena, c, rule))
            abort(); /* an invalid default in the table */
    memcpy(c->plans, config_plan_defaults, sizeof c->plans);
}

/* ---- file and environment ---- */

/* The file at the default path may be missing, a given file must exist. False if it was not parsed to its end. */
static bool load_file(struct config *c, const char *path, struct buf *faults)
{
    const char *name = path ? path : CONFIG_DEFAULT_PATH;
    struct stat st;
    FILE *file = fopen(name, "re");
    if (!file && !path && errno == ENOENT)
        return true;
    if (!file || (fstat(fileno(file), &st) == 0 && S_ISDIR(st.st_mode))) {
        buf_printf(faults, "%s: %s\n", name, strerror(file ? EISDIR : errno));
        if (file)
            fclose(file);
        return false;
    }
    c->file = name;
    bool whole = config_file_read(file, name, c, faults);
    fclose(file);
    return whole;
}

/* Sets the key from PORTERO_SECTION_KEY, if set. */
static void load_variable(const struct config_row *r, size_t plan, void *base, struct config *c, struct buf *faults)
{
    char name[CONFIG_NAME_MAX], rule[CONFIG_RULE_MAX];
    config_variable_name(r, plan, name);
    const char *text = getenv(name);
    if (!text)
        return;
    struct config_origin *origin = config_origin(c, r, plan);
    origin->where = "environment";
    origin->wrong = !config_set(r, text, &c->arena, base, rule);
    if (origin->wrong)
        buf_printf(faults, "environment: %s %s\n", name, rule);
}

/* Whether file or environment name the variable as the source of a secret. */
static bool is_mentioned(const struct config *c, const char *name)
{
    if (strstr(c->text, name))
        return true;
    for (const struct config_row *r = config_rows; r->key; r++)
        if (r->kind == CONFIG_SECRET &&
            strcmp(*(const char *const *)(const void *)((const char *)c + r->offset), name) != 0 &&
            strstr(*(const char *const *)(const void *)((const char *)c + r->offset), name))
            return true;
    return false;
}

/* Variables with our prefix that are not configuration: of clients and tests (a final "_" marks a prefix). */
static bool is_others(const char *name)
{
    static const char *const others[] = {"PORTERO_KEY",   "PORTERO_URL",  "PORTERO_BIN",
                                         "PORTERO_TEST_", "PORTERO_E2E_", "PORTERO_BENCH_"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t n = strlen(others[i]);
        if (strncmp(name, others[i], n) == 0 && (others[i][n - 1] == '_' || !name[n]))
            return true;
    }
    return false;
}

/* Reports unknown variables: a misspelt one would have no effect. */
static void refuse_unknown_variables(const struct config *c, struct buf *faults)
{
    for (char **e = environ; *e; e++) {
        char name[CONFIG_NAME_MAX], near[CONFIG_NAME_MAX];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
        if (!str_starts(str_z(name), STR(CONFIG_VARIABLE_PREFIX)) || is_others(name) ||
            config_is_variable(str_z(name)) || is_mentioned(c, name))
            continue;
        if (config_nearest(name, true, near))
            buf_printf(faults, "environment: %s is not a key; did you mean %s?\n", name, near);
        else
            buf_printf(faults, "environment: %s is not a key: they are called PORTERO_SECTION_KEY\n", name);
    }
}

static void load_environment(struct config *c, struct buf *faults)
{
    for (const struct config_row *r = config_rows; r->key; r++)
        load_variable(r, 0, c, c, faults);
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        for (const struct config_row *r = config_plan_rows; r->key; r++)
            load_variable(r, i, &c->plans[i], c, faults);
    refuse_unknown_variables(c, faults);
}

static void take_override(const struct config_override *o, struct config *c, struct buf *faults)
{
    char rule[CONFIG_RULE_MAX];
    const struct config_row *r = config_rows;
    while (strcmp(r->section, o->section) != 0 || strcmp(r->key, o->key) != 0)
        r++; /* the caller names an existing key */
    struct config_origin *origin = config_origin(c, r, 0);
    origin->where = "command line";
    origin->wrong = !config_set(r, o->value, &c->arena, c, rule);
    if (origin->wrong)
        buf_printf(faults, "%s %s\n", o->option, rule);
}

/* ---- checks across keys ---- */

static void check_production(const struct config *c, struct buf *faults)
{
    const struct {
        const char *name, *provider;
    } all[] = {
        {"mail", c->mail_provider},   {"sms", c->sms_provider},         {"numbers", c->numbers_provider},
        {"voice", c->voice_provider}, {"billing", c->billing_provider},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].provider, "sandbox") == 0)
            config_fault(c, faults, "%s.provider must not be sandbox in production", all[i].name);
    if (!*c->secrets_master_key)
        config_fault(c, faults, "secrets.master_key is required in production");
    if (!*c->tls_certificate && !*c->tls_key)
        config_fault(c, faults, "tls.certificate is required in production");
    if (!str_starts(str_z(c->top_public_url), STR("https:")))
        config_fault(c, faults, "public_url must begin with https: in production");
}

/* Whether a fault of the peer's key was reported. */
static bool is_wrong(const struct config_peer *p, const char *key, const struct buf *faults)
{
    char name[CONFIG_NAME_MAX];
    const int n = snprintf(name, sizeof name, "voice.peer.%s.%s ", p->name, key);
    return faults->n && memmem(faults->p, faults->n, name, (size_t)n);
}

static void check_peers(const struct config *c, struct buf *faults)
{
    for (size_t i = 0; i < c->peer_count; i++) {
        const struct config_peer *p = &c->peers[i];
        if (!p->addresses[0] && !*p->server && !is_wrong(p, "addresses", faults) && !is_wrong(p, "server", faults))
            config_fault(c, faults, "voice.peer.%s.addresses is required", p->name);
    }
}

static void check_twilio(const struct config *c, struct buf *faults)
{
    bool texts = strcmp(c->sms_provider, "twilio") == 0, numbers = strcmp(c->numbers_provider, "twilio") == 0;
    if (!texts && !numbers)
        return;
    const char *user = texts ? "sms" : "numbers";
    if (!config_is_protected_url(c->twilio_url))
        config_fault(c, faults, "twilio.url must begin with https:, or be on this machine");
    if (!*c->twilio_account_sid)
        config_fault(c, faults, "twilio.account_sid is required with %s.provider twilio", user);
    if (!*c->twilio_auth_token)
        config_fault(c, faults, "twilio.auth_token is required with %s.provider twilio", user);
    if (texts && !*c->twilio_from)
        config_fault(c, faults, "twilio.from is required with sms.provider twilio");
}

/* Otherwise whoever signs in spends the operator's money. */
static void check_bought_numbers(const struct config *c, struct buf *faults)
{
    if (c->unbilled && !c->listed && strcmp(c->numbers_provider, "twilio") == 0)
        config_fault(c, faults,
                     "accounts.signup must be listed with billing.provider none and numbers.provider twilio: "
                     "each account gets a number that you pay for");
}

static void check_code_calls(const struct config *c, struct buf *faults)
{
    bool trunk = false;
    if (strcmp(c->sms_provider, "call") != 0)
        return;
    for (size_t i = 0; i < c->peer_count; i++)
        trunk = trunk || *c->peers[i].server;
    if (strcmp(c->voice_provider, "sip") != 0 || !*c->listen_sip)
        config_fault(c, faults, "voice.provider must be sip, with listen.sip, for sms.provider call");
    else if (!trunk)
        config_fault(c, faults, "sms.provider call needs a trunk: a peer with a server in section voice");
    if (!c->voice_speech_cache_mb)
        config_fault(c, faults, "voice.speech_cache_mb must not be 0 with sms.provider call");
}

static void check_stripe(const struct config *c, struct buf *faults)
{
    bool priced = false;
    if (strcmp(c->billing_provider, "stripe") != 0)
        return;
    if (!config_is_protected_url(c->stripe_url))
        config_fault(c, faults, "stripe.url must begin with https:, or be on this machine");
    if (!*c->stripe_secret_key)
        config_fault(c, faults, "stripe.secret_key is required with billing.provider stripe");
    if (!*c->stripe_webhook_secret)
        config_fault(c, faults, "stripe.webhook_secret is required with billing.provider stripe");
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        priced = priced || *c->plans[i].stripe_price;
    if (!priced)
        config_fault(c, faults,
                     "billing.plan.%s.stripe_price, or another plan's, is required with billing.provider stripe",
                     c->plans[0].id);
}

/* Both listen on the same addresses of the machine. */
static void check_sips(const struct config *c, struct buf *faults)
{
    const char *sip = strrchr(c->listen_sip, ':'), *sips = strrchr(c->listen_sips, ':');
    if (sip && sips &&
        !str_eq(str_n(c->listen_sip, (size_t)(sip - c->listen_sip)),
                str_n(c->listen_sips, (size_t)(sips - c->listen_sips))))
        config_fault(c, faults, "listen.sips must have the address of listen.sip");
}

static void check_whole(const struct config *c, struct buf *faults)
{
    if (!*c->top_data_dir)
        config_fault(c, faults, "data_dir must not be empty");
    if (!*c->listen_https && !*c->listen_http)
        config_fault(c, faults, "listen.https and listen.http must not both be empty");
    if (!*c->tls_certificate != !*c->tls_key)
        config_fault(c, faults, "%s is given, so %s must be too", *c->tls_key ? "tls.key" : "tls.certificate",
                     *c->tls_key ? "tls.certificate" : "tls.key");
    if (!*c->tls_sip_certificate != !*c->tls_sip_key)
        config_fault(c, faults, "%s is given, so %s must be too",
                     *c->tls_sip_key ? "tls.sip_key" : "tls.sip_certificate",
                     *c->tls_sip_key ? "tls.sip_certificate" : "tls.sip_key");
    check_sips(c, faults);
    if (c->engine == ENGINE_POSTGRESQL && !*c->store_dsn)
        config_fault(c, faults, "store.dsn is required with store.engine postgresql");
    if (strcmp(c->mail_provider, "smtp") == 0 && !*c->mail_url)
        config_fault(c, faults, "mail.url is required with mail.provider smtp");
    check_peers(c, faults);
    check_twilio(c, faults);
    check_bought_numbers(c, faults);
    check_code_calls(c, faults);
    check_stripe(c, faults);
    if (c->production)
        check_production(c, faults);
}

static void config_derive(struct config *c)
{
    c->production = strcmp(c->top_mode, "production") == 0;
    c->unbilled = strcmp(c->billing_provider, "none") == 0;
    c->listed = *c->accounts_signup ? strcmp(c->accounts_signup, "listed") == 0 : c->production && c->unbilled;
    c->assigned = c->unbilled && strcmp(c->numbers_provider, "pool") == 0;
    c->engine = strcmp(c->store_engine, "postgresql") == 0 ? ENGINE_POSTGRESQL : ENGINE_SQLITE;
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        if (c->plans[i].amount_minor < 0)
            c->plans[i].available = false;
}

static struct config *config_new(const char *name)
{
    struct config *c = mem_new(struct config);
    arena_init(&c->arena, NULL, 0);
    c->file = name;
    c->text = "";
    c->origins = config_origins_new(&c->arena);
    set_defaults(c);
    return c;
}

/* Sets the values that follow the file, and checks all. `whole`: the file was parsed to its end. */
static struct config *config_complete(struct config *c, bool whole, const struct config_override *overrides,
                                      size_t count, struct buf *faults)
{
    load_environment(c, faults);
    for (size_t i = 0; i < count; i++)
        if (overrides[i].value)
            take_override(&overrides[i], c, faults);
    if (!whole) {
        config_free(c);
        return NULL;
    }
    config_derive(c);
    check_whole(c, faults);
    return c;
}

struct config *config_read(const char *path, const struct config_override *overrides, size_t count, struct buf *faults)
{
    struct config *c = config_new(path ? path : "configuration");
    return config_complete(c, load_file(c, path, faults), overrides, count, faults);
}

struct config *config_read_text(const char *name, struct str text, struct buf *faults)
{
    struct config *c = config_new(name);
    FILE *file = fmemopen((char *)(uintptr_t)text.p, text.n, "r");
    if (!file)
        abort(); /* no memory */
    const bool whole = config_file_read(file, name, c, faults);
    fclose(file);
    return config_complete(c, whole, NULL, 0, faults);
}

char *config_faults_text(struct buf *faults)
{
    char *text = mem_strndup(faults->n ? faults->p : "", faults->n ? faults->n - 1 : 0);
    buf_done(faults);
    return text;
}

enum err config_load(const char *path, struct config **ret, char **ret_why)
{
    return config_load_with(path, NULL, 0, ret, ret_why);
}

enum err config_load_with(const char *path, const struct config_override *overrides, size_t count, struct config **ret,
                          char **ret_why)
{
    struct buf faults = BUF(CONFIG_FAULTS_MAX);
    struct config *c = config_read(path, overrides, count, &faults);
    if (faults.n) {
        config_free(c);
        *ret_why = config_faults_text(&faults);
        return ERR_USAGE;
    }
    buf_done(&faults);
    *ret = c;
    return ERR_NONE;
}

void config_free(struct config *c)
{
    if (!c)
        return;
    arena_done(&c->arena);
    free(c);
}

/* ---- secrets ---- */

static enum err read_secret_file(const char *path, struct arena *a, struct str *ret)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return ERR_IO;
    setvbuf(file, NULL, _IONBF, 0); /* avoids a second copy in memory */
    char *p = arena_alloc(a, SECRET_MAX + 1);
    size_t n = fread(p, 1, SECRET_MAX + 1, file);
    int error = ferror(file) ? errno : n > SECRET_MAX ? EFBIG : 0;
    fclose(file);
    if (error) {
        errno = error;
        return ERR_IO;
    }
    if (n && p[n - 1] == '\n' && --n && p[n - 1] == '\r')
        n--;
    p[n] = '\0';
    *ret = (struct str){p, n};
    return ERR_NONE;
}

static enum err resolve_secret(const char *value, struct arena *a, struct str *ret)
{
    struct str s = str_z(value);
    if (str_starts(s, STR("file:")))
        return read_secret_file(value + strlen("file:"), a, ret);
    if (str_starts(s, STR("env:"))) {
        s = str_z(getenv(value + strlen("env:")));
        if (!s.p)
            return ERR_USAGE;
    }
    *ret = arena_str(a, s);
    return ERR_NONE;
}

enum err config_secret_of(const char *key, const char *value, struct arena *a, struct str *ret, char **ret_why)
{
    if (str_starts(str_z(value), STR(CONFIG_CREDENTIAL))) {
        const char *path = config_credential(value + strlen(CONFIG_CREDENTIAL), a);
        if (!path)
            return err_why(ret_why, ERR_USAGE, "%s: %s", key, CONFIG_CREDENTIAL_RULE);
        value = arena_printf(a, "file:%s", path).p;
    }
    const char *place = strchr(value, ':'); /* only file: and env: can fail */
    enum err e = resolve_secret(value, a, ret);
    if (!e)
        return ERR_NONE;
    if (e == ERR_USAGE)
        return err_why(ret_why, ERR_USAGE, "%s: environment variable %s is not set", key, place + 1);
    return err_why(ret_why, ERR_USAGE, "%s: %s: %s", key, place + 1, strerror(errno));
}
