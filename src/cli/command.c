#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/complain.h"

#define HELP_WIDTH     14
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

static void list_kind(const struct command_source *commands, bool operations)
{
    const struct command *c;
    for (size_t i = 0; (c = commands->at(i)); i++)
        if (commands->is_operation(c) == operations)
            options_help_row(stdout, c->name, HELP_WIDTH, c->summary);
}

static void list(const struct command_source *commands)
{
    printf("Usage: portero COMMAND [OPTION]…\n\n" COMMAND_SENTENCE "\n\nCommands:\n");
    list_kind(commands, false);
    options_help_row(stdout, "help", HELP_WIDTH, "Show the help of a command: `help serve`, `help admin key create`");
    printf("\nCommands of residents and agents, after `portero login`, for any address:\n");
    list_kind(commands, true);
    printf("\n`portero --version` prints the version.\n");
}

static const struct command *find_command(const struct command_source *commands, const char *name)
{
    const struct command *c;
    for (size_t i = 0; (c = commands->at(i)); i++)
        if (!strcmp(c->name, name))
            return c;
    complain("unknown command: %s; see `portero help`", name);
    return NULL;
}

static bool is_help(const char *word)
{
    return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* `help COMMAND …` runs `COMMAND … --help`, so that verbs are covered too. */
static int help(const struct command_source *commands, int argc, char **argv)
{
    static char asked[] = "--help";
    char *words[HELP_WORDS_MAX];
    if (argc < 2 || is_help(argv[1])) {
        list(commands);
        return EXIT_DONE;
    }
    const struct command *c = find_command(commands, argv[1]);
    if (!c)
        return EXIT_USAGE;
    if (argc > (c->stops_at_operand ? HELP_WORDS_MAX : 2)) {
        complain("help: unexpected argument %s; see `portero help`", argv[argc - 1]);
        return EXIT_USAGE;
    }
    memcpy(words, argv + 1, (size_t)(argc - 1) * sizeof *words);
    words[argc - 1] = asked;
    return command_run(c, NULL, argc, words);
}

int command_with_config(const char *path, const char *data, command_configured *run, const void *context)
{
    struct config *config = NULL;
    char *why = NULL;
    const struct config_override override = {"--data", "top", "data_dir", data};
    enum err e = config_load_with(path, &override, 1, &config, &why);
    if (e)
        complain_lines(why);
    else if ((e = run(config, context, &why)))
        complain("%s", why);
    free(why);
    config_free(config);
    return e == ERR_NONE ? EXIT_DONE : e == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

int command_main(const struct command_source *commands, int argc, char **argv)
{
    if (argc < 2) {
        complain("no command given; see `portero help`");
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--version")) {
        printf("portero %s\n", PORTERO_VERSION);
        return EXIT_DONE;
    }
    if (is_help(name))
        return help(commands, argc - 1, argv + 1);
    const struct command *c = find_command(commands, name);
    return c ? command_run(c, NULL, argc - 1, argv + 1) : EXIT_USAGE;
}
