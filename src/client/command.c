#include "client/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "client/complain.h"

#define HELP_WIDTH     14
#define HELP_MAX       1024
#define HELP_WORDS_MAX 4 /* `help admin key create` */

int command_run(const struct command *c, const void *before, int argc, char **argv)
{
    void *options = mem_zeroed(1, c->options_size ? c->options_size : 1);
    if (before || c->defaults)
        memcpy(options, before ? before : c->defaults, c->options_size);
    struct arguments operands;
    int status = EXIT_DONE;
    switch (options_parse(c, argc, argv, options, &operands)) {
    case OPTIONS_READ:
        status = c->run(c, options, operands);
        break;
    case OPTIONS_HELP:
        options_help(c, stdout);
        break;
    case OPTIONS_WRONG:
        status = EXIT_USAGE;
        break;
    }
    free(options);
    /* A full disk or a closed pipe is a failure. */
    if (fflush(stdout) != 0 && status == EXIT_DONE)
        status = EXIT_FAILED;
    return status;
}

static void list_kind(const struct program *p, bool operations)
{
    const struct command *c;
    for (size_t i = 0; (c = p->at(i)); i++)
        if (p->is_operation(c) == operations)
            options_help_row(stdout, c->name, HELP_WIDTH, c->summary);
}

static void list_others(const struct program *p)
{
    struct buf names = BUF(HELP_MAX);
    for (size_t i = 0; p->others[i]; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", p->others[i]);
    buf_char(&names, '\0');
    printf("\nCommands of the service, where `porterod` is installed, which has their help:\n");
    options_help_row(stdout, "", 0, names.p);
    buf_done(&names);
}

static void list(const struct program *p)
{
    const char *name = complain_name();
    printf("Usage: %s COMMAND [OPTION]…\n\n%s\n\nCommands:\n", name, p->sentence);
    list_kind(p, false);
    options_help_row(stdout, "help", HELP_WIDTH, "Show the help of a command: `help login`, `help admin key create`");
    if (*p->others) {
        printf("\nCommands of residents and agents, after `portero login`, for any address:\n");
        list_kind(p, true);
        list_others(p);
    }
    printf("\n`%s --version` prints the version.\n", name);
}

static const struct command *find_command(const struct program *p, const char *name)
{
    const struct command *c;
    for (size_t i = 0; (c = p->at(i)); i++)
        if (!strcmp(c->name, name))
            return c;
    complain("unknown command: %s; see `%s help`", name, complain_name());
    return NULL;
}

static bool is_help(const char *word)
{
    return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* `help COMMAND …` runs `COMMAND … --help`, so that verbs are covered too. */
static int help(const struct program *p, int argc, char **argv)
{
    static char asked[] = "--help";
    char *words[HELP_WORDS_MAX];
    if (argc < 2 || is_help(argv[1])) {
        list(p);
        return EXIT_DONE;
    }
    const struct command *c = find_command(p, argv[1]);
    if (!c)
        return EXIT_USAGE;
    if (argc > (c->stops_at_operand ? HELP_WORDS_MAX : 2)) {
        complain("help: unexpected argument %s; see `%s help`", argv[argc - 1], complain_name());
        return EXIT_USAGE;
    }
    memcpy(words, argv + 1, (size_t)(argc - 1) * sizeof *words);
    words[argc - 1] = asked;
    return command_run(c, NULL, argc, words);
}

/* The program's name; but the client's, if that was typed and the client runs this one. */
static const char *name_of(const struct program *p, const char *typed)
{
    const char *slash = typed ? strrchr(typed, '/') : NULL, *name = slash ? slash + 1 : typed;
    return name && !strcmp(name, COMMAND_CLIENT) ? COMMAND_CLIENT : p->name;
}

static bool is_other(const struct program *p, const char *name)
{
    for (size_t i = 0; p->others[i]; i++)
        if (!strcmp(p->others[i], name))
            return true;
    return false;
}

int command_main(const struct program *p, int argc, char **argv)
{
    complain_as(name_of(p, argv[0]));
    if (argc < 2) {
        complain("no command given; see `%s help`", complain_name());
        return EXIT_USAGE;
    }
    const char *name = argv[1], *wanted = is_help(name) && argc > 2 ? argv[2] : name;
    if (!strcmp(name, "--version")) {
        printf("%s %s\n", complain_name(), PORTERO_VERSION);
        return EXIT_DONE;
    }
    if (is_other(p, wanted))
        return p->run_other(wanted, argv);
    if (is_help(name))
        return help(p, argc - 1, argv + 1);
    const struct command *c = find_command(p, name);
    return c ? command_run(c, NULL, argc - 1, argv + 1) : EXIT_USAGE;
}
