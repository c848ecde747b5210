/* porterod buzz: simulates a call box. */
#include "handset/buzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/handset.h"

#define NAME_MAX_LEN    64
#define NAME_CHARACTERS "+-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct buzz_given {
    struct buzz_options call;
    int64_t timeout_s;
};

static const struct buzz_given defaults = {.call = {.sip = "127.0.0.1:5060", .handset.delay_ms = -1}};

static const struct option_row rows[] = {
    OPTION_NEEDED(struct buzz_given, call.to, "to", "NUMBER", "virtual number to call"),
    OPTION_TEXT(struct buzz_given, call.from, "from", "NUMBER", "number of the caller [none]"),
    OPTION_TEXT(struct buzz_given, call.sip, "sip", "A:P",
                "SIP address of the service; tcp:A:P for TCP [127.0.0.1:5060]"),
    HANDSET_ROWS(struct buzz_given, call.handset),
};

static bool is_user_name(const char *text)
{
    size_t n = strlen(text);
    return n > 0 && n <= NAME_MAX_LEN && strspn(text, NAME_CHARACTERS) == n;
}

/* The first error in the options, or NULL. */
static const char *first_buzz_error(const struct buzz_options *o)
{
    if (!is_user_name(o->to))
        return "--to must be a number or a name";
    if (o->from && !is_user_name(o->from))
        return "--from must be a number or a name";
    if (!buzz_is_service(o->sip))
        return "--sip must be ADDRESS:PORT, or tcp:ADDRESS:PORT";
    return handset_find_error(&o->handset);
}

static int buzz_command_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)operands;
    const struct buzz_given *g = given;
    struct buzz_options options = g->call;
    const char *wrong = first_buzz_error(&options);
    if (wrong) {
        complain("%s: %s; see `%s %s --help`", self->name, wrong, complain_name(), self->name);
        return EXIT_USAGE;
    }
    options.handset.timeout_ms = g->timeout_s * 1000;
    options.note = complain;
    char *why = NULL;
    int status = buzz_run(&options, stdout, &why);
    if (status == BUZZ_FAILED)
        complain("%s", why);
    free(why);
    return status;
}

static void put_buzz_events(const struct command *self, FILE *out)
{
    (void)self;
    fputs("\nPrints one line per event: `answered`, `tone 9`, `hangup`, `rejected 404`, `timeout`.\n"
          "Exit status: 0 if the release tone was received, 3 if not, 1 if the call could not be placed: no answer "
          "within\n"
          "10 s, connection refused, or host not found.\n",
          out);
}

const struct command command_buzz = {
    .name = "buzz",
    .summary = "Simulate a call box: place a SIP call and press keys",
    .more = put_buzz_events,
    COMMAND_OPTIONS(struct buzz_given, rows),
    .defaults = &defaults,
    .run = buzz_command_run,
};
