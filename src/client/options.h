/* A command as a row: its name, its option table, its function. getopt_long reads the table, the help prints it. */
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
    const char *name;          /* "config", given as --config */
    const char *also;          /* another name, which the help does not list; NULL: none */
    const char *value;         /* placeholder in the help, "FILE"; NULL for a flag */
    const char *const *values; /* of an OPTION_STRING, NULL-terminated: for completions; NULL: any */
    const char *doc;
    enum option_kind kind;
    bool required; /* of an OPTION_STRING */
    size_t offset; /* in the command's options struct */
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

/* The arguments that are not options. */
struct arguments {
    int count;
    char **words;
};

struct command {
    const char *name;                                    /* "serve"; with a noun and a verb: "admin key create" */
    const char *summary;                                 /* a sentence in the imperative, without a full stop */
    const char *operands;                                /* operands in the usage line, "FILE"; NULL: no operands */
    void (*more)(const struct command *self, FILE *out); /* prints the end of the help; may be NULL */
    const struct option_row *options;
    size_t option_count;
    size_t options_size;  /* of the options struct */
    const void *defaults; /* initial options struct; NULL: zeroes */
    int operands_least, operands_most;
    bool stops_at_operand; /* options after the first operand are not this command's */
    /* Its i-th command of a noun and a verb, NULL after the last; may be NULL. */
    const struct command *(*verb)(const struct command *self, size_t i);
    int (*run)(const struct command *self, const void *options, struct arguments operands);
};

#define COMMAND_OPTIONS(ctype, table)                                                                                  \
    .options = (table), .option_count = sizeof(table) / sizeof *(table), .options_size = sizeof(ctype)

enum options_result { OPTIONS_READ, OPTIONS_HELP, OPTIONS_WRONG };

/* Parses argv[1…] into the struct at ret_options, which the caller has initialised. Operands may come between options,
 * unless the command stops at the first; `--` ends the options. Strings point into argv. OPTIONS_WRONG: one line was
 * written to standard error. Not thread-safe (getopt). */
enum options_result options_parse(const struct command *c, int argc, char **argv, void *ret_options,
                                  struct arguments *ret_operands);

/* Prints the usage line, the summary and the options. */
void options_help(const struct command *c, FILE *out);
/* Prints a line of a help: `left` in `width` columns, and the text, which goes on below itself. */
void options_help_row(FILE *out, const char *left, int width, const char *doc);
