/* portero migrate: updates the schema of the store. With SQLite no service may be using it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/config.h"
#include "cli/command.h"
#include "cli/datadir.h"
#include "store/store.h"

struct migrate_options {
    const char *config, *data;
    bool json;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct migrate_options, config, "config", "FILE", "configuration file [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct migrate_options, data, "data", "DIR", "data directory [from the configuration]"),
    OPTION_SWITCH(struct migrate_options, json, "json", "print JSON"),
};

static enum err migrate(const struct config *config, const struct migrate_options *o, char **ret_why)
{
    struct store *store;
    int have = 0, want = 0;
    enum err e = datadir_prepare(config, ret_why);
    if (!e)
        e = store_open(config, STORE_MIGRATE, &store, ret_why);
    if (e)
        return e;
    e = store_start(store);
    if (!e)
        e = store_versions(store, &have, &want);
    store_close(store);
    if (!e && o->json)
        printf("{\"version\":%d,\"wanted\":%d}\n", have, want);
    else if (!e && have > want)
        printf("schema version %d, newer than this program's %d, which may use it\n", have, want);
    else if (!e)
        printf("schema version %d of %d\n", have, want);
    return e;
}

static int migrate_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct migrate_options *o = given;
    struct config *config = NULL;
    char *why = NULL;
    umask(077);
    const struct config_override data = {"--data", "top", "data_dir", o->data};
    enum err e = config_load_with(o->config, &data, 1, &config, &why);
    if (!e)
        e = migrate(config, o, &why);
    if (e && !config)
        complain_lines(why);
    else if (e)
        complain("%s", why ? why : "the schema version cannot be read");
    free(why);
    config_free(config);
    return e == ERR_NONE ? EXIT_DONE : e == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

const struct command command_migrate = {
    .name = "migrate",
    .summary = "Update the schema of the store",
    COMMAND_OPTIONS(struct migrate_options, rows),
    .run = migrate_run,
};
