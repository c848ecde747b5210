/* Names of configuration keys in the file and in the environment, and the origin of each value. Internal to the
 * configuration. */
#pragma once
#include "base/config_table.h"

#define CONFIG_NAME_MAX 100

/* Where a key was given last: "portero.conf:12", "environment", "command line"; NULL: not given. */
struct config_origin {
    const char *where;
    bool wrong; /* an error of this key was reported; errors that follow from it are not */
};

/* One origin for each row of config_rows, then for the rows of each plan. */
struct config_origin *config_origins_new(struct arena *a);
/* `plan` is the index of the plan; used for rows of config_plan_rows only. */
struct config_origin *config_origin(const struct config *c, const struct config_row *row, size_t plan);
/* The origin of the longest key name that begins the text; NULL if there is no such key. */
struct config_origin *config_origin_named(const struct config *c, const char *text);

/* "limits.otp_per_ip", "mode", "billing.plan.weekly.amount". */
void config_key_name(const struct config_row *row, size_t plan, char ret[static CONFIG_NAME_MAX]);
/* "PORTERO_LIMITS_OTP_PER_IP" */
void config_variable_name(const struct config_row *row, size_t plan, char ret[static CONFIG_NAME_MAX]);
/* Whether the environment variable belongs to a key. */
bool config_is_variable(struct str name);
/* Writes the key name, or variable name, most similar to `given`. False if no name is similar. */
bool config_nearest(const char *given, bool variable, char ret[static CONFIG_NAME_MAX]);
