/* porterod backup: copies the SQLite store, while the service runs or not. */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/configured.h"
#include "cli/program.h"
#include "store/backup.h"

#define KEEP_MOST 100000
#define MEGABYTE  1000000.0
#define KEY_SHOWN 8 /* characters of a check value: enough to tell two keys apart */

struct backup_options {
    const char *config, *data, *directory;
    int64_t keep;
    bool json;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct backup_options, config, "config", "FILE", "configuration file [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct backup_options, data, "data", "DIR", "data directory [from the configuration]"),
    OPTION_TEXT(struct backup_options, directory, "directory", "DIR",
                "write to a new file in DIR, named portero-TIME.db, in place of FILE"),
    OPTION_NUMBER(struct backup_options, keep, "keep", "N", 1, KEEP_MOST,
                  "with --directory: afterwards delete all but the N newest copies [keep all]"),
    OPTION_SWITCH(struct backup_options, json, "json", "print JSON"),
};

/* ---- a directory of copies ---- */

#define COPY_PATTERN "portero-" BACKUP_TIME ".db"

static enum err delete_old(const struct backup_options *o, char **ret_why)
{
    GPtrArray *found = backup_list(o->directory, COPY_PATTERN);
    enum err e = ERR_NONE;
    for (guint i = 0; !e && i + (guint)o->keep < found->len; i++)
        if (unlink(found->pdata[i]) < 0)
            e = err_why(ret_why, ERR_IO, "%s: %s", (char *)found->pdata[i], strerrordesc_np(errno));
    g_ptr_array_free(found, TRUE);
    return e;
}

/* ---- the command ---- */

static void print(const struct backup_options *o, const char *path, const struct backup *made, int64_t took_us)
{
    const double seconds = (double)took_us / US_PER_S;
    if (o->json)
        printf("{\"bytes\":%" PRId64 ",\"seconds\":%.3f,\"schema\":%d,\"master_key\":\"%s\"}\n", made->bytes, seconds,
               made->schema, made->check);
    else
        printf("%s: %.1f MB in %.1f s, schema version %d, master key %.*s\n", path, (double)made->bytes / MEGABYTE,
               seconds, made->schema, KEY_SHOWN, *made->check ? made->check : "none");
}

/* A full disk of the store is no reason to throw a good copy away, nor to keep old ones. */
static void note_last(const struct config *config, const char *path, int64_t at_us)
{
    char *why = NULL;
    if (backup_note_last(config, path, at_us, &why))
        complain("the copy is good, but `porterod admin status` will not tell of it: %s", why);
    free(why);
}

static enum err backup(const struct config *config, const struct backup_options *o, const char *file, char **ret_why)
{
    const int64_t at_us = clock_real_us(), began_us = clock_monotonic_us();
    char *path = o->directory ? backup_path(o->directory, "portero", at_us, ".db") : mem_strdup(file);
    struct backup made = {0};
    if (o->directory)
        backup_discard_partials(o->directory, COPY_PATTERN BACKUP_PARTIAL);
    enum err e = backup_make(config, path, &made, ret_why);
    if (!e)
        print(o, path, &made, clock_monotonic_us() - began_us);
    if (!e)
        note_last(config, path, at_us);
    if (!e && o->keep)
        e = delete_old(o, ret_why);
    free(path);
    return e;
}

static const char *refuse_usage(const struct backup_options *o, struct arguments operands)
{
    if (!o->directory == !operands.count)
        return "name FILE or --directory, one of them; see `porterod backup --help`";
    return o->keep && !o->directory ? "--keep needs --directory" : NULL;
}

static enum err refuse_engine(const struct config *config, char **ret_why)
{
    return config->engine == ENGINE_SQLITE
               ? ERR_NONE
               : err_why(ret_why, ERR_USAGE,
                         "backup: the store is a PostgreSQL database: back it up with pg_basebackup or pg_dump "
                         "(docs/operations.md, Backup), and keep the master key");
}

struct backup_call {
    const struct backup_options *options;
    const char *file; /* NULL with --directory */
};

static enum err write_backup_configured(const struct config *config, const void *context, char **ret_why)
{
    const struct backup_call *call = context;
    enum err e = refuse_engine(config, ret_why);
    return e ? e : backup(config, call->options, call->file, ret_why);
}

static int backup_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self;
    const struct backup_options *o = given;
    const char *usage = refuse_usage(o, operands);
    if (usage) {
        complain("backup: %s", usage);
        return EXIT_USAGE;
    }
    umask(077);
    const struct backup_call call = {o, operands.count ? operands.words[0] : NULL};
    return configured_run(o->config, o->data, write_backup_configured, &call);
}

static void backup_help(const struct command *self, FILE *out)
{
    (void)self;
    fputs("\nThe copy is one file. It lacks the master key, without which it cannot be used: keep a copy of that in "
          "another\nplace. `porterod restore` puts a copy in place.\n",
          out);
}

const struct command command_backup = {
    .name = "backup",
    .summary = "Copy the SQLite store to FILE, while the service runs or not",
    .operands = "[FILE]",
    .operands_most = 1,
    .more = backup_help,
    COMMAND_OPTIONS(struct backup_options, rows),
    .run = backup_run,
};
