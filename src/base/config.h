/* The configuration: keys, types, ranges and defaults stand in tbl/config.def; libconfuse reads the file.
 *
 * Every key can be overridden by the environment as PORTERO_SECTION_KEY (PORTERO_KEY for those of no section,
 * PORTERO_BILLING_PLAN_WEEKLY_AMOUNT for a plan's), except those of a peer. Unknown keys, keys and sections given
 * twice, wrong types and out-of-range values are refused with file and line (program.md). */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define CONFIG_DEFAULT_PATH    "/etc/portero/portero.conf"
#define CONFIG_VARIABLE_PREFIX "PORTERO_"
#define CONFIG_FAULTS_MAX      65536 /* bytes of all that is wrong */

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

/* Callers with settings of their own: `peer NAME { … }` in section voice. */
struct config_peer {
    const char *name;             /* lower-case letters, digits, `_` */
    const char *const *addresses; /* NULL-terminated, at least one */
    int64_t calls;
    const char *number_in;                                             /* "uri", "to", "p_called_party_id" */
    const char *country_code, *national_prefix, *international_prefix; /* digits, or "" */
};

#define CONFIG_PEERS_MAX 32

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
    struct config_peer peers[CONFIG_PEERS_MAX];
    size_t peer_count;
    /* for messages about it */
    const char *file, *text;       /* its name, and what it says; "" if it is not there */
    struct config_origin *origins; /* config_names.h */
};

/* A value of the command line, in place of file and environment. A wrong value is refused under the option's name:
 * "--https must be …". */
struct config_override {
    const char *option, *section, *key, *value; /* "--https", "listen", "https"; section "top" without braces;
                                                   value NULL: not given */
};

/* Reads `path` (NULL: CONFIG_DEFAULT_PATH if it exists, else defaults), then the environment, then overrides
 * [0…count-1]. Adds a line to `faults` for everything that is wrong: "portero.conf:12: limits.otp_per_ip …",
 * "environment: PORTERO_LIMITS_OTP_PER_IP …". Returns the configuration even then, for further checks, with defaults
 * for what is wrong; NULL if the file could not be read to its end. Call it before there are threads: libconfuse and
 * getenv are not safe. */
struct config *config_read(const char *path, const struct config_override *overrides, size_t count, struct buf *faults);
/* Adds a line to `faults`: where the key that the text begins with was given, or else the file, and the text
 * ("mail.from must be …"). Leaves it out if it is there already, or a fault of this key is: a key has one. */
void config_fault(const struct config *c, struct buf *faults, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The faults as config_load tells them: malloc'ed, without the last line end; frees the buffer. */
char *config_faults_text(struct buf *faults);

/* The same, refusing what has a fault: ERR_USAGE, and *ret_why (owned by the caller, free) has a line for each. */
enum err config_load(const char *path, struct config **ret, char **ret_why) CHECKED;
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
