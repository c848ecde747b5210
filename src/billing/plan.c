#include "billing/plan.h"

const struct str plan_access[] = {{"timer", 5}, {"passcode", 8}, {"routine", 7}};
const size_t plan_access_count = sizeof plan_access / sizeof *plan_access;

const struct config_plan *plan_find(const struct config *config, struct str id)
{
    for (size_t i = 0; i < PLAN_COUNT; i++)
        if (str_eq(id, str_z(config->plans[i].id)))
            return &config->plans[i];
    return NULL;
}

const struct plan_name plan_names_earlier[] = {
    {"premium_yearly", "yearly"},
    {"standard_yearly", "yearly"},
    {"premium_monthly", NULL},
    {"standard_monthly", NULL},
    {NULL, NULL},
};

enum err plan_named(const struct config *config, const struct plan_name *names, struct str name, struct str *ret)
{
    for (const struct plan_name *n = names; n && n->name; n++)
        if (str_eq(name, str_z(n->name))) {
            if (!n->plan)
                return ERR_PLAN_UNAVAILABLE;
            *ret = str_z(n->plan);
            return ERR_NONE;
        }
    if (!plan_find(config, name))
        return ERR_INVALID_PLAN;
    *ret = name;
    return ERR_NONE;
}

struct str plan_name_of(const struct plan_name *names, struct str plan)
{
    for (const struct plan_name *n = names; n && n->name; n++)
        if (n->plan && str_eq(plan, str_z(n->plan)))
            return str_z(n->name);
    return plan;
}

const struct plan_type plan_types_earlier[] = {
    {"weekly", "PREMIUM", "MULTI_BUILDING"},
    {"yearly", "PREMIUM", "MULTI_BUILDING"},
    {NULL, "NONE", "NONE"},
};

struct str plan_type_of(const struct plan_type *types, struct str plan, bool linked)
{
    if (!types)
        return plan.p ? plan : STR("none");
    const struct plan_type *t = types;
    while (t->plan && !str_eq(plan, str_z(t->plan)))
        t++;
    return str_z(linked ? t->type_linked : t->type);
}
