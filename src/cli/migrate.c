/* porterod migrate: updates the schema of the store. With SQLite no service may be using it. With --from and --to:
 * moves a SQLite store into a PostgreSQL database. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/configured.h"
#include "cli/datadir.h"
#include "cli/program.h"
#include "store/move.h"
#include "store/store.h"

struct migrate_options {
    const char *config, *data, *from, *to;
    bool json;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct migrate_options, config, "config", "FILE", "configuration file [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct migrate_options, data, "data", "DIR", "data directory [from the configuration]"),
    OPTION_TEXT(struct migrate_options, from, "from", "sqlite:FILE",
                "move this database, which no service uses, to --to"),
    OPTION_TEXT(struct migrate_options, to, "to", "postgresql:DSN",
                "an empty PostgreSQL database; DSN may be file:PATH or env:NAME"),
    OPTION_SWITCH(struct migrate_options, json, "json", "print JSON"),
};

static enum err copy_to_target(const struct config *config, const struct migrate_options *o, char **ret_why)
{
    struct store *store;
    int have = 0, want = 0;
    enum err e = datadir_prepare(config, ret_why);
    if (!e)
        e = store_open(config, STORE_MIGRATE_KEPT, &store, ret_why);
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

/* ---- from SQLite to PostgreSQL ---- */

#define FROM "sqlite:"
#define TO   "postgresql:"

static void print_moved(void *context, const struct move_table *t)
{
    int64_t *total = context;
    *total += t->rows;
    printf("%s: %" PRId64 " rows%s\n", t->name, t->rows, t->before ? ", moved before" : "");
    fflush(stdout);
}

/* Brings the schema of the target up to date; it must then equal the source's. */
static enum err prepare_target(const struct config *config, const char *dsn, char **ret_why)
{
    struct config target = *config;
    struct store *store;
    target.engine = ENGINE_POSTGRESQL;
    target.store_dsn = (char *)dsn;
    enum err e = store_open(&target, STORE_MIGRATE, &store, ret_why);
    if (!e)
        store_close(store);
    return e;
}

static enum err move(const struct config *config, const struct migrate_options *o, char **ret_why)
{
    struct arena arena;
    struct str dsn;
    int64_t total = 0;
    if (!o->from || !o->to || strncmp(o->from, FROM, strlen(FROM)) != 0 || strncmp(o->to, TO, strlen(TO)) != 0)
        return err_why(ret_why, ERR_USAGE, "migrate: name --from " FROM "FILE and --to " TO "DSN");
    arena_init(&arena, NULL, 0);
    enum err e = prepare_target(config, o->to + strlen(TO), ret_why);
    if (!e)
        e = config_secret_of("--to", o->to + strlen(TO), &arena, &dsn, ret_why);
    if (!e)
        e = move_store(o->from + strlen(FROM), dsn.p, print_moved, &total, ret_why);
    if (!e)
        printf("%" PRId64
               " rows moved and compared. Next: set store.engine = postgresql and store.dsn, keep the master "
               "key, start the service\n",
               total);
    arena_done(&arena);
    return e;
}

static enum err move_store_configured(const struct config *config, const void *context, char **ret_why)
{
    const struct migrate_options *o = context;
    enum err e = o->from || o->to ? move(config, o, ret_why) : copy_to_target(config, o, ret_why);
    return e && !*ret_why ? err_why(ret_why, e, "the schema version cannot be read") : e;
}

static int migrate_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct migrate_options *o = given;
    umask(077);
    return configured_run(o->config, o->data, move_store_configured, o);
}

const struct command command_migrate = {
    .name = "migrate",
    .summary = "Update the schema of the store",
    COMMAND_OPTIONS(struct migrate_options, rows),
    .run = migrate_run,
};
