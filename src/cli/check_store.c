/* porterod check-store: reads the whole store and tells what is wrong with it, while the service runs or not; or a
 * copy.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/terminal.h"
#include "cli/configured.h"
#include "cli/datadir.h"
#include "cli/program.h"
#include "domain/check.h"
#include "store/restore.h"
#include "store/schema_check.h"
#include "store/store.h"

struct check_options {
    const char *config, *data;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct check_options, config, "config", "FILE", "configuration file [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct check_options, data, "data", "DIR", "data directory [from the configuration]"),
};

/* Prints a line for the schema of a file. Returns the number of faults. */
static int check_file_schema(const struct config *config)
{
    char *why = NULL;
    if (config->engine != ENGINE_SQLITE)
        return 0;
    char *path = mem_printf("%s/portero.db", config->top_data_dir);
    const enum err e = schema_check(path, &why);
    free(path);
    if (e == ERR_USAGE)
        terminal_print(stdout, "schema: not compared: %s", why);
    else
        terminal_print(stdout, "schema: %s", e ? why : "good");
    putchar('\n');
    free(why);
    return e && e != ERR_USAGE;
}

/* Prints a line for each check. Adds to *ret_faulty the checks that found something. */
static enum err check_all(struct store *store, int *ret_faulty, char **ret_why)
{
    for (size_t i = 0; i < check_count; i++) {
        struct check_result result = {.check = &checks_of_store[i]};
        if (store_look_run(store, check_run, &result))
            return err_why(ret_why, ERR_IO, "%s: the store cannot be read (see the log)", result.check->name);
        if (result.faults)
            terminal_print(stdout, "%s: %s: %" PRId64 ", such as %s", result.check->name, result.check->fault,
                           result.faults, result.example);
        else
            printf("%s: good", result.check->name);
        putchar('\n');
        fflush(stdout);
        *ret_faulty += result.faults > 0;
    }
    return ERR_NONE;
}

static enum err check(const struct config *config, const void *context, char **ret_why)
{
    struct store *store;
    (void)context;
    enum err e = store_look(config, &store, ret_why);
    if (e)
        return e;
    int faulty = check_file_schema(config);
    e = check_all(store, &faulty, ret_why);
    if (!e && datadir_check_master_key(config, store, ret_why)) {
        printf("master key: %s\n", *ret_why);
        free(*ret_why);
        *ret_why = NULL;
        faulty++;
    } else if (!e) {
        printf("master key: good\n");
    }
    store_close(store);
    return e || !faulty ? e : err_why(ret_why, ERR_IO, "%d checks found faults", faulty);
}

static int check_copy(const char *file)
{
    char *why = NULL;
    bool sealed;
    if (restore_check(file, &sealed, &why)) {
        complain("%s", why);
        free(why);
        return EXIT_FAILURE;
    }
    printf("checksum: %s\nschema: good\nintegrity: good\n", sealed ? "good" : "none, an earlier version made the copy");
    return EXIT_SUCCESS;
}

static int check_store_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self;
    const struct check_options *o = given;
    return operands.count ? check_copy(operands.words[0]) : configured_run(o->config, o->data, check, NULL);
}

const struct command command_check_store = {
    .name = "check-store",
    .summary = "Read the whole store, or a copy in FILE, and tell what is wrong with it",
    .operands = "[FILE]",
    .operands_most = 1,
    COMMAND_OPTIONS(struct check_options, rows),
    .run = check_store_run,
};
