#include "client/options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/complain.h"

#define MAX_OPTIONS  64
#define OPTION_BASE  256 /* getopt_long's value for the first row; above all characters */
#define OPTION_HELP  'h'
#define HELP_WIDTH   22
#define HELP_COLUMNS 80 /* of a terminal */

static bool complain_usage(const struct command *c, const char *what, const char *word)
{
    complain("%s: %s %s; see `%s %s --help`", c->name, what, word, complain_name(), c->name);
    return false;
}

static bool take_integer(const struct command *c, const struct option_row *row, const char *text, void *member)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < row->lowest || value > row->highest) {
        complain("%s: --%s must be an integer from %" PRId64 " to %" PRId64, c->name, row->name, row->lowest,
                 row->highest);
        return false;
    }
    int64_t stored = value;
    memcpy(member, &stored, sizeof stored);
    return true;
}

static bool take_option(const struct command *c, const struct option_row *row, const char *text, void *options)
{
    void *member = (char *)options + row->offset;
    switch (row->kind) {
    case OPTION_STRING:
        memcpy(member, &text, sizeof text);
        return true;
    case OPTION_INTEGER:
        return take_integer(c, row, text, member);
    case OPTION_FLAG:
        *(bool *)member = true;
        return true;
    }
    return false;
}

/* Converts the table for getopt_long. `ret` must have room for 2 * MAX_OPTIONS + 2. */
static void to_getopt(const struct command *c, struct option *ret)
{
    size_t n = 0;
    assert(c->option_count <= MAX_OPTIONS);
    for (size_t i = 0; i < c->option_count; i++) {
        const struct option_row *row = &c->options[i];
        const char *const names[] = {row->name, row->also};
        for (size_t j = 0; j < 2 && names[j]; j++)
            ret[n++] = (struct option){.name = names[j],
                                       .has_arg = row->kind == OPTION_FLAG ? no_argument : required_argument,
                                       .val = OPTION_BASE + (int)i};
    }
    ret[n++] = (struct option){.name = "help", .has_arg = no_argument, .val = OPTION_HELP};
    ret[n] = (struct option){0};
}

static bool check_required(const struct command *c, const void *options)
{
    const char *text;
    for (size_t i = 0; i < c->option_count; i++) {
        if (!c->options[i].required)
            continue;
        memcpy(&text, (const char *)options + c->options[i].offset, sizeof text);
        if (!text) {
            complain("%s: --%s %s is required; see `%s %s --help`", c->name, c->options[i].name, c->options[i].value,
                     complain_name(), c->name);
            return false;
        }
    }
    return true;
}

static bool check_operands(const struct command *c, struct arguments operands)
{
    if (operands.count < c->operands_least)
        return complain_usage(c, "missing argument", c->operands);
    if (operands.count > c->operands_most && !c->stops_at_operand)
        return complain_usage(c, "unexpected argument", operands.words[c->operands_most]);
    return true;
}

enum options_result options_parse(const struct command *c, int argc, char **argv, void *ret_options,
                                  struct arguments *ret_operands)
{
    struct option table[2 * MAX_OPTIONS + 2];
    to_getopt(c, table);
    opterr = 0;
#ifdef __GLIBC__
    optind = 0; /* start afresh */
#else
    optind = 1;
#endif
    for (;;) {
        int got = getopt_long(argc, argv, c->stops_at_operand ? "+:h" : ":h", table, NULL);
        if (got == -1)
            break;
        if (got == OPTION_HELP)
            return OPTIONS_HELP;
        if (got == '?' || got == ':') {
            complain_usage(c, got == ':' ? "no value for" : "unknown option", argv[optind - 1]);
            return OPTIONS_WRONG;
        }
        if (!take_option(c, &c->options[got - OPTION_BASE], optarg, ret_options))
            return OPTIONS_WRONG;
    }
    *ret_operands = (struct arguments){argc - optind, argv + optind};
    return check_operands(c, *ret_operands) && check_required(c, ret_options) ? OPTIONS_READ : OPTIONS_WRONG;
}

/* Terminal columns of UTF-8 text whose characters take one each. */
static int shown(const char *text, int n)
{
    int columns = 0;
    for (int i = 0; i < n; i++)
        columns += (text[i] & 0xc0) != 0x80;
    return columns;
}

void options_help_row(FILE *out, const char *left, int width, const char *doc)
{
    const int indent = width + 3;
    int at = indent - 1;
    fprintf(out, "  %-*s", width, left);
    if (shown(left, (int)strlen(left)) > width)
        at = HELP_COLUMNS; /* the text begins on the next line */
    for (const char *word = doc; *word;) {
        const int n = (int)strcspn(word, " ");
        const bool fits = at + 1 + shown(word, n) <= HELP_COLUMNS;
        if (fits) {
            fprintf(out, " %.*s", n, word);
            at += 1 + shown(word, n);
        } else {
            fprintf(out, "\n%*s%.*s", indent, "", n, word);
            at = indent + shown(word, n);
        }
        word += n + (word[n] == ' ');
    }
    fputc('\n', out);
}

void options_help(const struct command *c, FILE *out)
{
    fprintf(out, "Usage: %s %s", complain_name(), c->name);
    for (size_t i = 0; i < c->option_count; i++)
        if (c->options[i].required)
            fprintf(out, " --%s %s", c->options[i].name, c->options[i].value);
    fprintf(out, " [OPTION]…%s%s\n\n%s.\n\nOptions:\n", c->operands ? " " : "", c->operands ? c->operands : "",
            c->summary);
    for (size_t i = 0; i < c->option_count; i++) {
        const struct option_row *row = &c->options[i];
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", row->name, row->value ? " " : "", row->value ? row->value : "");
        options_help_row(out, left, HELP_WIDTH, row->doc);
    }
    options_help_row(out, "-h, --help", HELP_WIDTH, "show this help");
    if (c->more)
        c->more(c, out);
}
