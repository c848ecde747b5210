/* porterod check-config: checks a configuration as serve would. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/checks.h"
#include "cli/daemon.h"
#include "cli/program.h"

struct check_options {
    const char *config;
    bool store;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct check_options, config, "config", "FILE", "file to check [" CONFIG_DEFAULT_PATH "]"),
    OPTION_SWITCH(struct check_options, store, "store", "also check that this program can use the store's schema"),
};

/* Whether a start would end because of the store. It would wait for a server that is away. */
static bool starts_with_store(const struct config *c)
{
    char *why = NULL, *database = mem_printf("%s/portero.db", c->top_data_dir);
    const bool begun = c->engine != ENGINE_SQLITE || access(database, F_OK) == 0;
    const enum err e = begun ? store_admits(c, daemon_schema(c), &why) : ERR_NONE;
    if (e)
        complain("%s%s", why, e == ERR_SERVICE_UNAVAILABLE ? ": a start waits for it" : "");
    free(why);
    free(database);
    return !e || e == ERR_SERVICE_UNAVAILABLE;
}

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
    if (o->store && !starts_with_store(config)) {
        config_free(config);
        return EXIT_FAILED;
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
