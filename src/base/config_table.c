#include "base/config_table.h"

#include <confuse.h>
#include <stdio.h>

#include "base/config_check.h"

/* ---- rows ---- */

#define ROW(section_, key_, kind_, dflt_, doc_, ...)                                                                   \
    {.section = #section_,                                                                                             \
     .key = #key_,                                                                                                     \
     .doc = (doc_),                                                                                                    \
     .kind = (kind_),                                                                                                  \
     .dflt = (dflt_),                                                                                                  \
     .offset = offsetof(struct config, section_##_##key_),                                                             \
     __VA_ARGS__},
const struct config_row config_rows[] = {
#define STRING(section, key, value, doc)        ROW(section, key, CONFIG_STRING, value, doc)
#define SENTENCE(section, key, value, doc)      ROW(section, key, CONFIG_SENTENCE, value, doc)
#define SECRET(section, key, value, doc)        ROW(section, key, CONFIG_SECRET, value, doc)
#define PATH(section, key, value, doc)          ROW(section, key, CONFIG_PATH, value, doc)
#define ENUM(section, key, value, list, doc)    ROW(section, key, CONFIG_ENUM, value, doc, .words = (list))
#define WORDS(section, key, value, list, doc)   ROW(section, key, CONFIG_WORDS, value, doc, .words = (list))
#define ADDRESS(section, key, value, doc)       ROW(section, key, CONFIG_ADDRESS, value, doc)
#define TCP(section, key, value, doc)           ROW(section, key, CONFIG_TCP, value, doc)
#define IP(section, key, value, doc)            ROW(section, key, CONFIG_IP, value, doc)
#define URL(section, key, value, list, doc)     ROW(section, key, CONFIG_URL, value, doc, .words = (list))
#define INTEGER(section, key, value, a, b, doc) ROW(section, key, CONFIG_INTEGER, #value, doc, .lo = (a), .hi = (b))
#define BOOLEAN(section, key, value, doc)       ROW(section, key, CONFIG_BOOLEAN, #value, doc)
#define CIDRS(section, key, doc)                ROW(section, key, CONFIG_CIDRS, "", doc)
#define PREFIXES(section, key, doc)             ROW(section, key, CONFIG_CIDRS, "", doc, .prefixes = true)
#include "tbl/config.def"
    {.key = NULL}};

#define PLAN_ROW(key_, member, kind_, doc_, ...)                                                                       \
    {                                                                                                                  \
        .key = key_, .doc = doc_, .kind = kind_, .offset = offsetof(struct config_plan, member), __VA_ARGS__           \
    }
const struct config_row config_plan_rows[] = {
    PLAN_ROW("amount", amount_minor, CONFIG_INTEGER, "price in minor units; -1: the plan cannot be bought", .lo = -1,
             .hi = 99999999),
    PLAN_ROW("currency", currency, CONFIG_CURRENCY, "three lower-case letters"),
    PLAN_ROW("interval", interval, CONFIG_ENUM, "billing interval", .words = "day|week|month|year"),
    PLAN_ROW("interval_count", interval_count, CONFIG_INTEGER, "intervals per payment", .lo = 1, .hi = 365),
    PLAN_ROW("available", available, CONFIG_BOOLEAN, "whether the plan can be bought"),
    PLAN_ROW("stripe_price", stripe_price, CONFIG_STRING,
             "stripe: ID of the recurring price (price_...); empty: the plan cannot be bought"),
    {.key = NULL}};

#define DIGITS_MAX 7

#define PEER_ROW_IN(member_, key_, kind_, dflt_, doc_, ...)                                                            \
    {                                                                                                                  \
        .key = key_, .doc = doc_, .kind = kind_, .dflt = dflt_, .offset = offsetof(struct config_peer, member_),       \
        __VA_ARGS__                                                                                                    \
    }
#define PEER_ROW(key_, ...) PEER_ROW_IN(key_, #key_, __VA_ARGS__)
const struct config_row config_peer_rows[] = {
    PEER_ROW(addresses, CONFIG_CIDRS, "", "addresses and CIDR blocks of the peer, which may call"),
    PEER_ROW(calls, CONFIG_INTEGER, "100", "maximum number of concurrent calls from all its addresses together",
             .lo = 1, .hi = 10000),
    PEER_ROW(number_in, CONFIG_ENUM, "uri",
             "source of the dialled number: the request URI, To, or P-Called-Party-ID if present",
             .words = "uri|to|p_called_party_id"),
    PEER_ROW(caller_in, CONFIG_ENUM, "from", "source of the caller's number: From, or another header if present",
             .words = "from|p_asserted_identity|remote_party_id"),
    PEER_ROW(country_code, CONFIG_DIGITS, "",
             "country code (1, 44) of national numbers, those without +; empty: such numbers are international"),
    PEER_ROW(national_prefix, CONFIG_DIGITS, "", "trunk prefix (1, 0) that is removed from national numbers"),
    PEER_ROW(international_prefix, CONFIG_DIGITS, "", "prefix (011, 00) that stands for +"),
    PEER_ROW(server, CONFIG_SERVER, "",
             "name or address of the SIP server, with its port if needed; makes the peer a trunk, which takes outgoing "
             "calls"),
    PEER_ROW(transport, CONFIG_ENUM, "auto", "trunk: transport; auto: as the DNS has it, else UDP",
             .words = "auto|udp|tcp|tls"),
    PEER_ROW(tls_ca, CONFIG_STRING, "",
             "trunk: PEM file with the authorities that may sign its certificate; empty: the system's"),
    PEER_ROW(domain, CONFIG_SERVER, "", "trunk: domain of SIP addresses; empty: the server"),
    PEER_ROW(user, CONFIG_STRING, "", "trunk: user name for digest authentication"),
    PEER_ROW(password, CONFIG_SECRET, "", "trunk: password for digest authentication"),
    PEER_ROW_IN(reg, "register", CONFIG_BOOLEAN, "false", "trunk: register as the user, to be called by it"),
    PEER_ROW(register_s, CONFIG_INTEGER, "300", "trunk: seconds that a registration lasts", .lo = 60, .hi = 86400),
    PEER_ROW(probe_s, CONFIG_INTEGER, "30",
             "trunk: seconds between questions (OPTIONS) whether the server is up; 0: never", .lo = 0, .hi = 3600),
    PEER_ROW(calls_out, CONFIG_INTEGER, "100", "trunk: maximum number of concurrent outgoing calls", .lo = 1,
             .hi = 10000),
    PEER_ROW(number_out, CONFIG_ENUM, "e164",
             "trunk: form of outgoing numbers: +15551234567, 15551234567, or with the prefixes above",
             .words = "e164|plain|national|international"),
    PEER_ROW(caller_id, CONFIG_ENUM, "from",
             "trunk: header with the building's number in outgoing calls; without it, From has the user",
             .words = "from|p_asserted_identity|both"),
    PEER_ROW(diversion, CONFIG_ENUM, "none", "trunk: header with the number that was diverted",
             .words = "none|diversion|history_info"),
    PEER_ROW(srtp, CONFIG_ENUM, "off", "trunk: encryption of the audio", .words = "off|optional|required"),
    {.key = NULL}};

const struct config_plan config_plan_defaults[CONFIG_PLANS] = {
#define STRING(section, key, value, doc)
#define INTEGER(section, key, value, lo, hi, doc)
#define BOOLEAN(section, key, value, doc)
#define CIDRS(section, key, doc)
#define PLAN(id_, amount, currency_, interval_, count) {#id_, amount, currency_, interval_, count, true, ""},
#include "tbl/config.def"
};

bool config_is_top(const struct config_row *row)
{
    return row->section && strcmp(row->section, "top") == 0;
}

/* ---- values ---- */

/* "must be one of a, b, c" from "a|b|c". */
static void put_words(const char *lead, const char *words, char ret_rule[static CONFIG_RULE_MAX])
{
    struct str rest = str_z(words);
    size_t n = (size_t)snprintf(ret_rule, CONFIG_RULE_MAX, "%s", lead);
    for (const char *separator = " "; rest.p && n < CONFIG_RULE_MAX; separator = ", ") {
        struct str word = str_cut(rest, '|', &rest);
        n += (size_t)snprintf(ret_rule + n, CONFIG_RULE_MAX - n, "%s%.*s", separator, STR_ARG(word));
    }
}

static bool check_string(const struct config_row *r, const char *text, char ret_rule[static CONFIG_RULE_MAX])
{
    bool fine = true;
    switch (r->kind) {
    case CONFIG_ENUM:
        fine = config_is_word(text, r->words);
        if (!fine)
            put_words("must be one of", r->words, ret_rule);
        break;
    case CONFIG_WORDS:
        fine = config_are_words(text, r->words);
        if (!fine)
            put_words("must be a colon-separated list of", r->words, ret_rule);
        break;
    case CONFIG_SENTENCE:
        fine = config_is_sentence(text);
        if (!fine)
            snprintf(ret_rule, CONFIG_RULE_MAX, "must be UTF-8 and shorter than 120 UTF-16 code units");
        break;
    case CONFIG_ADDRESS:
        fine = config_is_address(text);
        if (!fine)
            snprintf(ret_rule, CONFIG_RULE_MAX, "must be ADDRESS:PORT, like 127.0.0.1:8443 or [::1]:8443");
        break;
    case CONFIG_TCP:
        fine = config_is_address(text) || config_localhost_port(text);
        if (!fine)
            snprintf(ret_rule, CONFIG_RULE_MAX,
                     "must be ADDRESS:PORT, like 127.0.0.1:8443, [::1]:8443 or localhost:8443");
        break;
    case CONFIG_IP:
        fine = config_is_ip(text);
        if (!fine)
            snprintf(ret_rule, CONFIG_RULE_MAX, "must be an IP address, like 198.51.100.7");
        break;
    case CONFIG_URL:
        fine = config_is_url(text, r->words);
        if (!fine)
            put_words("must be a URL with a host and one of the schemes", r->words, ret_rule);
        break;
    case CONFIG_CURRENCY:
        fine = strlen(text) == 3 && strspn(text, "abcdefghijklmnopqrstuvwxyz") == 3;
        if (!fine)
            snprintf(ret_rule, CONFIG_RULE_MAX, "must be three lower-case letters");
        break;
    case CONFIG_DIGITS:
        fine = strlen(text) <= DIGITS_MAX && strspn(text, "0123456789") == strlen(text);
        if (!fine)
            snprintf(ret_rule, CONFIG_RULE_MAX, "must be at most %d digits", DIGITS_MAX);
        break;
    case CONFIG_SERVER:
        fine = config_is_server(text);
        if (!fine)
            snprintf(ret_rule, CONFIG_RULE_MAX, "must be a host name or an address, like sip.example.com:5060");
        break;
    default:
        break;
    }
    return fine;
}

static bool set_string(const struct config_row *r, const char *text, struct arena *a, char *base,
                       char ret_rule[static CONFIG_RULE_MAX])
{
    if (r->kind == CONFIG_PATH && str_starts(str_z(text), STR(CONFIG_CREDENTIAL))) {
        text = config_credential(text + strlen(CONFIG_CREDENTIAL), a);
        if (!text) {
            snprintf(ret_rule, CONFIG_RULE_MAX, "%s", "must be a file, or cred:NAME with the name of one");
            return false;
        }
    }
    bool unset = !*text && (r->kind == CONFIG_ADDRESS || r->kind == CONFIG_TCP || (r->dflt && !*r->dflt));
    if (!unset && !check_string(r, text, ret_rule))
        return false;
    struct str s = str_z(text);
    while (r->kind == CONFIG_URL && s.n && s.p[s.n - 1] == '/')
        s.n--; /* paths are appended */
    *(const char **)(void *)(base + r->offset) = arena_str(a, s).p;
    return true;
}

static bool set_integer(const struct config_row *r, const char *text, char *base, char ret_rule[static CONFIG_RULE_MAX])
{
    uint64_t magnitude = 0;
    bool minus = text[0] == '-';
    bool digits = str_to_u64(str_z(text + minus), INT64_MAX, &magnitude);
    int64_t i = minus ? -(int64_t)magnitude : (int64_t)magnitude;
    if (!digits || i < r->lo || i > r->hi) {
        snprintf(ret_rule, CONFIG_RULE_MAX, "must be from %lld to %lld", (long long)r->lo, (long long)r->hi);
        return false;
    }
    *(int64_t *)(void *)(base + r->offset) = i;
    return true;
}

static bool set_boolean(const struct config_row *r, const char *text, char *base, char ret_rule[static CONFIG_RULE_MAX])
{
    int b = cfg_parse_boolean(text);
    if (b < 0) {
        snprintf(ret_rule, CONFIG_RULE_MAX, "must be true or false");
        return false;
    }
    *(bool *)(base + r->offset) = b != 0;
    return true;
}

static bool set_list(const struct config_row *r, const char *text, struct arena *a, char *base,
                     char ret_rule[static CONFIG_RULE_MAX])
{
    struct str rest = str_z(text);
    const char **list = arena_array(a, const char *, rest.n + 1);
    size_t n = 0;
    while (rest.p) {
        struct str item = str_trim(str_cut(rest, ',', &rest));
        if (item.n == 0)
            continue;
        list[n] = arena_str(a, item).p;
        if (!(r->prefixes ? config_is_prefix : config_is_cidr)(list[n++])) {
            snprintf(ret_rule, CONFIG_RULE_MAX, "must be a list of %s",
                     r->prefixes ? "prefixes, like +1 or !+1900" : "CIDR blocks, like 10.0.0.0/8");
            return false;
        }
    }
    *(const char *const **)(void *)(base + r->offset) = list;
    return true;
}

bool config_set(const struct config_row *row, const char *text, struct arena *a, void *base,
                char ret_rule[static CONFIG_RULE_MAX])
{
    switch (row->kind) {
    case CONFIG_INTEGER:
        return set_integer(row, text, base, ret_rule);
    case CONFIG_BOOLEAN:
        return set_boolean(row, text, base, ret_rule);
    case CONFIG_CIDRS:
        return set_list(row, text, a, base, ret_rule);
    default:
        return set_string(row, text, a, base, ret_rule);
    }
}
