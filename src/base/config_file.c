#include "base/config_file.h"

#include <confuse.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/config_table.h"
#include "base/config_text.h"

#define NAME_MAX_LEN 100 /* of a key in a message: the table's names are far shorter */

struct reader {
    struct config *c;
    const char *file;
    char *why;                            /* the first thing that was wrong */
    struct arena scratch;                 /* for the time of reading */
    bool *seen, *seen_plan[CONFIG_PLANS]; /* one per row: a key stands once */
    bool *seen_section;                   /* at the section's first row */
    const char *list;                     /* the items so far of the list that was read last */
};

/* libconfuse's callbacks carry no pointer of ours. */
static struct reader *reading;

/* Notes the failure, at the parser's line if it has begun, and returns what makes libconfuse stop. */
__attribute__((format(printf, 2, 3))) static int fail(const cfg_t *cfg, const char *fmt, ...)
{
    char *text, *why, line[16] = "";
    va_list ap;
    if (cfg->line > 0)
        snprintf(line, sizeof line, ":%d", cfg->line);
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0 || asprintf(&why, "%s%s: %s", reading->file, line, text) < 0)
        abort();
    va_end(ap);
    free(text);
    if (reading->why)
        free(why);
    else
        reading->why = why;
    return -1;
}

/* libconfuse's own complaints: syntax, unknown keys. */
static void on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
    char text[CONFIG_RULE_MAX];
    vsnprintf(text, sizeof text, fmt, ap);
    fail(cfg, "%s", text);
}

/* ---- callbacks: a value was read, a section was closed ---- */

/* A list's items joined by commas, as config_set takes them. */
static const char *joined(cfg_opt_t *opt, struct arena *a)
{
    struct str all = STR("");
    for (unsigned i = 0; i < opt->nvalues; i++)
        all = arena_printf(a, "%.*s%s%s", STR_ARG(all), i ? "," : "", cfg_opt_getnstr(opt, i));
    return all.p;
}

/* Whether a list that was seen begins again. It comes here once for each item, and once more at its end. */
static bool begins_again(cfg_opt_t *opt, const char *text)
{
    return cfg_opt_size(opt) == 1 && strcmp(text, reading->list) != 0;
}

static int take(const cfg_t *cfg, cfg_opt_t *opt, const struct config_row *r, const char *name, void *base, bool *seen)
{
    char rule[CONFIG_RULE_MAX];
    bool list = r->kind == CONFIG_CIDRS;
    const char *text = list ? joined(opt, &reading->scratch) : cfg_opt_getnstr(opt, 0);
    if (*seen && (!list || begins_again(opt, text)))
        return fail(cfg, "%s is given twice", name);
    *seen = true;
    if (list)
        reading->list = text;
    return config_set(r, text, &reading->c->arena, base, rule) ? 0 : fail(cfg, "%s %s", name, rule);
}

static int on_value(cfg_t *cfg, cfg_opt_t *opt)
{
    char name[NAME_MAX_LEN];
    const char *section = strcmp(cfg_name(cfg), "root") == 0 ? "top" : cfg_name(cfg);
    size_t i = 0;
    while (strcmp(config_rows[i].section, section) != 0 || strcmp(config_rows[i].key, cfg_opt_name(opt)) != 0)
        i++; /* the parser knows no key that has no row */
    const struct config_row *r = &config_rows[i];
    snprintf(name, sizeof name, "%s%s%s", config_is_top(r) ? "" : section, config_is_top(r) ? "" : ".", r->key);
    return take(cfg, opt, r, name, reading->c, &reading->seen[i]);
}

static int find_plan(cfg_t *plan)
{
    for (int i = 0; i < CONFIG_PLANS; i++)
        if (strcmp(config_plan_defaults[i].id, cfg_title(plan)) == 0)
            return i;
    return fail(plan, "billing knows the plans weekly and yearly only");
}

static int on_plan_value(cfg_t *cfg, cfg_opt_t *opt)
{
    char name[NAME_MAX_LEN];
    int plan = find_plan(cfg);
    if (plan < 0)
        return -1;
    size_t i = 0;
    while (strcmp(config_plan_rows[i].key, cfg_opt_name(opt)) != 0)
        i++;
    snprintf(name, sizeof name, "billing.plan.%s.%s", config_plan_defaults[plan].id, config_plan_rows[i].key);
    return take(cfg, opt, &config_plan_rows[i], name, &reading->c->plans[plan], &reading->seen_plan[plan][i]);
}

static int on_plan(cfg_t *cfg, cfg_opt_t *opt)
{
    (void)cfg;
    return find_plan(cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1)) < 0 ? -1 : 0;
}

/* libconfuse would forget what a section said when another of its name comes. */
static int on_section(cfg_t *cfg, cfg_opt_t *opt)
{
    size_t i = 0;
    while (strcmp(config_rows[i].section, cfg_opt_name(opt)) != 0)
        i++;
    if (reading->seen_section[i])
        return fail(cfg, "section %s is given twice", config_rows[i].section);
    reading->seen_section[i] = true;
    return 0;
}

/* ---- the parser ---- */

static size_t count(const struct config_row *rows)
{
    size_t n = 0;
    while (rows[n].key)
        n++;
    return n;
}

/* Every value is read as text, so that config_set alone judges it. */
static cfg_opt_t value_option(const struct config_row *r, cfg_validate_callback_t check)
{
    cfg_opt_t single = CFG_STR(r->key, NULL, CFGF_NODEFAULT), list = CFG_STR_LIST(r->key, NULL, CFGF_NODEFAULT);
    cfg_opt_t o = r->kind == CONFIG_CIDRS ? list : single;
    o.validcb = check;
    return o;
}

static cfg_opt_t section_option(const char *name, cfg_opt_t *options, cfg_flag_t flags, cfg_validate_callback_t check)
{
    cfg_opt_t o = CFG_SEC(name, options, flags);
    o.validcb = check;
    return o;
}

static cfg_opt_t plan_option(struct arena *a)
{
    size_t n = count(config_plan_rows);
    cfg_opt_t *options = arena_array(a, cfg_opt_t, n + 1); /* ended by zeroes, as CFG_END is */
    for (size_t i = 0; i < n; i++)
        options[i] = value_option(&config_plan_rows[i], on_plan_value);
    return section_option("plan", options, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES, on_plan);
}

/* The options of one section, and their number; there is room for `more` and the end. */
static cfg_opt_t *section_options(const char *section, size_t more, struct arena *a, size_t *ret_n)
{
    cfg_opt_t *options = arena_array(a, cfg_opt_t, count(config_rows) + more + 1);
    size_t n = 0;
    for (const struct config_row *r = config_rows; r->key; r++)
        if (strcmp(r->section, section) == 0)
            options[n++] = value_option(r, on_value);
    *ret_n = n;
    return options;
}

/* libconfuse copies the options. */
static cfg_t *make_parser(struct arena *a)
{
    size_t n, m;
    const char *section = "top";
    cfg_opt_t *top = section_options(section, count(config_rows), a, &n);
    for (const struct config_row *r = config_rows; r->key; r++) {
        if (strcmp(r->section, section) == 0)
            continue;
        section = r->section;
        cfg_opt_t *options = section_options(section, 1, a, &m);
        if (strcmp(section, "billing") == 0)
            options[m] = plan_option(a);
        top[n++] = section_option(section, options, CFGF_NONE, on_section);
    }
    cfg_t *cfg = cfg_init(top, CFGF_NONE);
    if (!cfg)
        abort();
    cfg_set_error_function(cfg, on_error);
    return cfg;
}

static void parse(FILE *file)
{
    struct config_text text;
    const char *rule;
    cfg_t *cfg = make_parser(&reading->scratch);
    if (!config_text_read(file, &reading->scratch, &text, &rule)) {
        fail(cfg, "%s", rule);
    } else if (cfg_parse_buf(cfg, text.p) != CFG_SUCCESS) {
        fail(cfg, "cannot be read"); /* unless the reason is known */
    } else if (text.unclosed) {
        cfg->line = (int)text.unclosed;
        fail(cfg, "what begins here is never closed");
    }
    cfg_free(cfg);
}

bool config_file_read(FILE *file, const char *name, struct config *c, char **ret_why)
{
    struct reader r = {.c = c, .file = name};
    arena_init(&r.scratch, NULL, 0);
    r.seen = arena_array(&r.scratch, bool, count(config_rows));
    r.seen_section = arena_array(&r.scratch, bool, count(config_rows));
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        r.seen_plan[i] = arena_array(&r.scratch, bool, count(config_plan_rows));

    reading = &r;
    parse(file);
    reading = NULL;
    arena_done(&r.scratch);
    if (r.why)
        *ret_why = r.why;
    return !r.why;
}
