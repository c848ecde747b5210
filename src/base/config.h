/* The configuration: keys, types, ranges and defaults stand in tbl/config.def; libconfuse reads the file.
 *
 * Every key can be overridden by the environment as PORTERO_SECTION_KEY (PORTERO_KEY for those of no section,
 * PORTERO_BILLING_PLAN_WEEKLY_AMOUNT for a plan's). Unknown keys, keys and sections given twice, wrong types and
 * out-of-range values are refused with file and line (program.md). */
#pragma once
#include "base/arena.h"
#include "base/err.h"

#define CONFIG_DEFAULT_PATH "/etc/portero/portero.conf"

enum store_engine { ENGINE_SQLITE, ENGINE_POSTGRESQL };

struct config_plan {
    const char *id;       /* "weekly", "yearly" */
    int64_t amount_minor; /* -1: no price */
    const char *currency; /* three lower-case letters */
    const char *interval; /* "week", "year" */
    int64_t interval_count;
    bool available;           /* never without a price */
    const char *stripe_price; /* "price_...", "" without one */
};

enum {
#define STRING(section, key, dflt, doc)
#define INTEGER(section, key, dflt, lo, hi, doc)
#define BOOLEAN(section, key, dflt, doc)
#define CIDRS(section, key, doc)
#define PLAN(id, amount, currency, interval, count) CONFIG_PLAN_##id,
#include "tbl/config.def"
    CONFIG_PLANS
};

/* Plain data, NUL-terminated strings owned by the config's arena; read-only once the threads run. */
struct config {
    struct arena arena;
    bool production; /* mode */
    enum store_engine engine;
#define STRING(section, key, dflt, doc)          const char *section##_##key;
#define INTEGER(section, key, dflt, lo, hi, doc) int64_t section##_##key;
#define BOOLEAN(section, key, dflt, doc)         bool section##_##key;
#define CIDRS(section, key, doc)                 const char *const *section##_##key; /* NULL-terminated */
#include "tbl/config.def"
    struct config_plan plans[CONFIG_PLANS]; /* weekly, yearly */
};

/* Loads `path` (NULL: CONFIG_DEFAULT_PATH if it exists, else defaults), then the environment. On failure
 * ERR_USAGE, and *ret_why (owned by the caller, free) says what and where: "portero.conf:12: limits.otp_per_ip …",
 * "environment: PORTERO_LIMITS_OTP_PER_IP …". Call it before there are threads: libconfuse and getenv are not safe. */
enum err config_load(const char *path, struct config **ret, char **ret_why) CHECKED;
/* The same, with what the command line says in place of file and environment: overrides[0…count-1], of which those
 * without a value are passed over. A wrong value is refused under the option's name: "--https must be …". */
struct config_override {
    const char *option, *section, *key, *value; /* "--https", "listen", "https"; section "top" without braces */
};
enum err config_load_with(const char *path, const struct config_override *overrides, size_t count, struct config **ret,
                          char **ret_why) CHECKED;
void config_free(struct config *c);

/* Resolves a secret: `file:PATH` is the file's content without its last line end, `env:NAME` the variable's, anything
 * else itself. In the arena, NUL-terminated. ERR_IO if the file cannot be read or is larger than 64 KiB (errno),
 * ERR_USAGE if the variable is not set. Never logs it. */
enum err config_secret(const char *value, struct arena *a, struct str *ret) CHECKED;
/* The same for the value of `key` ("mail.password"); on failure ERR_USAGE, and *ret_why (owned by the caller, free)
 * names the key, the file or variable, and the reason. */
enum err config_secret_of(const char *key, const char *value, struct arena *a, struct str *ret, char **ret_why) CHECKED;
