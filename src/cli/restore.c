/* porterod restore: puts a copy made by porterod backup in place of the store. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "cli/configured.h"
#include "cli/datadir.h"
#include "cli/program.h"
#include "store/restore.h"
#include "store/store.h"

struct restore_options {
    const char *config, *data, *at;
    bool force;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct restore_options, config, "config", "FILE", "configuration file [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct restore_options, data, "data", "DIR", "data directory [from the configuration]"),
    OPTION_TEXT(struct restore_options, at, "at", "TIME",
                "of a directory: the store as it was then, like 2026-11-22T14:03:00Z [as it was last]"),
    OPTION_SWITCH(struct restore_options, force, "force",
                  "replace the store that is there; it is kept as portero.db.before-TIME"),
};

/* A reader that has seen events which the copy lacks must not take others for them. */
static enum err leap_run(void *unused, struct db *db)
{
    (void)unused;
    return db_exec(db, SQL(feed_leap), NULL);
}

/* Opens the staged store as the service would: its schema must be usable, and its master key the configured one. */
static enum err check_staged(const struct config *config, const struct restore *r, char **ret_why)
{
    struct config staged = *config;
    struct store *store;
    bool rekey;
    staged.top_data_dir = (char *)restore_staged(r);
    enum err e = store_open(&staged, STORE_MIGRATE, &store, ret_why);
    if (e)
        return e;
    e = store_start(store);
    e = e ? err_why(ret_why, ERR_IO, "the store cannot be started")
          : datadir_fit_master_key(config, store, &rekey, ret_why);
    if (!e && store_run(store, STORE_WRITE, leap_run, NULL))
        e = err_why(ret_why, ERR_IO, "the copy cannot be written");
    store_close(store);
    return e;
}

static void print_restored(const struct config *config, const struct restore *r, const char *file)
{
    char at[TIME_TEXT_MAX];
    int64_t at_us;
    printf("%s/portero.db restored from %s", config->top_data_dir, file);
    if (restore_moment(r, &at_us)) {
        time_format(at_us, at);
        printf(" as it was at %s", at);
    } else if (!restore_is_sealed(r)) {
        fputs(", which has no checksum: an earlier version made it", stdout);
    }
    putchar('\n');
}

static enum err restore(const struct config *config, const struct restore_options *o, const char *file, char **ret_why)
{
    struct restore *r = NULL;
    char *aside = NULL;
    int64_t until_us = RESTORE_NEWEST;
    if (o->at && !time_parse(str_z(o->at), &until_us))
        return err_why(ret_why, ERR_USAGE, "restore: --at must be a time with an offset, like 2026-11-22T14:03:00Z");
    if (config->engine != ENGINE_SQLITE)
        return err_why(ret_why, ERR_USAGE,
                       "restore: the store is a PostgreSQL database: restore it with PostgreSQL's tools "
                       "(docs/operations.md, Backup)");
    enum err e = datadir_prepare(config, ret_why);
    if (!e)
        e = restore_begin(config, file, until_us, o->force, &r, ret_why);
    if (!e)
        e = check_staged(config, r, ret_why);
    if (!e)
        e = restore_commit(r, &aside, ret_why);
    if (!e)
        print_restored(config, r, file);
    restore_free(r);
    if (aside)
        printf("the store that was there before is %s\n", aside);
    free(aside);
    return e;
}

struct restore_call {
    const struct restore_options *options;
    const char *file;
};

static enum err restore_configured(const struct config *config, const void *context, char **ret_why)
{
    const struct restore_call *call = context;
    return restore(config, call->options, call->file, ret_why);
}

static int restore_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self;
    const struct restore_options *o = given;
    const struct restore_call call = {o, operands.words[0]};
    umask(077);
    return configured_run(o->config, o->data, restore_configured, &call);
}

static void restore_help(const struct command *self, FILE *out)
{
    (void)self;
    fputs("\nA directory is one that followed the store (backup.directory): it has each minute of the last day.\n"
          "\nThe service must be stopped, and the master key must be the one that the copy was made with.\n",
          out);
}

const struct command command_restore = {
    .name = "restore",
    .summary = "Put a copy made by `porterod backup` in place of the store",
    .operands = "FILE|DIR",
    .operands_least = 1,
    .operands_most = 1,
    .more = restore_help,
    COMMAND_OPTIONS(struct restore_options, rows),
    .run = restore_run,
};
