#include "base/config_file.h"

#include <confuse.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/config_names.h"
#include "base/config_table.h"
#include "base/config_text.h"

#define FAULTS_MAX  100
#define NO_SUCH_KEY "no such option '"

#define PEER_NAME_MAX        32
#define PEER_NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

struct fault {
    int line; /* 0: the whole file */
    const char *text;
};

struct reader {
    struct config *c;
    const char *file;
    struct fault faults[FAULTS_MAX];
    size_t fault_count;
    int unknown_line; /* line of the key that stopped the parser; 0: no such key */
    char unknown[CONFIG_NAME_MAX];
    struct arena scratch;                 /* freed after reading */
    bool *seen, *seen_plan[CONFIG_PLANS]; /* one per row, to find keys given twice */
    bool *seen_peer[CONFIG_PEERS_MAX];
    bool *seen_section; /* at the first row of the section */
    const char *list;   /* items of the last list so far */
};

/* Global because libconfuse's callbacks have no context pointer. */
static struct reader *reading;

/* Adds an error at the parser's current line, unless it was added in an earlier pass over the file. */
__attribute__((format(printf, 2, 3))) static void fault(const cfg_t *cfg, const char *fmt, ...)
{
    char text[CONFIG_RULE_MAX + CONFIG_NAME_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < reading->fault_count; i++)
        if (reading->faults[i].line == cfg->line && strcmp(reading->faults[i].text, text) == 0)
            return;
    if (reading->fault_count < FAULTS_MAX)
        reading->faults[reading->fault_count++] =
            (struct fault){cfg->line, arena_str(&reading->scratch, str_z(text)).p};
}

/* Reports an unknown key with the most similar known name. */
static void unknown_key(const cfg_t *cfg, const char *message)
{
    char given[CONFIG_NAME_MAX * 2], near[CONFIG_NAME_MAX];
    const bool top = strcmp(cfg->name, "root") == 0;
    const char *name = message + strlen(NO_SUCH_KEY);
    snprintf(reading->unknown, sizeof reading->unknown, "%.*s", (int)strcspn(name, "'"), name);
    snprintf(given, sizeof given, "%s%s%s", top ? "" : cfg->name, top ? "" : ".", reading->unknown);
    reading->unknown_line = cfg->line;
    if (config_nearest(given, false, near))
        fault(cfg, "%s; did you mean %s?", message, near);
    else
        fault(cfg, "%s", message);
}

/* Errors of libconfuse, which end its parsing: syntax, unknown keys. */
static void on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
    char text[CONFIG_RULE_MAX];
    vsnprintf(text, sizeof text, fmt, ap);
    if (strncmp(text, NO_SUCH_KEY, strlen(NO_SUCH_KEY)) == 0)
        unknown_key(cfg, text);
    else
        fault(cfg, "%s", text);
}

/* ---- callbacks for values and sections ---- */

/* The items of a list joined by commas, for config_set. */
static const char *joined(cfg_opt_t *opt, struct arena *a)
{
    struct str all = STR("");
    for (unsigned i = 0; i < opt->nvalues; i++)
        all = arena_printf(a, "%.*s%s%s", STR_ARG(all), i ? "," : "", cfg_opt_getnstr(opt, i));
    return all.p;
}

/* Whether a list is given twice. libconfuse calls back for each item, and once more at the end. */
static bool begins_again(cfg_opt_t *opt, const char *text)
{
    return cfg_opt_size(opt) == 1 && strcmp(text, reading->list) != 0;
}

/* Sets the value or reports an error; parsing continues either way. */
static void take_as(const cfg_t *cfg, cfg_opt_t *opt, const struct config_row *r, const char *name,
                    struct config_origin *origin, void *base, bool *seen)
{
    char rule[CONFIG_RULE_MAX];
    bool list = r->kind == CONFIG_CIDRS;
    const char *text = list ? joined(opt, &reading->scratch) : cfg_opt_getnstr(opt, 0);
    if (*seen && (!list || begins_again(opt, text))) {
        fault(cfg, "%s is given twice", name);
        return;
    }
    *seen = true;
    if (list)
        reading->list = text;
    origin->where = arena_printf(&reading->c->arena, "%s:%d", reading->file, cfg->line).p;
    if (!config_set(r, text, &reading->c->arena, base, rule)) {
        origin->wrong = true;
        fault(cfg, "%s %s", name, rule);
    }
}

static void take_value(const cfg_t *cfg, cfg_opt_t *opt, const struct config_row *r, size_t plan, void *base,
                       bool *seen)
{
    char name[CONFIG_NAME_MAX];
    config_key_name(r, plan, name);
    take_as(cfg, opt, r, name, config_origin(reading->c, r, plan), base, seen);
}

static int on_value(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *section = strcmp(cfg_name(cfg), "root") == 0 ? "top" : cfg_name(cfg);
    size_t i = 0;
    while (strcmp(config_rows[i].section, section) != 0 || strcmp(config_rows[i].key, cfg_opt_name(opt)) != 0)
        i++; /* the parser only knows keys that have a row */
    take_value(cfg, opt, &config_rows[i], 0, reading->c, &reading->seen[i]);
    return 0;
}

/* The index of the plan; CONFIG_PLANS, and an error, for an unknown plan. */
static size_t find_plan(cfg_t *plan)
{
    size_t i = 0;
    while (i < CONFIG_PLANS && strcmp(config_plan_defaults[i].id, cfg_title(plan)) != 0)
        i++;
    if (i == CONFIG_PLANS)
        fault(plan, "unknown plan; the plans are weekly and yearly");
    return i;
}

static int on_plan_value(cfg_t *cfg, cfg_opt_t *opt)
{
    size_t plan = find_plan(cfg), i = 0;
    while (strcmp(config_plan_rows[i].key, cfg_opt_name(opt)) != 0)
        i++;
    if (plan < CONFIG_PLANS)
        take_value(cfg, opt, &config_plan_rows[i], plan, &reading->c->plans[plan], &reading->seen_plan[plan][i]);
    return 0;
}

static int on_plan(cfg_t *cfg, cfg_opt_t *opt)
{
    (void)cfg;
    (void)find_plan(cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1));
    return 0;
}

/* The index of the peer, which is added with the defaults if new; CONFIG_PEERS_MAX, and an error, if it cannot be
 * added. */
static size_t find_peer(cfg_t *cfg)
{
    struct config *c = reading->c;
    const char *name = cfg_title(cfg);
    char rule[CONFIG_RULE_MAX];
    for (size_t i = 0; i < c->peer_count; i++)
        if (strcmp(c->peers[i].name, name) == 0)
            return i;
    bool fine = *name && strlen(name) <= PEER_NAME_MAX && strspn(name, PEER_NAME_CHARACTERS) == strlen(name);
    if (!fine)
        fault(cfg, "a peer's name must be at most %d lower-case letters, digits and _", PEER_NAME_MAX);
    else if (c->peer_count == CONFIG_PEERS_MAX)
        fault(cfg, "at most %d peers", CONFIG_PEERS_MAX);
    if (!fine || c->peer_count == CONFIG_PEERS_MAX)
        return CONFIG_PEERS_MAX;
    struct config_peer *p = &c->peers[c->peer_count];
    p->name = arena_str(&c->arena, str_z(name)).p;
    for (const struct config_row *r = config_peer_rows; r->key; r++)
        if (!config_set(r, r->dflt, &c->arena, p, rule))
            abort(); /* an invalid default in the table */
    return c->peer_count++;
}

static int on_peer_value(cfg_t *cfg, cfg_opt_t *opt)
{
    char name[CONFIG_NAME_MAX];
    struct config_origin origin = {0};
    size_t peer = find_peer(cfg), i = 0;
    if (peer == CONFIG_PEERS_MAX)
        return 0;
    while (strcmp(config_peer_rows[i].key, cfg_opt_name(opt)) != 0)
        i++;
    struct config_peer *p = &reading->c->peers[peer];
    snprintf(name, sizeof name, "voice.peer.%s.%s", p->name, config_peer_rows[i].key);
    take_as(cfg, opt, &config_peer_rows[i], name, &origin, p, &reading->seen_peer[peer][i]);
    return 0;
}

static int on_peer(cfg_t *cfg, cfg_opt_t *opt)
{
    (void)cfg;
    (void)find_peer(cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1));
    return 0;
}

/* A repeated section would replace the first one in libconfuse, so it is an error. */
static int on_section(cfg_t *cfg, cfg_opt_t *opt)
{
    size_t i = 0;
    while (strcmp(config_rows[i].section, cfg_opt_name(opt)) != 0)
        i++;
    if (reading->seen_section[i])
        fault(cfg, "section %s is given twice", config_rows[i].section);
    reading->seen_section[i] = true;
    return 0;
}

/* ---- the parser ---- */

static size_t row_count(const struct config_row *rows)
{
    size_t n = 0;
    while (rows[n].key)
        n++;
    return n;
}

/* Every value is read as text; config_set checks it. */
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

/* A section with a title, which may occur several times. */
static cfg_opt_t titled_option(const char *name, const struct config_row *rows, cfg_validate_callback_t on_key,
                               cfg_validate_callback_t on_end, struct arena *a)
{
    size_t n = row_count(rows);
    cfg_opt_t *options = arena_array(a, cfg_opt_t, n + 1); /* ends with zeroes, like CFG_END */
    for (size_t i = 0; i < n; i++)
        options[i] = value_option(&rows[i], on_key);
    return section_option(name, options, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES, on_end);
}

/* The options of one section and their number, with room for `more` options and the end. */
static cfg_opt_t *section_options(const char *section, size_t more, struct arena *a, size_t *ret_n)
{
    cfg_opt_t *options = arena_array(a, cfg_opt_t, row_count(config_rows) + more + 1);
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
    cfg_opt_t *top = section_options(section, row_count(config_rows), a, &n);
    for (const struct config_row *r = config_rows; r->key; r++) {
        if (strcmp(r->section, section) == 0)
            continue;
        section = r->section;
        cfg_opt_t *options = section_options(section, 1, a, &m);
        if (strcmp(section, "billing") == 0)
            options[m] = titled_option("plan", config_plan_rows, on_plan_value, on_plan, a);
        if (strcmp(section, "voice") == 0)
            options[m] = titled_option("peer", config_peer_rows, on_peer_value, on_peer, a);
        top[n++] = section_option(section, options, CFGF_NONE, on_section);
    }
    cfg_t *cfg = cfg_init(top, CFGF_NONE);
    if (!cfg)
        abort();
    cfg_set_error_function(cfg, on_error);
    return cfg;
}

/* Resets the keys seen, before a pass over the file. */
static void begin_reading(void)
{
    struct reader *r = reading;
    r->seen = arena_array(&r->scratch, bool, row_count(config_rows));
    r->seen_section = arena_array(&r->scratch, bool, row_count(config_rows));
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        r->seen_plan[i] = arena_array(&r->scratch, bool, row_count(config_plan_rows));
    for (size_t i = 0; i < CONFIG_PEERS_MAX; i++)
        r->seen_peer[i] = arena_array(&r->scratch, bool, row_count(config_peer_rows));
    r->unknown_line = 0;
}

/* One pass; false if the parser stopped before the end. */
static bool parse_once(const struct config_text *text)
{
    cfg_t *cfg = make_parser(&reading->scratch);
    begin_reading();
    bool whole = cfg_parse_buf(cfg, text->p) == CFG_SUCCESS;
    if (!whole && reading->fault_count == 0)
        fault(cfg, "cannot be read");
    if (whole && text->unclosed) {
        cfg->line = (int)text->unclosed;
        fault(cfg, "not closed");
        whole = false;
    }
    cfg_free(cfg);
    return whole;
}

/* An unknown key ends libconfuse's parsing. To find further errors, the file is parsed again without it. */
static bool parse(FILE *file)
{
    struct config_text text;
    const char *rule;
    if (!config_text_read(file, &reading->scratch, &text, &rule)) {
        fault(&(cfg_t){0}, "%s", rule);
        return false;
    }
    bool whole = parse_once(&text);
    while (!whole && reading->unknown_line && reading->fault_count < FAULTS_MAX &&
           config_text_forget(&text, (unsigned)reading->unknown_line, reading->unknown))
        whole = parse_once(&text);
    reading->c->text = arena_str(&reading->c->arena, str_z(text.p)).p;
    return whole;
}

static int by_line(const void *a, const void *b)
{
    const struct fault *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

bool config_file_read(FILE *file, const char *name, struct config *c, struct buf *faults)
{
    struct reader r = {.c = c, .file = name};
    arena_init(&r.scratch, NULL, 0);
    reading = &r;
    bool whole = parse(file);
    reading = NULL;
    qsort(r.faults, r.fault_count, sizeof *r.faults, by_line);
    for (size_t i = 0; i < r.fault_count; i++)
        if (r.faults[i].line)
            buf_printf(faults, "%s:%d: %s\n", name, r.faults[i].line, r.faults[i].text);
        else
            buf_printf(faults, "%s: %s\n", name, r.faults[i].text);
    arena_done(&r.scratch);
    return whole;
}
