#include "base/config_names.h"

#include <glib.h>
#include <stdio.h>

static size_t count(const struct config_row *rows)
{
    size_t n = 0;
    while (rows[n].key)
        n++;
    return n;
}

struct config_origin *config_origins_new(struct arena *a)
{
    return arena_array(a, struct config_origin, count(config_rows) + CONFIG_PLANS * count(config_plan_rows));
}

struct config_origin *config_origin(const struct config *c, const struct config_row *row, size_t plan)
{
    if (row->section)
        return &c->origins[row - config_rows];
    return &c->origins[count(config_rows) + plan * count(config_plan_rows) + (size_t)(row - config_plan_rows)];
}

void config_key_name(const struct config_row *row, size_t plan, char ret[static CONFIG_NAME_MAX])
{
    if (!row->section)
        snprintf(ret, CONFIG_NAME_MAX, "billing.plan.%s.%s", config_plan_defaults[plan].id, row->key);
    else
        snprintf(ret, CONFIG_NAME_MAX, "%s%s%s", config_is_top(row) ? "" : row->section, config_is_top(row) ? "" : ".",
                 row->key);
}

void config_variable_name(const struct config_row *row, size_t plan, char ret[static CONFIG_NAME_MAX])
{
    char key[CONFIG_NAME_MAX];
    config_key_name(row, plan, key);
    snprintf(ret, CONFIG_NAME_MAX, CONFIG_VARIABLE_PREFIX "%.*s",
             (int)(CONFIG_NAME_MAX - sizeof CONFIG_VARIABLE_PREFIX), key);
    for (char *p = ret; *p; p++)
        *p = *p == '.' ? '_' : g_ascii_toupper(*p);
}

/* ---- iterating over names ---- */

struct walk {
    const struct config_row *row;
    size_t plan;
};

/* Advances to the next key, plans last; false at the end. */
static bool next_key(struct walk *w)
{
    w->row = w->row ? w->row + 1 : config_rows;
    if (w->row->key)
        return true;
    if (w->row != &config_rows[count(config_rows)])
        w->plan++;
    w->row = config_plan_rows;
    return w->plan < CONFIG_PLANS;
}

struct config_origin *config_origin_named(const struct config *c, const char *text)
{
    char name[CONFIG_NAME_MAX];
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.");
    for (struct walk w = {0}; next_key(&w);) {
        config_key_name(w.row, w.plan, name);
        if (strlen(name) == n && memcmp(text, name, n) == 0)
            return config_origin(c, w.row, w.plan);
    }
    return NULL;
}

bool config_is_variable(struct str variable)
{
    char name[CONFIG_NAME_MAX];
    for (struct walk w = {0}; next_key(&w);) {
        config_variable_name(w.row, w.plan, name);
        if (str_eq(variable, str_z(name)))
            return true;
    }
    return false;
}

/* ---- similar names ---- */

/* Levenshtein distance of two names of at most CONFIG_NAME_MAX bytes. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[CONFIG_NAME_MAX + 1];
    size_t n = strlen(b);
    for (size_t j = 0; j <= n; j++)
        row[j] = (unsigned)j;
    for (; *a; a++) {
        unsigned diagonal = row[0]++;
        for (size_t j = 0; j < n; j++) {
            unsigned replaced = diagonal + (*a != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = MIN(MIN(row[j], diagonal) + 1, replaced);
        }
    }
    return row[n];
}

bool config_nearest(const char *given, bool variable, char ret[static CONFIG_NAME_MAX])
{
    char name[CONFIG_NAME_MAX];
    const size_t n = strlen(given);
    unsigned best = (unsigned)(n / 4 > 2 ? n / 4 : 2) + 1;
    if (n >= CONFIG_NAME_MAX)
        return false;
    const unsigned limit = best;
    for (struct walk w = {0}; next_key(&w);) {
        if (variable)
            config_variable_name(w.row, w.plan, name);
        else
            config_key_name(w.row, w.plan, name);
        const char *last = strrchr(given, '.');
        bool misplaced = !variable && strcmp(last ? last + 1 : given, w.row->key) == 0;
        unsigned far = misplaced ? 1 : distance(given, name);
        if (far < best) {
            best = far;
            memcpy(ret, name, sizeof name);
        }
    }
    return best < limit;
}
