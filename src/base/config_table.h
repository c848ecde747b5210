/* tbl/config.def as data, and config_set, which converts every value: defaults, file, environment and command line.
 * Internal to the configuration and its tests. */
#pragma once
#include "base/config.h"

#define CONFIG_RULE_MAX        200
#define CONFIG_CREDENTIAL      "cred:"
#define CONFIG_CREDENTIAL_RULE "cred:NAME must have the name of a file"

enum config_kind {
    CONFIG_STRING,
    CONFIG_SENTENCE,
    CONFIG_SECRET,
    CONFIG_PATH,
    CONFIG_ENUM,
    CONFIG_WORDS,
    CONFIG_ADDRESS,
    CONFIG_TCP,
    CONFIG_IP,
    CONFIG_URL,
    CONFIG_CURRENCY,
    CONFIG_DIGITS,
    CONFIG_INTEGER,
    CONFIG_BOOLEAN,
    CONFIG_CIDRS,
    CONFIG_SERVER
};

struct config_row {
    const char *section; /* "top": outside of braces; NULL: a key of a plan or a peer */
    const char *key, *doc;
    enum config_kind kind;
    const char *dflt;  /* as text; NULL for a plan, see config_plan_defaults */
    const char *words; /* "a|b": of CONFIG_ENUM and CONFIG_WORDS; the schemes of CONFIG_URL */
    int64_t lo, hi;    /* of CONFIG_INTEGER */
    bool prefixes;     /* of CONFIG_CIDRS: the items are prefixes of telephone numbers in place of address blocks */
    size_t offset;     /* in struct config, config_plan or config_peer */
};

/* In the order of the file, section by section, `top` first. All end with key == NULL. */
extern const struct config_row config_rows[];
extern const struct config_row config_plan_rows[];
extern const struct config_row config_peer_rows[];
extern const struct config_plan config_plan_defaults[CONFIG_PLANS];

bool config_is_top(const struct config_row *row);

/* Checks the text and stores its value at row->offset in `base`, the struct of the row; strings are copied into the
 * arena. Items of a list are separated by commas. On failure stores nothing and sets ret_rule ("must be from 1 to
 * 256"). */
bool config_set(const struct config_row *row, const char *text, struct arena *a, void *base,
                char ret_rule[static CONFIG_RULE_MAX]);
