/* portero check-store: reads the whole store and tells what is wrong with it, while the service runs or not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "cli/command.h"
#include "cli/datadir.h"
#include "domain/check.h"
#include "store/store.h"

struct check_options {
    const char *config, *data;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct check_options, config, "config", "FILE", "configuration file [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct check_options, data, "data", "DIR", "data directory [from the configuration]"),
};

/* Prints a line for each check. *ret_faulty counts those that found something. */
static enum err check_all(struct store *store, int *ret_faulty, char **ret_why)
{
    *ret_faulty = 0;
    for (size_t i = 0; i < check_count; i++) {
        struct check_result result = {.check = &checks_of_store[i]};
        if (store_look_run(store, check_run, &result))
            return err_why(ret_why, ERR_IO, "%s: the store cannot be read (see the log)", result.check->name);
        if (result.faults)
            printf("%s: %s: %" PRId64 ", such as %s\n", result.check->name, result.check->fault, result.faults,
                   result.example);
        else
            printf("%s: good\n", result.check->name);
        fflush(stdout);
        *ret_faulty += result.faults > 0;
    }
    return ERR_NONE;
}

static enum err check(const struct config *config, int *ret_faulty, char **ret_why)
{
    struct store *store;
    enum err e = store_look(config, &store, ret_why);
    if (e)
        return e;
    e = check_all(store, ret_faulty, ret_why);
    if (!e && datadir_check_master_key(config, store, ret_why)) {
        printf("master key: %s\n", *ret_why);
        free(*ret_why);
        *ret_why = NULL;
        ++*ret_faulty;
    } else if (!e) {
        printf("master key: good\n");
    }
    store_close(store);
    return e;
}

static int check_store_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct check_options *o = given;
    struct config *config = NULL;
    char *why = NULL;
    int faulty = 0;
    const struct config_override data = {"--data", "top", "data_dir", o->data};
    enum err e = config_load_with(o->config, &data, 1, &config, &why);
    if (!e)
        e = check(config, &faulty, &why);
    if (e && !config)
        complain_lines(why);
    else if (e)
        complain("%s", why);
    else if (faulty)
        complain("%d checks found faults", faulty);
    free(why);
    config_free(config);
    return e == ERR_USAGE ? EXIT_USAGE : e || faulty ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_check_store = {
    .name = "check-store",
    .summary = "Read the whole store and tell what is wrong with it, while the service runs or not",
    COMMAND_OPTIONS(struct check_options, rows),
    .run = check_store_run,
};
