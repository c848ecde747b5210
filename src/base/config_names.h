/* The names of the configuration's keys: in the file, in the environment, and where each was given. Internal to the
 * configuration. */
#pragma once
#include "base/config_table.h"

#define CONFIG_NAME_MAX 100

/* Where a key was given last: "portero.conf:12", "environment", "command line"; NULL: nowhere. */
struct config_origin {
    const char *where;
    bool wrong; /* a fault of it is known: what follows from that is none of its own */
};

/* For each row of config_rows, then for those of each plan. */
struct config_origin *config_origins_new(struct arena *a);
/* `plan` is the plan's place for a row of config_plan_rows, and means nothing otherwise. */
struct config_origin *config_origin(const struct config *c, const struct config_row *row, size_t plan);
/* The key that the text begins with, by its name in the file, as long as it can be; NULL: none. */
struct config_origin *config_origin_named(const struct config *c, const char *text);

/* "limits.otp_per_ip", "mode", "billing.plan.weekly.amount". */
void config_key_name(const struct config_row *row, size_t plan, char ret[static CONFIG_NAME_MAX]);
/* "PORTERO_LIMITS_OTP_PER_IP" */
void config_variable_name(const struct config_row *row, size_t plan, char ret[static CONFIG_NAME_MAX]);
/* Whether a variable of the environment is a key's. */
bool config_is_variable(struct str name);
/* Writes the name that is most like the given one: a key's, or as `variable` a variable's. False if none is near. */
bool config_nearest(const char *given, bool variable, char ret[static CONFIG_NAME_MAX]);
