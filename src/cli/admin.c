/* porterod admin: administers a running service. Each verb is a row: its options become fields of a request to the
 * control socket, whose response (src/admin) is printed. */
#include "cli/admin_ask.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/json.h"
#include "cli/configured.h"
#include "cli/export.h"
#include "cli/person.h"
#include "cli/program.h"
#include "cli/recording.h"
#include "client/options.h"
#include "client/print.h"

struct admin_options {
    const char *config, *data;
    const char *building, *member, *scopes, *name, *email, *phone, *country, *status, *outcome, *session, *which, *role;
    const char *number, *account, *after, *at, *digits, *from, *revision;
    int64_t days;
    bool json, yes, end_grants;
    const char *output;
};

enum field_kind { FIELD_TEXT, FIELD_WORDS, FIELD_INTEGER, FIELD_SWITCH };

/* The names of options in a request. Options that are not given are omitted. */
static const struct {
    const char *name;
    enum field_kind kind;
    size_t offset;
} fields[] = {
    {"building_id", FIELD_TEXT, offsetof(struct admin_options, building)},
    {"member_id", FIELD_TEXT, offsetof(struct admin_options, member)},
    {"scopes", FIELD_WORDS, offsetof(struct admin_options, scopes)},
    {"name", FIELD_TEXT, offsetof(struct admin_options, name)},
    {"expires_in_days", FIELD_INTEGER, offsetof(struct admin_options, days)},
    {"email", FIELD_TEXT, offsetof(struct admin_options, email)},
    {"phone", FIELD_TEXT, offsetof(struct admin_options, phone)},
    {"number", FIELD_TEXT, offsetof(struct admin_options, number)},
    {"account", FIELD_TEXT, offsetof(struct admin_options, account)},
    {"after", FIELD_TEXT, offsetof(struct admin_options, after)},
    {"country", FIELD_TEXT, offsetof(struct admin_options, country)},
    {"status", FIELD_TEXT, offsetof(struct admin_options, status)},
    {"outcome", FIELD_TEXT, offsetof(struct admin_options, outcome)},
    {"session_id", FIELD_TEXT, offsetof(struct admin_options, session)},
    {"at", FIELD_TEXT, offsetof(struct admin_options, at)},
    {"digits", FIELD_TEXT, offsetof(struct admin_options, digits)},
    {"from", FIELD_TEXT, offsetof(struct admin_options, from)},
    {"which", FIELD_TEXT, offsetof(struct admin_options, which)},
    {"revision", FIELD_TEXT, offsetof(struct admin_options, revision)},
    {"role", FIELD_TEXT, offsetof(struct admin_options, role)},
    {"end_grants", FIELD_SWITCH, offsetof(struct admin_options, end_grants)},
};

#define TEXT(member, option, placeholder, what)   OPTION_TEXT(struct admin_options, member, option, placeholder, what)
#define NEEDED(member, option, placeholder, what) OPTION_NEEDED(struct admin_options, member, option, placeholder, what)
#define COMMON                                                                                                         \
    TEXT(config, "config", "FILE", "configuration file of the service [" CONFIG_DEFAULT_PATH "]"),                     \
        TEXT(data, "data", "DIR", "data directory of the service [from the configuration]"),                           \
        OPTION_SWITCH(struct admin_options, json, "json", "print the raw JSON response")
#define BUILDING(what) TEXT(building, "building", "ID", what)

static const struct option_row key_create_rows[] = {
    BUILDING("issue a child key for this building"),
    TEXT(member, "member", "ID", "issue a key for this member"),
    TEXT(scopes, "scopes", "A,B", "scopes of the key [account:read,access:read,access:write,logs:read]"),
    TEXT(name, "name", "NAME", "name of the key"),
    OPTION_NUMBER(struct admin_options, days, "days", "N", 1, 90, "days until the key expires [30]"),
    COMMON,
};
#define HOLDER                                                                                                         \
    TEXT(account, "account", "EMAIL", "give it to the first building of this account"),                                \
        BUILDING("give it to this building")
static const struct option_row number_add_rows[] = {
    HOLDER,
    TEXT(country, "country", "CODE", "country of the number, US or CA [US]"),
    COMMON,
};
static const struct option_row number_assign_rows[] = {HOLDER, COMMON};
static const struct option_row account_list_rows[] = {
    TEXT(after, "after", "EMAIL", "begin after this address"),
    COMMON,
};
static const struct option_row box_add_rows[] = {
    TEXT(number, "number", "NUMBER", "number that its calls come from, E.164 [the one that it sends]"),
    COMMON,
};
static const struct option_row phone_verify_rows[] = {
    NEEDED(number, "number", "NUMBER", "phone number of the resident, E.164"),
    COMMON,
};
static const struct option_row member_add_rows[] = {
    NEEDED(building, "building", "ID", "building of the member"),
    NEEDED(name, "name", "NAME", "name of the member"),
    NEEDED(email, "email", "ADDRESS", "e-mail address of the member"),
    TEXT(phone, "phone", "NUMBER", "phone number of the member, E.164"),
    TEXT(role, "role", "ROLE", "resident, or manager, who neither answers nor opens [resident]"),
    COMMON,
};
static const struct option_row member_list_rows[] = {BUILDING("list the members of this building only"), COMMON};
static const struct option_row member_remove_rows[] = {
    OPTION_SWITCH(struct admin_options, end_grants, "end-grants", "also end the grants that the member made"),
    COMMON,
};
static const struct option_row delivery_list_rows[] = {
    TEXT(email, "account", "EMAIL", "list the deliveries of this account, newest events first"),
    TEXT(status, "status", "STATUS", "pending, delivered, failed or canceled [failed; with --account any]"),
    COMMON,
};
static const struct option_row checkout_list_rows[] = {
    TEXT(email, "account", "EMAIL", "list all checkouts of this account [those that wait for payment or for support]"),
    COMMON,
};
static const struct option_row operation_resolve_rows[] = {
    NEEDED(outcome, "outcome", "OUTCOME", "succeeded: complete its remaining steps; failed: undo it"),
    COMMON,
};
static const struct option_row checkout_resolve_rows[] = {
    NEEDED(outcome, "outcome", "OUTCOME",
           "failed: no session was created; open: it may be paid; complete: it was paid"),
    TEXT(session, "session", "ID", "ID of the provider's session; required for complete"),
    COMMON,
};
static const struct option_row call_list_rows[] = {
    BUILDING("list the calls to this building only"),
    TEXT(number, "number", "NUMBER", "list the calls to or from this number only"),
    TEXT(outcome, "outcome", "OUTCOME", "released, forwarded, unreachable or none"),
    COMMON,
};
static const struct option_row explain_rows[] = {
    NEEDED(building, "building", "ID", "building that is called"),
    TEXT(at, "at", "TIME", "time of the call, such as 2026-11-24T09:30:00-05:00 [now]"),
    TEXT(digits, "digits", "CODE", "code that the caller enters"),
    TEXT(from, "from", "NUMBER", "number of the caller [withheld]"),
    COMMON,
};
#define GREETING                                                                                                       \
    NEEDED(building, "building", "ID", "building of the greeting"),                                                    \
        NEEDED(which, "which", "GREETING", "welcome, granted, denied or forwarding")
static const struct option_row greeting_rows[] = {GREETING, COMMON};
static const struct option_row greeting_list_rows[] = {
    NEEDED(building, "building", "ID", "list the recordings of this building"),
    COMMON,
};
static const struct option_row account_compat_rows[] = {
    NEEDED(revision, "revision", "REVISION", "earlier or current"),
    COMMON,
};
static const struct option_row account_delete_rows[] = {
    OPTION_SWITCH(struct admin_options, yes, "yes", "do not ask for confirmation"),
    COMMON,
};
static const struct option_row account_export_rows[] = {
    TEXT(output, "output", "FILE", "write to a new file, mode 0600 [standard output]"),
    TEXT(config, "config", "FILE", "configuration file of the service [" CONFIG_DEFAULT_PATH "]"),
    TEXT(data, "data", "DIR", "data directory of the service [from the configuration]"),
};
static const struct option_row common_rows[] = {COMMON};

struct verb {
    struct command command; /* first: run_verb gets a pointer to it */
    const char *method, *path;
    const char *operand_field;          /* field of the operand; NULL: the operand is appended to the path */
    bool list;                          /* that field is a list of all operands */
    char *(*read)(const char *operand); /* the field's text, which the caller frees; NULL: the operand is the text */
    const char *confirm;                /* the question before it is done; NULL: none */
    bool document;                      /* of `person`: prints the rows themselves */
};

static int run_verb(const struct command *self, const void *given, struct arguments operands);
static int run_export(const struct command *self, const void *given, struct arguments operands);
static int run_person(const struct command *self, const void *given, struct arguments operands);

#define VERB(verb, how, where, table, what)                                                                            \
    .command.name = "admin " verb, .command.summary = (what), .command.run = run_verb, .command.options = (table),     \
    .command.option_count = sizeof(table) / sizeof *(table), .command.options_size = sizeof(struct admin_options),     \
    .method = (how), .path = (where)
#define TAKES(operand, field)                                                                                          \
    .command.operands = (operand), .command.operands_least = 1, .command.operands_most = 1, .operand_field = (field)

/* A command whose operand is one person, and which does not send one request. */
#define RUNS(verb, runner, takes, table, what)                                                                         \
    .command = {.name = "admin " verb,                                                                                 \
                .summary = (what),                                                                                     \
                .run = (runner),                                                                                       \
                COMMAND_OPTIONS(struct admin_options, table),                                                          \
                .operands = (takes),                                                                                   \
                .operands_least = 1,                                                                                   \
                .operands_most = 1}

static const struct verb verbs[] = {
    {VERB("key create", "POST", "/admin/keys", key_create_rows, "Issue a key for a building or a member")},
    {VERB("number list", "GET", "/admin/numbers", common_rows, "List the virtual numbers and their buildings")},
    {VERB("number add", "POST", "/admin/numbers", number_add_rows, "Add a virtual number to the pool"),
     TAKES("NUMBER", "number")},
    {VERB("number assign", "POST", "/admin/numbers/assign", number_assign_rows,
          "Make a number of the pool a building's"),
     TAKES("NUMBER", "number")},
    {VERB("number remove", "POST", "/admin/numbers/remove", common_rows,
          "Take a number out of the pool, and from its building"),
     TAKES("NUMBER", "number")},
    {VERB("number release", "DELETE", "/admin/numbers", common_rows, "Release the virtual number of a building"),
     TAKES("NUMBER", "number")},
    {VERB("member add", "POST", "/admin/members", member_add_rows, "Add a member to a building")},
    {VERB("member list", "GET", "/admin/members", member_list_rows, "List members")},
    {VERB("member remove", "DELETE", "/admin/members/", member_remove_rows, "Remove a member and revoke its keys"),
     TAKES("ID", NULL)},
    {VERB("box add", "POST", "/admin/boxes", box_add_rows, "Make a call box that signs in; prints its password once"),
     TAKES("NAME", "name")},
    {VERB("box list", "GET", "/admin/boxes", common_rows, "List the call boxes that sign in")},
    {VERB("box remove", "DELETE", "/admin/boxes", common_rows, "Remove a call box"), TAKES("NAME", "name")},
    {VERB("delivery list", "GET", "/admin/deliveries", delivery_list_rows,
          "List the newest webhook deliveries, at most 100")},
    {VERB("delivery replay", "POST", "/admin/deliveries/replay", common_rows, "Send the event of a delivery again"),
     TAKES("ID", "delivery_id")},
    {VERB("operation list", "GET", "/admin/operations", common_rows,
          "List building operations that are running or wait for a decision")},
    {VERB("operation resolve", "POST", "/admin/operations/resolve", operation_resolve_rows,
          "Complete or undo a building operation"),
     TAKES("ID", "id")},
    {VERB("checkout list", "GET", "/admin/checkouts", checkout_list_rows,
          "List the newest unsettled checkouts, at most 100")},
    {VERB("checkout resolve", "POST", "/admin/checkouts/resolve", checkout_resolve_rows,
          "Settle a checkout that the provider did not respond to"),
     TAKES("ID", "checkout_id")},
    {VERB("job list", "GET", "/admin/jobs", common_rows,
          "List jobs that have failed and will be retried, at most 100")},
    {VERB("status", "GET", "/admin/status", common_rows, "Show the state of the service")},
    {VERB("node list", "GET", "/admin/nodes", common_rows,
          "List the processes that use the store, and those that ended within a day")},
    {VERB("trunk list", "GET", "/admin/trunks", common_rows, "List the trunks of the telephone and their state")},
    {VERB("request", "GET", "/admin/requests", common_rows, "Show the error response of a request ID"),
     TAKES("ID", "request_id")},
    {VERB("call list", "GET", "/admin/calls", call_list_rows, "List the newest calls, at most 100")},
    {VERB("call show", "GET", "/admin/calls/", common_rows, "Show a call with every step"), TAKES("ID", NULL)},
    {VERB("explain", "GET", "/admin/explain", explain_rows, "Explain what would happen to a call, grant by grant")},
    {VERB("greeting list", "GET", "/admin/greetings", greeting_list_rows, "List the recorded greetings of a building")},
    {VERB("greeting set", "POST", "/admin/greetings", greeting_rows, "Play a WAV file in place of a greeting's text"),
     TAKES("FILE", "audio"), .read = recording_from_file},
    {VERB("greeting remove", "DELETE", "/admin/greetings", greeting_rows, "Speak the greeting's text again")},
    {VERB("account add", "POST", "/admin/accounts", common_rows, "Make accounts for addresses, which then can sign in"),
     .command.operands = "EMAIL…", .command.operands_least = 1, .command.operands_most = 100, .operand_field = "emails",
     .list = true},
    {VERB("account list", "GET", "/admin/accounts/list", account_list_rows,
          "List the accounts by address, at most 1000")},
    {VERB("account remove", "POST", "/admin/accounts/remove", common_rows, "Remove an account that nobody has used"),
     TAKES("EMAIL", "account")},
    {VERB("account show", "GET", "/admin/accounts", common_rows, "Show an account and its buildings"),
     TAKES("EMAIL", "email")},
    {RUNS("account export", run_export, "ACCOUNT_OR_EMAIL", account_export_rows,
          "Write all that is held of a person, as JSON")},
    {VERB("account compat", "POST", "/admin/accounts/revision", account_compat_rows,
          "Choose the revision of the interface for an account's keys"),
     TAKES("EMAIL", "email")},
    {VERB("account delete", "POST", "/admin/accounts/delete", account_delete_rows,
          "Delete an account and all that is held of its person"),
     TAKES("ACCOUNT_OR_EMAIL", "account"), .confirm = "Delete the account, its buildings and all that is held of it"},
    {RUNS("person find", run_person, "NUMBER_OR_EMAIL", common_rows,
          "Count what is held of a visitor, a guest, a member or a neighbour"),
     .path = "/admin/persons/read"},
    {RUNS("person export", run_person, "NUMBER_OR_EMAIL", common_rows,
          "Write what is held of a person without an account, as JSON"),
     .path = "/admin/persons/read", .document = true},
    {RUNS("person erase", run_person, "NUMBER_OR_EMAIL", account_delete_rows,
          "Erase what is held of a person without an account"),
     .path = "/admin/persons/erase", .confirm = "Erase the person at all doors"},
    {VERB("phone verify", "POST", "/admin/phones", phone_verify_rows,
          "Set the forwarding phone of an account, which you have verified"),
     TAKES("EMAIL", "email")},
};
#define VERB_COUNT (sizeof verbs / sizeof *verbs)

static json_t *split(const char *text)
{
    json_t *words = json_array();
    for (struct str rest = str_z(text), word; rest.p;) {
        word = str_trim(str_cut(rest, ',', &rest));
        json_array_append_new(words, json_stringn(word.p, word.n));
    }
    return words;
}

/* The value of an option as JSON; NULL if it was not given. */
static json_t *field_value(enum field_kind kind, const void *member)
{
    const char *text;
    int64_t number;
    if (kind == FIELD_INTEGER) {
        memcpy(&number, member, sizeof number);
        return number ? json_integer(number) : NULL;
    }
    if (kind == FIELD_SWITCH) /* of a query alone */
        return *(const bool *)member ? json_string("true") : NULL;
    memcpy(&text, member, sizeof text);
    if (!text)
        return NULL;
    return kind == FIELD_WORDS ? split(text) : json_string(text);
}

static json_t *operand_list(struct arguments operands)
{
    json_t *list = json_array();
    for (int i = 0; i < operands.count; i++)
        json_array_append_new(list, json_string(operands.words[i]));
    return list;
}

/* The options and the operand, or a list of all, as a JSON object (caller frees). */
static json_t *request_fields(const struct verb *v, const struct admin_options *o, const char *operand,
                              struct arguments operands)
{
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        json_t *value = field_value(fields[i].kind, (const char *)o + fields[i].offset);
        if (value)
            json_object_set_new(object, fields[i].name, value);
    }
    if (operand && v->operand_field)
        json_object_set_new(object, v->operand_field, v->list ? operand_list(operands) : json_string(operand));
    return object;
}

static void put_escaped(struct buf *out, const char *text)
{
    char *escaped = curl_easy_escape(NULL, text, 0);
    buf_str(out, str_z(escaped ? escaped : ""));
    curl_free(escaped);
}

static void admin_put_path(struct buf *out, const struct verb *v, const json_t *given, const char *operand)
{
    const char *name, *separator = "?";
    json_t *value;
    buf_str(out, str_z(v->path));
    if (operand && !v->operand_field)
        put_escaped(out, operand);
    if (strcmp(v->method, "POST") != 0)
        json_object_foreach ((json_t *)given, name, value) {
            buf_printf(out, "%s%s=", separator, name);
            put_escaped(out, json_string_value(value));
            separator = "&";
        }
    buf_char(out, '\0');
}

static int send_verb(const struct verb *v, const struct admin_options *o, const char *operand,
                     struct arguments operands, const char *data_dir)
{
    struct buf path = BUF(4000);
    json_t *given = request_fields(v, o, operand, operands);
    char *body = strcmp(v->method, "POST") == 0 ? json_dumps(given, JSON_COMPACT) : NULL;
    int result = EXIT_FAILED;
    admin_put_path(&path, v, given, operand);
    if (path.full)
        complain("the arguments are too long");
    else
        result = admin_ask(data_dir, v->method, path.p, body, o->json);
    free(body);
    json_decref(given);
    buf_done(&path);
    return result;
}

/* Asks on the terminal, or reads the answer from standard input. */
static bool confirmed(const struct verb *v, const struct admin_options *o, const char *operand)
{
    char answer[8] = "";
    if (!v->confirm || o->yes)
        return true;
    fprintf(stderr, "%s: %s? Type yes: ", v->confirm, operand);
    fflush(stderr);
    return fgets(answer, sizeof answer, stdin) && !strcmp(answer, "yes\n");
}

static int run_verb(const struct command *self, const void *given, struct arguments operands)
{
    const struct verb *v = (const struct verb *)self;
    const struct admin_options *o = given;
    struct config *config = configured_load(o->config, o->data);
    if (!config)
        return EXIT_USAGE;
    const char *operand = operands.count ? operands.words[0] : NULL;
    if (!confirmed(v, o, operand)) {
        complain("nothing was done");
        config_free(config);
        return EXIT_FAILED;
    }
    char *read = operand && v->read ? v->read(operand) : NULL;
    int result = EXIT_FAILED;
    if (read || !operand || !v->read)
        result = send_verb(v, o, read ? read : operand, operands, config->top_data_dir);
    free(read);
    config_free(config);
    return result;
}

static int run_person(const struct command *self, const void *given, struct arguments operands)
{
    const struct verb *v = (const struct verb *)self;
    const struct admin_options *o = given;
    const struct person_command command = {v->path, operands.words[0], v->document, o->json};
    if (!confirmed(v, o, command.person)) {
        complain("nothing was done");
        return EXIT_FAILED;
    }
    return configured_run(o->config, o->data, person_ask, &command);
}

/* Reads the store itself: a document has no bound, and the service may be stopped. */
static int run_export(const struct command *self, const void *given, struct arguments operands)
{
    (void)self;
    const struct admin_options *o = given;
    const struct export_command command = {operands.words[0], o->output};
    return configured_run(o->config, o->data, export_account, &command);
}

/* The command of a noun and a verb, or of a noun without verbs (verb: NULL); NULL if not found. */
static const struct command *find_verb(const char *noun, const char *verb)
{
    char name[64];
    snprintf(name, sizeof name, "admin %s%s%s", noun, verb ? " " : "", verb ? verb : "");
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (!strcmp(name, verbs[i].command.name))
            return &verbs[i].command;
    return NULL;
}

static bool is_noun(const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i < VERB_COUNT; i++) {
        const char *noun = verbs[i].command.name + sizeof "admin";
        if (strncmp(noun, word, n) == 0 && noun[n] == ' ')
            return true;
    }
    return false;
}

static int admin_run(const struct command *self, const void *given, struct arguments operands)
{
    char **words = operands.words;
    const char *verb = operands.count > 1 ? words[1] : NULL;
    const struct command *c = verb ? find_verb(words[0], verb) : NULL;
    if (c)
        return command_run(c, given, operands.count - 1, words + 1);
    c = find_verb(words[0], NULL);
    if (c)
        return command_run(c, given, operands.count, words);
    const bool asks = verb && (!strcmp(verb, "--help") || !strcmp(verb, "-h"));
    if (asks && is_noun(words[0])) {
        options_help(self, stdout);
        return EXIT_DONE;
    }
    complain("unknown command: %s %s%s%s; see `%s admin --help`", self->name, words[0], asks || !verb ? "" : " ",
             asks || !verb ? "" : verb, complain_name());
    return EXIT_USAGE;
}

static void list_verbs(const struct command *self, FILE *out)
{
    (void)self;
    fprintf(out, "\nThe service must be running. Every command has --help:\n");
    for (size_t i = 0; i < VERB_COUNT; i++) {
        const struct command *c = &verbs[i].command;
        char left[40];
        snprintf(left, sizeof left, "%s%s%s", c->name + sizeof "admin", c->operands ? " " : "",
                 c->operands ? c->operands : "");
        options_help_row(out, left, 22, c->summary);
    }
}

static const struct command *verb_at(const struct command *self, size_t i)
{
    (void)self;
    return i < VERB_COUNT ? &verbs[i].command : NULL;
}

const struct command command_admin = {
    .name = "admin",
    .summary = "Administer a running service",
    .operands = "NOUN VERB …",
    .more = list_verbs,
    COMMAND_OPTIONS(struct admin_options, common_rows),
    .operands_least = 1,
    .operands_most = 2,
    .stops_at_operand = true,
    .verb = verb_at,
    .run = admin_run,
};
