/* The commands, and the program's entry.
 *
 * GNU conventions: long options, `--help` everywhere, errors as one line "portero: …" on standard error; exit status 0:
 * done, 1: failed, 2: wrong usage or configuration. */
#pragma once
#include "base/config.h"
#include "cli/complain.h"
#include "cli/options.h"

#define COMMAND_SENTENCE "Portero answers the door: it is the telephone line behind a building's call box."

/* Where the commands come from: cli/command_list.h has these functions. */
struct command_source {
    const struct command *(*at)(size_t i);
    bool (*is_operation)(const struct command *c);
};

/* The program's entry: `portero COMMAND …`, `portero help [COMMAND]`, `portero --version`, `portero --help`. */
int command_main(const struct command_source *commands, int argc, char **argv);

/* Parses argv[1…] with the command's option table and runs the command, or prints its help or an error. Returns the
 * exit status. `before`: an options struct to start from, in place of the command's defaults; may be NULL. */
int command_run(const struct command *c, const void *before, int argc, char **argv);

/* Loads the configuration, with `data` as its data_dir unless it is NULL, and runs a command with it, or writes the
 * errors. Returns the exit status. The command must set *ret_why, for the caller to free, if it fails. */
typedef enum err command_configured(const struct config *config, const void *context, char **ret_why);
int command_with_config(const char *path, const char *data, command_configured *run, const void *context);

#define COMMAND(name) extern const struct command command_##name;
#include "tbl/commands.def"
