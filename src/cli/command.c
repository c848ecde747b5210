#include "cli/command.h"

#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/options.h"

#define HELP_WORDS_MAX 4 /* `help admin key create` */

/* What a library says may have several lines: they become one, without what a terminal would obey. */
static void one_line(char *text)
{
    size_t n = 0;
    for (const char *p = text; *p; p++) {
        bool blank = g_ascii_iscntrl(*p);
        if (!blank || (n && text[n - 1] != ' '))
            text[n++] = blank ? ' ' : *p;
    }
    while (n && text[n - 1] == ' ')
        n--;
    text[n] = '\0';
}

void command_complain(const char *fmt, ...)
{
    char line[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    one_line(line);
    fprintf(stderr, "portero: %s\n", line);
}

void command_complain_lines(const char *text)
{
    for (struct str rest = str_z(text), line; rest.p;) {
        line = str_cut(rest, '\n', &rest);
        command_complain("%.*s", STR_ARG(line));
    }
}

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
    /* What was printed must have reached its reader: a full disk or a closed pipe is a failure. */
    if (fflush(stdout) != 0 && status == EXIT_DONE)
        status = EXIT_FAILED;
    return status;
}

static void list(const struct command *const *commands, size_t count)
{
    printf("Usage: portero COMMAND [OPTION]…\n\n"
           "Portero answers the door: it is the telephone line behind a building's call box.\n\nCommands:\n");
    for (size_t i = 0; i < count; i++)
        printf("  %-14s %s\n", commands[i]->name, commands[i]->summary);
    printf("  %-14s explains a command: `help serve`, `help admin key create`\n\n`portero --version` prints the "
           "version.\n",
           "help");
}

static const struct command *find(const struct command *const *commands, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    command_complain("there is no command %s; `portero help` lists them", name);
    return NULL;
}

static bool is_help(const char *word)
{
    return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* `help COMMAND …` is `COMMAND … --help`, so that a command with verbs explains those as well. */
static int help(const struct command *const *commands, size_t count, int argc, char **argv)
{
    static char asked[] = "--help";
    char *words[HELP_WORDS_MAX];
    if (argc < 2 || is_help(argv[1])) {
        list(commands, count);
        return EXIT_DONE;
    }
    const struct command *c = find(commands, count, argv[1]);
    if (!c)
        return EXIT_USAGE;
    if (argc > (c->stops_at_operand ? HELP_WORDS_MAX : 2)) {
        command_complain("help: unexpected argument %s; `portero help` lists the commands", argv[argc - 1]);
        return EXIT_USAGE;
    }
    memcpy(words, argv + 1, (size_t)(argc - 1) * sizeof *words);
    words[argc - 1] = asked;
    return command_run(c, NULL, argc, words);
}

int command_main(const struct command *const *commands, size_t count, int argc, char **argv)
{
    if (argc < 2) {
        command_complain("name a command; `portero help` lists them");
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--version")) {
        printf("portero %s\n", PORTERO_VERSION);
        return EXIT_DONE;
    }
    if (is_help(name))
        return help(commands, count, argc - 1, argv + 1);
    const struct command *c = find(commands, count, name);
    return c ? command_run(c, NULL, argc - 1, argv + 1) : EXIT_USAGE;
}
