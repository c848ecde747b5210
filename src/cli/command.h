/* Commands: one row each, with their options in a table that gives parsing and help.
 *
 * GNU conventions (program.md): long options, `--help` everywhere, errors as one line "portero: …" on standard error,
 * exit status 0 done, 1 failed, 2 wrong usage or configuration. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum option_kind {
    OPTION_STRING,  /* const char * */
    OPTION_INTEGER, /* int64_t within lowest..highest */
    OPTION_FLAG     /* bool */
};

struct option_row {
    const char *name;  /* "config", given as --config */
    const char *value; /* "FILE" in the help; NULL for a flag */
    const char *doc;
    enum option_kind kind;
    bool required; /* an OPTION_STRING that must be given */
    size_t offset; /* of the member in the command's options struct */
    int64_t lowest, highest;
};

#define OPTION_TEXT(ctype, member, option, placeholder, what)                                                          \
    {                                                                                                                  \
        .name = (option), .value = (placeholder), .doc = (what), .kind = OPTION_STRING,                                \
        .offset = offsetof(ctype, member)                                                                              \
    }
#define OPTION_NEEDED(ctype, member, option, placeholder, what)                                                        \
    {                                                                                                                  \
        .name = (option), .value = (placeholder), .doc = (what), .kind = OPTION_STRING, .required = true,              \
        .offset = offsetof(ctype, member)                                                                              \
    }
#define OPTION_NUMBER(ctype, member, option, placeholder, low, high, what)                                             \
    {                                                                                                                  \
        .name = (option), .value = (placeholder), .doc = (what), .kind = OPTION_INTEGER,                               \
        .offset = offsetof(ctype, member), .lowest = (low), .highest = (high)                                          \
    }
#define OPTION_SWITCH(ctype, member, option, what)                                                                     \
    {                                                                                                                  \
        .name = (option), .doc = (what), .kind = OPTION_FLAG, .offset = offsetof(ctype, member)                        \
    }

/* What a command line was parsed into: the command's own struct and what is no option. */
struct arguments {
    int count;
    char **words;
};

struct command {
    const char *name;        /* "serve"; of a command with verbs "key create" */
    const char *summary;     /* one line, lower case, no full stop */
    const char *operands;    /* after the options in the usage line, "FILE"; NULL for none */
    void (*more)(FILE *out); /* writes what the help says under the options; may be NULL */
    const struct option_row *options;
    size_t option_count;
    size_t options_size;  /* of the options struct */
    const void *defaults; /* an options struct to start from; NULL: zeroes */
    int operands_least, operands_most;
    bool stops_at_operand; /* options after the first operand are the operand's own */
    int (*run)(const struct command *self, const void *options, struct arguments operands);
};

#define COMMAND_OPTIONS(ctype, table)                                                                                  \
    .options = (table), .option_count = sizeof(table) / sizeof *(table), .options_size = sizeof(ctype)

/* The program's entry: `portero COMMAND …`, `portero help [COMMAND]`, `portero --version`, `portero --help`. */
int command_main(const struct command *const *commands, size_t count, int argc, char **argv);

/* Parses argv[1…] by the command's table and runs it; prints help or what is wrong itself. Returns the exit status.
 * `before`: options that were given before this command's own, in place of its defaults; may be NULL. */
int command_run(const struct command *c, const void *before, int argc, char **argv);

/* "portero: …" and a line feed on standard error. */
void command_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same for each line of a text. */
void command_complain_lines(const char *text);

extern const struct command command_serve, command_buzz, command_openapi, command_check_config, command_migrate,
    command_admin, command_rekey;
