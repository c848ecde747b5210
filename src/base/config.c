#include "base/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/config_check.h"
#include "base/config_file.h"
#include "base/config_table.h"

#define SECRET_MAX        65536
#define VARIABLE_NAME_MAX 100

/* Sets *ret_why and returns false. */
__attribute__((format(printf, 2, 3))) static bool fail(char **ret_why, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(ret_why, fmt, ap) < 0)
        abort();
    va_end(ap);
    return false;
}

static void set_defaults(struct config *c)
{
    char rule[CONFIG_RULE_MAX];
    for (const struct config_row *r = config_rows; r->key; r++)
        if (!config_set(r, r->dflt, &c->arena, c, rule))
            abort(); /* the table contradicts itself */
    memcpy(c->plans, config_plan_defaults, sizeof c->plans);
}

/* ---- file and environment ---- */

/* No file at the default place is fine; one that was asked for must be there. */
static bool load_file(struct config *c, const char *path, char **ret_why)
{
    const char *name = path ? path : CONFIG_DEFAULT_PATH;
    struct stat st;
    FILE *file = fopen(name, "re");
    if (!file)
        return (!path && errno == ENOENT) || fail(ret_why, "%s: %s", name, strerror(errno));
    bool directory = fstat(fileno(file), &st) == 0 && S_ISDIR(st.st_mode);
    bool fine = directory ? fail(ret_why, "%s: %s", name, strerror(EISDIR)) : config_file_read(file, name, c, ret_why);
    fclose(file);
    return fine;
}

/* PORTERO_SECTION_KEY, if the environment has it. */
static bool load_variable(const struct config_row *r, const char *section, struct arena *a, void *base, char **ret_why)
{
    char name[VARIABLE_NAME_MAX], rule[CONFIG_RULE_MAX];
    snprintf(name, sizeof name, "PORTERO_%s%s%s", section, *section ? "_" : "", r->key);
    for (char *p = name; *p; p++)
        if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 'a' + 'A');
    const char *text = getenv(name);
    return !text || config_set(r, text, a, base, rule) || fail(ret_why, "environment: %s %s", name, rule);
}

static bool load_environment(struct config *c, char **ret_why)
{
    char section[VARIABLE_NAME_MAX];
    for (const struct config_row *r = config_rows; r->key; r++)
        if (!load_variable(r, config_is_top(r) ? "" : r->section, &c->arena, c, ret_why))
            return false;
    for (size_t i = 0; i < CONFIG_PLANS; i++) {
        snprintf(section, sizeof section, "billing_plan_%s", c->plans[i].id);
        for (const struct config_row *r = config_plan_rows; r->key; r++)
            if (!load_variable(r, section, &c->arena, &c->plans[i], ret_why))
                return false;
    }
    return true;
}

static bool take_override(const struct config_override *o, struct config *c, char **ret_why)
{
    char rule[CONFIG_RULE_MAX];
    const struct config_row *r = config_rows;
    while (strcmp(r->section, o->section) != 0 || strcmp(r->key, o->key) != 0)
        r++; /* the caller names a key there is */
    return config_set(r, o->value, &c->arena, c, rule) || fail(ret_why, "%s %s", o->option, rule);
}

static bool take_overrides(const struct config_override *overrides, size_t count, struct config *c, char **ret_why)
{
    for (size_t i = 0; i < count; i++)
        if (overrides[i].value && !take_override(&overrides[i], c, ret_why))
            return false;
    return true;
}

/* ---- the whole: what no single key can tell ---- */

/* The first provider that is only the sandbox's, or NULL. */
static const char *sandbox_provider(const struct config *c)
{
    const struct {
        const char *name, *provider;
    } all[] = {
        {"mail", c->mail_provider},   {"sms", c->sms_provider},         {"numbers", c->numbers_provider},
        {"voice", c->voice_provider}, {"billing", c->billing_provider},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].provider, "sandbox") == 0)
            return all[i].name;
    return NULL;
}

static bool check_production(const struct config *c, const char *where, char **ret_why)
{
    const char *sandbox = sandbox_provider(c);
    if (sandbox)
        return fail(ret_why, "%s: %s.provider must not be sandbox in production", where, sandbox);
    if (!*c->secrets_master_key)
        return fail(ret_why, "%s: secrets.master_key is required in production", where);
    if (!*c->tls_certificate)
        return fail(ret_why, "%s: tls.certificate is required in production", where);
    if (!str_starts(str_z(c->top_public_url), STR("https:")))
        return fail(ret_why, "%s: public_url must begin with https: in production", where);
    return true;
}

static bool check_twilio(const struct config *c, const char *where, char **ret_why)
{
    bool texts = strcmp(c->sms_provider, "twilio") == 0, numbers = strcmp(c->numbers_provider, "twilio") == 0;
    if (!texts && !numbers)
        return true;
    const char *user = texts ? "sms" : "numbers";
    if (!config_is_protected_url(c->twilio_url))
        return fail(ret_why, "%s: twilio.url must begin with https:, or be on this machine", where);
    if (!*c->twilio_account_sid || !*c->twilio_auth_token)
        return fail(ret_why, "%s: twilio.account_sid and twilio.auth_token are required with %s.provider twilio", where,
                    user);
    if (texts && !*c->twilio_from)
        return fail(ret_why, "%s: twilio.from is required with sms.provider twilio", where);
    return true;
}

static bool check_stripe(const struct config *c, const char *where, char **ret_why)
{
    if (strcmp(c->billing_provider, "stripe") != 0)
        return true;
    if (!config_is_protected_url(c->stripe_url))
        return fail(ret_why, "%s: stripe.url must begin with https:, or be on this machine", where);
    if (!*c->stripe_secret_key || !*c->stripe_webhook_secret)
        return fail(ret_why,
                    "%s: stripe.secret_key and stripe.webhook_secret are required with billing.provider stripe", where);
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        if (*c->plans[i].stripe_price)
            return true;
    return fail(ret_why, "%s: a plan's stripe_price is required with billing.provider stripe", where);
}

static bool check_whole(const struct config *c, const char *where, char **ret_why)
{
    if (!*c->top_data_dir)
        return fail(ret_why, "%s: data_dir must not be empty", where);
    if (!*c->listen_https && !*c->listen_http)
        return fail(ret_why, "%s: listen.https and listen.http must not both be empty", where);
    if (!*c->tls_certificate != !*c->tls_key)
        return fail(ret_why, "%s: tls.certificate and tls.key must be given together", where);
    if (c->engine == ENGINE_POSTGRESQL && !*c->store_dsn)
        return fail(ret_why, "%s: store.dsn is required with store.engine postgresql", where);
    if (strcmp(c->mail_provider, "smtp") == 0 && !*c->mail_url)
        return fail(ret_why, "%s: mail.url is required with mail.provider smtp", where);
    if (!check_twilio(c, where, ret_why) || !check_stripe(c, where, ret_why))
        return false;
    return !c->production || check_production(c, where, ret_why);
}

static void derive(struct config *c)
{
    c->production = strcmp(c->top_mode, "production") == 0;
    c->engine = strcmp(c->store_engine, "postgresql") == 0 ? ENGINE_POSTGRESQL : ENGINE_SQLITE;
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        if (c->plans[i].amount_minor < 0)
            c->plans[i].available = false;
}

enum err config_load(const char *path, struct config **ret, char **ret_why)
{
    return config_load_with(path, NULL, 0, ret, ret_why);
}

enum err config_load_with(const char *path, const struct config_override *overrides, size_t count, struct config **ret,
                          char **ret_why)
{
    struct config *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    arena_init(&c->arena, NULL, 0);
    set_defaults(c);
    if (!load_file(c, path, ret_why) || !load_environment(c, ret_why) || !take_overrides(overrides, count, c, ret_why))
        goto refused;
    derive(c);
    if (!check_whole(c, path ? path : "configuration", ret_why))
        goto refused;
    *ret = c;
    return ERR_NONE;
refused:
    config_free(c);
    return ERR_USAGE;
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
    setvbuf(file, NULL, _IONBF, 0); /* no second copy of it in memory */
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

enum err config_secret(const char *value, struct arena *a, struct str *ret)
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
    const char *place = strchr(value, ':'); /* every failure is of file: or env: */
    enum err e = config_secret(value, a, ret);
    if (!e)
        return ERR_NONE;
    if (e == ERR_USAGE)
        fail(ret_why, "%s: the environment has no %s", key, place + 1);
    else
        fail(ret_why, "%s: %s: %s", key, place + 1, strerror(errno));
    return ERR_USAGE;
}
