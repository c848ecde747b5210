/* The configuration: keys, types, ranges and defaults stand in tbl/config.def; libconfuse reads the file.
 *
 * Every key can be overridden by the environment as PORTERO_SECTION_KEY. Secrets may be given as `file:PATH` or
 * `env:NAME`. Unknown keys, wrong types and out-of-range values are refused with file and line (program.md). */
#pragma once
#include "base/arena.h"
#include "base/err.h"

enum store_engine { ENGINE_SQLITE, ENGINE_POSTGRESQL };

struct config_plan {
    const char *id; /* "weekly", "yearly" */
    int64_t amount_minor; /* -1: no price */
    const char *currency;
    const char *interval; /* "week", "year" */
    int64_t interval_count;
    bool available;
};

/* Plain data, NUL-terminated strings owned by the config's arena; read-only after config_load, so any thread may read. */
struct config {
    struct arena arena;
    bool production; /* mode */
#define STRING(section, key, dflt, doc)         const char *section##_##key;
#define INTEGER(section, key, dflt, lo, hi, doc) int64_t section##_##key;
#define BOOLEAN(section, key, dflt, doc)        bool section##_##key;
#define LIST(section, key, doc)                 const char *const *section##_##key; /* NULL-terminated */
#include "tbl/config.def"
#undef STRING
#undef INTEGER
#undef BOOLEAN
#undef LIST
    enum store_engine engine;
    struct config_plan plans[2]; /* weekly, yearly */
};

/* Loads `path` (NULL: /etc/portero/portero.conf if it exists, else defaults), then the environment. On failure
 * ERR_USAGE, and *ret_why (owned by the caller, free) says what and where: "portero.conf:12: limits.otp_per_ip …". */
enum err config_load(const char *path, struct config **ret, char **ret_why) CHECKED;
void config_free(struct config *c);
/* Resolves `file:` and `env:` of a secret. Never logs it. */
enum err config_secret(const char *value, struct arena *a, struct str *ret) CHECKED;
