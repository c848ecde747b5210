/* The commands of a program, and its entry.
 *
 * GNU conventions: long options, `--help` everywhere, errors as one line "portero: …" on standard error; exit status 0:
 * done, 1: failed, 2: wrong usage or configuration, others as a command says. */
#pragma once
#include "client/complain.h"
#include "client/options.h"

#define COMMAND_CLIENT "portero"

struct program {
    const char *name; /* "portero" */
    const char *sentence;
    const struct command *(*at)(size_t i); /* the i-th command; NULL after the last */
    /* Whether it is a noun with operations of the interface (client/operation.h). */
    bool (*is_operation)(const struct command *c);
    const char *const *others; /* names of the commands of another program, NULL-terminated */
    /* Runs the other program with argv. Returns only if it cannot, with the exit status. */
    int (*run_other)(const char *command, char **argv);
};

/* The program's entry: `portero COMMAND …`, `portero help [COMMAND]`, `portero --version`, `portero --help`. It calls
 * itself COMMAND_CLIENT if that was typed, although another program runs it. */
int command_main(const struct program *p, int argc, char **argv);

/* Parses argv[1…] with the command's option table and runs the command, or prints its help or an error. Returns the
 * exit status. `before`: an options struct to start from, in place of the command's defaults; may be NULL. */
int command_run(const struct command *c, const void *before, int argc, char **argv);
