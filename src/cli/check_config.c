/* portero check-config: checks a configuration as serve would. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/checks.h"
#include "cli/command.h"

struct check_options {
    const char *config;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct check_options, config, "config", "FILE", "file to check [" CONFIG_DEFAULT_PATH "]"),
};

static int check_config_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct check_options *o = given;
    struct config *config;
    char *why = NULL;
    if (checks_load(o->config, NULL, 0, &config, &why)) {
        complain_lines(why);
        free(why);
        return EXIT_USAGE;
    }
    bool defaults = !o->config && access(CONFIG_DEFAULT_PATH, F_OK) < 0;
    printf("%s %s: mode %s, data in %s\n", o->config ? o->config : CONFIG_DEFAULT_PATH,
           defaults ? "not found, defaults are valid" : "is valid", config->top_mode, config->top_data_dir);
    config_free(config);
    return EXIT_DONE;
}

const struct command command_check_config = {
    .name = "check-config",
    .summary = "Check a configuration and report every error with file and line",
    COMMAND_OPTIONS(struct check_options, rows),
    .run = check_config_run,
};
