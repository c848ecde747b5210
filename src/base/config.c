#include "base/config.h"

#include <confuse.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config_check.h"

#define DEFAULT_PATH "/etc/portero/portero.conf"
#define SECRET_MAX   65536
#define RULE_MAX     200
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- the table ------------------------------------------------------------------------------------------------------
 */

enum kind { ROW_STRING, ROW_ENUM, ROW_ADDRESS, ROW_URL, ROW_CURRENCY, ROW_INTEGER, ROW_BOOLEAN, ROW_CIDRS };

/* A key: how its text is checked and where its value goes. Defaults, file and environment all pass through set_text. */
struct row {
    const char *section, *key;
    enum kind kind;
    const char *dflt;
    const char *words; /* of ROW_ENUM and ROW_URL */
    int64_t lo, hi;    /* of ROW_INTEGER */
    size_t offset;     /* in struct config; of plan rows, in struct config_plan */
};

#define ROW(section_, key_, ...)                                                                                       \
    {.section = #section_, .key = #key_, .offset = offsetof(struct config, section_##_##key_), __VA_ARGS__},
static const struct row rows[] = {
#define STRING(section, key, default_, doc)       ROW(section, key, .kind = ROW_STRING, .dflt = default_)
#define ENUM(section, key, default_, words_, doc) ROW(section, key, .kind = ROW_ENUM, .dflt = default_, .words = words_)
#define ADDRESS(section, key, default_, doc)      ROW(section, key, .kind = ROW_ADDRESS, .dflt = default_)
#define URL(section, key, default_, words_, doc)  ROW(section, key, .kind = ROW_URL, .dflt = default_, .words = words_)
#define INTEGER(section, key, default_, lo_, hi_, doc)                                                                 \
    ROW(section, key, .kind = ROW_INTEGER, .dflt = #default_, .lo = lo_, .hi = hi_)
#define BOOLEAN(section, key, default_, doc) ROW(section, key, .kind = ROW_BOOLEAN, .dflt = #default_)
#define CIDRS(section, key, doc)             ROW(section, key, .kind = ROW_CIDRS, .dflt = "")
#include "tbl/config.def"
};

static const struct row plan_rows[] = {
    {.key = "amount",
     .kind = ROW_INTEGER,
     .lo = -1,
     .hi = 99999999,
     .offset = offsetof(struct config_plan, amount_minor)},
    {.key = "currency", .kind = ROW_CURRENCY, .offset = offsetof(struct config_plan, currency)},
    {.key = "interval",
     .kind = ROW_ENUM,
     .words = "day|week|month|year",
     .offset = offsetof(struct config_plan, interval)},
    {.key = "interval_count",
     .kind = ROW_INTEGER,
     .lo = 1,
     .hi = 365,
     .offset = offsetof(struct config_plan, interval_count)},
    {.key = "available", .kind = ROW_BOOLEAN, .offset = offsetof(struct config_plan, available)},
};

static const struct config_plan plan_defaults[CONFIG_PLANS] = {
#define STRING(section, key, dflt, doc)
#define INTEGER(section, key, dflt, lo, hi, doc)
#define BOOLEAN(section, key, dflt, doc)
#define CIDRS(section, key, doc)
#define PLAN(id_, amount, currency_, interval_, count) {#id_, amount, currency_, interval_, count, true},
#include "tbl/config.def"
};

static bool is_top(const struct row *r)
{
    return strcmp(r->section, "top") == 0;
}

/* ---- loading
 * --------------------------------------------------------------------------------------------------------- */

struct loader {
    struct config *c;
    const char *file; /* as in messages */
    char *why;        /* the first thing that was wrong */
    bool seen[COUNT(rows)], seen_plan[CONFIG_PLANS][COUNT(plan_rows)];
    const char *sections[COUNT(rows)]; /* those the file has had */
    size_t section_count;
};

/* libconfuse's callbacks carry no pointer of ours. */
static struct loader *loading;

__attribute__((format(printf, 2, 3))) static bool fail(struct loader *l, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!l->why && vasprintf(&l->why, fmt, ap) < 0)
        abort();
    va_end(ap);
    return false;
}

/* ---- one value: checked and stored, or *ret_rule says what it must be
 * --------------------------------------------------- */

static bool set_string(const struct row *r, const char *text, struct arena *a, char *base,
                       char ret_rule[static RULE_MAX])
{
    bool empty_allowed = r->dflt && !*r->dflt && !*text;
    if (r->kind == ROW_ENUM && !config_is_word(text, r->words))
        snprintf(ret_rule, RULE_MAX, "must be one of %s", r->words);
    else if (r->kind == ROW_ADDRESS && !empty_allowed && !config_is_address(text))
        snprintf(ret_rule, RULE_MAX, "must be ADDRESS:PORT, like 127.0.0.1:8443 or [::1]:8443");
    else if (r->kind == ROW_URL && !empty_allowed && !config_is_url(text, r->words))
        snprintf(ret_rule, RULE_MAX, "must be a URL with a host and the scheme %s", r->words);
    else if (r->kind == ROW_CURRENCY && (strlen(text) != 3 || strspn(text, "abcdefghijklmnopqrstuvwxyz") != 3))
        snprintf(ret_rule, RULE_MAX, "must be three lower-case letters");
    else {
        struct str s = str_z(text);
        while (r->kind == ROW_URL && s.n && s.p[s.n - 1] == '/')
            s.n--;
        *(const char **)(void *)(base + r->offset) = arena_str(a, s).p;
        return true;
    }
    return false;
}

static bool set_integer(const struct row *r, const char *text, char *base, char ret_rule[static RULE_MAX])
{
    uint64_t magnitude;
    bool minus = text[0] == '-';
    bool digits = str_to_u64(str_z(text + minus), INT64_MAX, &magnitude);
    int64_t i = digits ? (minus ? -(int64_t)magnitude : (int64_t)magnitude) : 0;
    if (!digits || i < r->lo || i > r->hi) {
        snprintf(ret_rule, RULE_MAX, "must be from %lld to %lld", (long long)r->lo, (long long)r->hi);
        return false;
    }
    *(int64_t *)(void *)(base + r->offset) = i;
    return true;
}

static bool set_boolean(const struct row *r, const char *text, char *base, char ret_rule[static RULE_MAX])
{
    int b = cfg_parse_boolean(text);
    if (b < 0) {
        snprintf(ret_rule, RULE_MAX, "must be true or false");
        return false;
    }
    *(bool *)(base + r->offset) = b != 0;
    return true;
}

/* A list from text: blocks separated by commas. */
static bool set_cidrs(const struct row *r, const char *text, struct arena *a, char *base,
                      char ret_rule[static RULE_MAX])
{
    struct str rest = str_z(text);
    const char **list = arena_array(a, const char *, rest.n + 1);
    size_t n = 0;
    while (rest.p) {
        struct str block = str_trim(str_cut(rest, ',', &rest));
        if (block.n == 0)
            continue;
        list[n] = arena_str(a, block).p;
        if (!config_is_cidr(list[n++])) {
            snprintf(ret_rule, RULE_MAX, "must be a list of CIDR blocks, like 10.0.0.0/8");
            return false;
        }
    }
    *(const char *const **)(void *)(base + r->offset) = list;
    return true;
}

static bool set_text(const struct row *r, const char *text, struct arena *a, void *base, char ret_rule[static RULE_MAX])
{
    switch (r->kind) {
    case ROW_INTEGER:
        return set_integer(r, text, base, ret_rule);
    case ROW_BOOLEAN:
        return set_boolean(r, text, base, ret_rule);
    case ROW_CIDRS:
        return set_cidrs(r, text, a, base, ret_rule);
    default:
        return set_string(r, text, a, base, ret_rule);
    }
}

static void set_defaults(struct config *c)
{
    char rule[RULE_MAX];
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!set_text(&rows[i], rows[i].dflt, &c->arena, c, rule))
            abort(); /* the table contradicts itself */
    memcpy(c->plans, plan_defaults, sizeof plan_defaults);
}

/* ---- the file
 * ----------------------------------------------------------------------------------------------------------- */

static void on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
    char text[RULE_MAX];
    vsnprintf(text, sizeof text, fmt, ap);
    fail(loading, "%s:%d: %s", loading->file, cfg->line, text);
}

/* The list's blocks joined by commas, as set_cidrs takes them. */
static const char *join(cfg_opt_t *opt, struct arena *a)
{
    struct str joined = STR("");
    for (unsigned i = 0; i < opt->nvalues; i++)
        joined = arena_printf(a, "%.*s%s%s", STR_ARG(joined), i ? "," : "", cfg_opt_getnstr(opt, i));
    return joined.p;
}

/* A value of a key was read; `name` is the key's in messages. */
static int take_value(cfg_t *cfg, cfg_opt_t *opt, const struct row *r, const char *name, void *base, bool *seen)
{
    struct loader *l = loading;
    char rule[RULE_MAX];
    bool list = r->kind == ROW_CIDRS; /* its callback comes once per item */
    if (*seen && !list) {
        fail(l, "%s:%d: %s is given twice", l->file, cfg->line, name);
        return -1;
    }
    *seen = true;
    const char *text = list ? join(opt, &l->c->arena) : cfg_opt_getnstr(opt, 0);
    if (set_text(r, text, &l->c->arena, base, rule))
        return 0;
    fail(l, "%s:%d: %s %s", l->file, cfg->line, name, rule);
    return -1;
}

static int on_value(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *section = strcmp(cfg_name(cfg), "root") == 0 ? "top" : cfg_name(cfg);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *r = &rows[i];
        if (strcmp(r->section, section) || strcmp(r->key, cfg_opt_name(opt)))
            continue;
        char name[RULE_MAX];
        snprintf(name, sizeof name, "%s%s%s", is_top(r) ? "" : r->section, is_top(r) ? "" : ".", r->key);
        return take_value(cfg, opt, r, name, loading->c, &loading->seen[i]);
    }
    abort();
}

static int find_plan(cfg_t *plan)
{
    for (int i = 0; i < CONFIG_PLANS; i++)
        if (strcmp(plan_defaults[i].id, cfg_title(plan)) == 0)
            return i;
    fail(loading, "%s:%d: billing has no plan of that name, only weekly and yearly", loading->file, plan->line);
    return -1;
}

static int on_plan_value(cfg_t *cfg, cfg_opt_t *opt)
{
    int plan = find_plan(cfg);
    if (plan < 0)
        return -1;
    size_t i = 0;
    while (strcmp(plan_rows[i].key, cfg_opt_name(opt)))
        i++;
    char name[RULE_MAX];
    snprintf(name, sizeof name, "billing.plan.%s.%s", plan_defaults[plan].id, plan_rows[i].key);
    return take_value(cfg, opt, &plan_rows[i], name, &loading->c->plans[plan], &loading->seen_plan[plan][i]);
}

static int on_plan(cfg_t *cfg, cfg_opt_t *opt)
{
    (void)cfg;
    return find_plan(cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1)) < 0 ? -1 : 0;
}

static int on_section(cfg_t *cfg, cfg_opt_t *opt)
{
    struct loader *l = loading;
    for (size_t i = 0; i < l->section_count; i++) {
        if (strcmp(l->sections[i], cfg_opt_name(opt)) == 0) {
            fail(l, "%s:%d: section %s is given twice", l->file, cfg->line, l->sections[i]);
            return -1;
        }
    }
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].section, cfg_opt_name(opt)) == 0) {
            l->sections[l->section_count++] = rows[i].section;
            break;
        }
    }
    return 0;
}

static cfg_opt_t value_option(const struct row *r, cfg_validate_callback_t check)
{
    cfg_opt_t single = CFG_STR(r->key, NULL, CFGF_NODEFAULT), list = CFG_STR_LIST(r->key, NULL, CFGF_NODEFAULT);
    cfg_opt_t o = r->kind == ROW_CIDRS ? list : single;
    o.validcb = check;
    return o;
}

static cfg_opt_t section_option(const char *name, cfg_opt_t *options, cfg_flag_t flags, cfg_validate_callback_t check)
{
    cfg_opt_t o = CFG_SEC(name, options, flags);
    o.validcb = check;
    return o;
}

/* The options of one section, ended as libconfuse wants it. */
static cfg_opt_t *section_options(const char *section, size_t extra, struct arena *a, size_t *ret_n)
{
    cfg_opt_t *options = arena_array(a, cfg_opt_t, COUNT(rows) + extra + 1); /* all zero: CFG_END */
    size_t n = 0;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].section, section) == 0)
            options[n++] = value_option(&rows[i], on_value);
    *ret_n = n;
    return options;
}

/* libconfuse's parser for the whole table. It copies the options; the arena is scratch. */
static cfg_t *make_parser(struct arena *a)
{
    size_t n, m;
    cfg_opt_t *top = section_options("top", COUNT(rows), a, &n);
    cfg_opt_t *plan = arena_array(a, cfg_opt_t, COUNT(plan_rows) + 1);
    for (size_t i = 0; i < COUNT(plan_rows); i++)
        plan[i] = value_option(&plan_rows[i], on_plan_value);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (is_top(&rows[i]) || strcmp(rows[i].section, rows[i - 1].section) == 0)
            continue;
        cfg_opt_t *options = section_options(rows[i].section, 1, a, &m);
        if (strcmp(rows[i].section, "billing") == 0)
            options[m] = section_option("plan", plan, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES, on_plan);
        top[n++] = section_option(rows[i].section, options, CFGF_NONE, on_section);
    }
    return cfg_init(top, CFGF_NONE);
}

static bool parse_file(struct loader *l, FILE *file)
{
    struct arena scratch;
    arena_init(&scratch, NULL, 0);
    cfg_t *cfg = make_parser(&scratch);
    arena_done(&scratch);
    cfg_set_error_function(cfg, on_error);
    loading = l;
    bool fine = cfg_parse_fp(cfg, file) == CFG_SUCCESS && !l->why;
    loading = NULL;
    cfg_free(cfg);
    return fine || fail(l, "%s: cannot be read", l->file);
}

/* No file at the default place is fine; one that was asked for must be there. */
static bool load_file(struct loader *l, const char *path)
{
    struct stat st;
    FILE *file = fopen(path ? path : DEFAULT_PATH, "re");
    if (!file && !path && errno == ENOENT)
        return true;
    l->file = path ? path : DEFAULT_PATH;
    if (!file)
        return fail(l, "%s: %s", l->file, strerror(errno));
    bool fine = fstat(fileno(file), &st) == 0 && S_ISDIR(st.st_mode) ? fail(l, "%s: %s", l->file, strerror(EISDIR))
                                                                     : parse_file(l, file);
    fclose(file);
    return fine;
}

/* ---- the environment
 * ------------------------------------------------------------------------------------------------------ */

static bool load_variable(struct loader *l, const struct row *r, const char *prefix, void *base)
{
    char name[RULE_MAX], rule[RULE_MAX];
    snprintf(name, sizeof name, "PORTERO_%s%s%s", prefix, *prefix ? "_" : "", r->key);
    for (char *p = name; *p; p++)
        if (*p >= 'a' && *p <= 'z')
            *p &= ~0x20;
    const char *text = getenv(name);
    if (!text || set_text(r, text, &l->c->arena, base, rule))
        return true;
    return fail(l, "environment: %s %s", name, rule);
}

static bool load_environment(struct loader *l)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!load_variable(l, &rows[i], is_top(&rows[i]) ? "" : rows[i].section, l->c))
            return false;
    for (size_t p = 0; p < CONFIG_PLANS; p++) {
        char prefix[RULE_MAX];
        snprintf(prefix, sizeof prefix, "billing_plan_%s", plan_defaults[p].id);
        for (size_t i = 0; i < COUNT(plan_rows); i++)
            if (!load_variable(l, &plan_rows[i], prefix, &l->c->plans[p]))
                return false;
    }
    return true;
}

/* ---- the whole
 * -------------------------------------------------------------------------------------------------------------- */

static bool check_production(struct loader *l)
{
    const struct config *c = l->c;
    const struct {
        const char *name, *provider;
    } providers[] = {
        {"mail", c->mail_provider},   {"sms", c->sms_provider},         {"numbers", c->numbers_provider},
        {"voice", c->voice_provider}, {"billing", c->billing_provider},
    };
    for (size_t i = 0; i < COUNT(providers); i++)
        if (strcmp(providers[i].provider, "sandbox") == 0)
            return fail(l, "%s: %s.provider must not be sandbox in production", l->file, providers[i].name);
    if (!*c->secrets_master_key)
        return fail(l, "%s: secrets.master_key is required in production", l->file);
    if (!*c->tls_certificate)
        return fail(l, "%s: tls.certificate is required in production", l->file);
    if (!str_starts(str_z(c->top_public_url), STR("https:")))
        return fail(l, "%s: public_url must begin with https: in production", l->file);
    return true;
}

static bool check_whole(struct loader *l)
{
    struct config *c = l->c;
    c->production = strcmp(c->top_mode, "production") == 0;
    c->engine = strcmp(c->store_engine, "postgresql") == 0 ? ENGINE_POSTGRESQL : ENGINE_SQLITE;
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        c->plans[i].available = c->plans[i].available && c->plans[i].amount_minor >= 0;
    if (!*c->top_data_dir)
        return fail(l, "%s: data_dir must not be empty", l->file);
    if (!*c->tls_certificate != !*c->tls_key)
        return fail(l, "%s: tls.certificate and tls.key must be given together", l->file);
    if (c->engine == ENGINE_POSTGRESQL && !*c->store_dsn)
        return fail(l, "%s: store.dsn is required with store.engine postgresql", l->file);
    if (strcmp(c->mail_provider, "smtp") == 0 && !*c->mail_url)
        return fail(l, "%s: mail.url is required with mail.provider smtp", l->file);
    return !c->production || check_production(l);
}

enum err config_load(const char *path, struct config **ret, char **ret_why)
{
    struct config *c = calloc(1, sizeof *c);
    struct loader l = {.c = c, .file = "configuration"};
    if (!c)
        abort();
    set_defaults(c);
    if (!load_file(&l, path) || !load_environment(&l) || !check_whole(&l)) {
        config_free(c);
        *ret_why = l.why;
        return ERR_USAGE;
    }
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

/* ---- secrets
 * ------------------------------------------------------------------------------------------------------------------ */

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
    if (n && p[n - 1] == '\n')
        n--;
    if (n && p[n - 1] == '\r')
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
