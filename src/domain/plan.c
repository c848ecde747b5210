#include "domain/plan.h"

const struct str plan_access[] = {{"timer", 5}, {"passcode", 8}, {"routine", 7}};
const size_t plan_access_count = sizeof plan_access / sizeof *plan_access;

const struct config_plan *plan_find(const struct config *config, struct str id)
{
    for (size_t i = 0; i < PLAN_COUNT; i++)
        if (str_eq(id, str_z(config->plans[i].id)))
            return &config->plans[i];
    return NULL;
}
