/* The configuration. tbl/config.def has the keys, types, ranges and defaults; libconfuse parses the file.
 *
 * Environment variables override the file: PORTERO_SECTION_KEY, PORTERO_KEY for a key without a section,
 * PORTERO_BILLING_PLAN_WEEKLY_AMOUNT for a plan. Keys of a peer have no variable. Unknown keys, keys and sections given
 * twice, wrong types and values out of range are reported with file and line. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define CONFIG_DEFAULT_PATH    "/etc/portero/portero.conf"
#define CONFIG_VARIABLE_PREFIX "PORTERO_"
#define CONFIG_FAULTS_MAX      65536 /* bytes of all error messages */

enum store_engine { ENGINE_SQLITE, ENGINE_POSTGRESQL };

struct config_plan {
    const char *id;       /* "weekly", "yearly" */
    int64_t amount_minor; /* -1: no price */
    const char *currency; /* three lower-case letters */
    const char *interval; /* "week", "year" */
    int64_t interval_count;
    bool available;           /* false without a price */
    const char *stripe_price; /* "price_..." or "" */
};

/* A caller with its own settings: `peer NAME { … }` in section voice. With a server it is a trunk, which takes outgoing
 * calls. */
struct config_peer {
    const char *name;             /* lower-case letters, digits, `_` */
    const char *const *addresses; /* NULL-terminated; at least one, unless it is a trunk */
    int64_t calls;
    const char *number_in; /* "uri", "to", "p_called_party_id" */
    const char *caller_in; /* "from", "p_asserted_identity", "remote_party_id" */
    const char *country_code, *national_prefix, *international_prefix; /* digits, or "" */
    /* of a trunk */
    const char *server;    /* "sip.example.com", "192.0.2.1:5060", "[2001:db8::1]"; "": not a trunk */
    const char *transport; /* "auto", "udp", "tcp", "tls" */
    const char *domain;    /* "": the server */
    int64_t calls_out;
    const char *caller_id;  /* "from", "p_asserted_identity", "both" */
    const char *diversion;  /* "none", "diversion", "history_info" */
    const char *number_out; /* "e164", "plain", "national", "international" */
    const char *srtp;       /* "off", "optional", "required" */
    const char *user, *password;
    const char *tls_ca; /* path, or "" */
    bool reg;           /* key `register` */
    int64_t register_s, probe_s;
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

/* Plain data with NUL-terminated strings in the arena. Read-only when threads run. */
struct config {
    struct arena arena;
    bool production; /* mode */
    bool unbilled;   /* billing.provider is none */
    bool listed;     /* accounts.signup is listed, or is empty and that follows */
    bool assigned;   /* buildings get numbers from the operator only: a pool, and nobody pays for one */
    enum store_engine engine;
#define STRING(section, key, dflt, doc)          const char *section##_##key;
#define INTEGER(section, key, dflt, lo, hi, doc) int64_t section##_##key;
#define BOOLEAN(section, key, dflt, doc)         bool section##_##key;
#define CIDRS(section, key, doc)                 const char *const *section##_##key; /* NULL-terminated */
#include "tbl/config.def"
    struct config_plan plans[CONFIG_PLANS]; /* weekly, yearly */
    struct config_peer peers[CONFIG_PEERS_MAX];
    size_t peer_count;
    /* for messages */
    const char *file, *text;       /* name and content of the file; "" if there is no file */
    struct config_origin *origins; /* config_names.h */
};

/* A value from the command line, which overrides file and environment. An error names the option: "--https must be …".
 */
struct config_override {
    const char *option, *section, *key, *value; /* "--https", "listen", "https"; section "top" for keys without one;
                                                   value NULL: not given */
};

/* Reads `path` (NULL: CONFIG_DEFAULT_PATH if it exists, else no file), then the environment, then overrides
 * [0…count-1]. Adds a line to `faults` for each error: "portero.conf:12: limits.otp_per_ip …",
 * "environment: PORTERO_LIMITS_OTP_PER_IP …". Returns the configuration despite errors, with defaults in their place,
 * for further checks; NULL if the file cannot be parsed to its end. Must be called before threads start: libconfuse and
 * getenv are not thread-safe. */
struct config *config_read(const char *path, const struct config_override *overrides, size_t count, struct buf *faults);
/* config_read of a text instead of a file, without overrides. `name` is the file's in messages. */
struct config *config_read_text(const char *name, struct str text, struct buf *faults);
/* Adds a line to `faults`: the place where the key that begins the text was given, or the file, and the text
 * ("mail.from must be …"). Omits duplicates and further errors of the same key. */
void config_fault(const struct config *c, struct buf *faults, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The lines of `faults` without the last line end (caller frees). Frees the buffer. */
char *config_faults_text(struct buf *faults);

/* config_read, failing with ERR_USAGE if there are errors; *ret_why (caller frees) has a line for each. */
enum err config_load(const char *path, struct config **ret, char **ret_why) CHECKED;
enum err config_load_with(const char *path, const struct config_override *overrides, size_t count, struct config **ret,
                          char **ret_why) CHECKED;
void config_free(struct config *c);

/* Resolves the secret `value` of `key` ("mail.password") into the arena, NUL-terminated: `file:PATH` is the content of
 * the file without its last line end, `cred:NAME` the content of a credential (config_credential), `env:NAME` the
 * variable, anything else is the secret itself. Fails with ERR_USAGE if the file cannot be read or is larger than 64
 * KiB, or the variable is not set; *ret_why (caller frees) names key, place and reason. */
enum err config_secret_of(const char *key, const char *value, struct arena *a, struct str *ret, char **ret_why) CHECKED;
