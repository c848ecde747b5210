#include "cli/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/datadir.h"
#include "domain/account.h"
#include "domain/erasure.h"
#include "domain/personal.h"
#include "domain/work.h"

#define PAGE_MAX (64U << 20)

struct export
{
    const struct config *config;
    struct store *store;
    FILE *out;
    const char *name;
    struct id account;
    struct account person;
    struct arena arena;    /* of the whole export */
    struct arena pages[2]; /* of this page and of the one before, whose last keys it begins with */
    int turn;
    struct buf text;
    /* of the transaction that is running */
    const struct personal_table *table;
    struct personal_place *place;
    struct id *owners;
    size_t owner_count;
    bool empty;
    char **ret_why;
};

static struct tx tx_of(const struct export *x, struct db *db, struct arena *a)
{
    return (struct tx){.arena = a, .db = db, .config = x->config, .now_us = clock_now_us()};
}

static enum err find_run(void *arg, struct db *db)
{
    struct export *x = arg;
    struct tx tx = tx_of(x, db, &x->arena);
    enum err e = erasure_find(&tx, str_z(x->name), &x->account);
    return e ? e : account_get(&tx, &x->account, &x->person);
}

static enum err owners_run(void *arg, struct db *db)
{
    struct export *x = arg;
    struct tx tx = tx_of(x, db, &x->arena);
    return personal_owners(&tx, &x->account, x->table->owner, &x->owners, &x->owner_count);
}

/* May run twice: it begins with what the last page left. */
static enum err page_run(void *arg, struct db *db)
{
    struct export *x = arg;
    struct personal_place place = *x->place;
    bool empty = x->empty;
    struct tx tx = tx_of(x, db, &x->pages[x->turn]);
    x->text.n = 0;
    enum err e = personal_page(&tx, &place, &x->text, &empty);
    if (e)
        return e;
    *x->place = place;
    x->empty = empty;
    return ERR_NONE;
}

static enum err put(struct export *x, const char *p, size_t n)
{
    return fwrite(p, 1, n, x->out) == n ? ERR_NONE : err_why(x->ret_why, ERR_IO, "writing: %s", strerrordesc_np(errno));
}

static enum err put_rows(struct export *x, struct str owner)
{
    struct personal_place place = {.table = x->table, .owner = owner, .more = true};
    enum err e = ERR_NONE;
    x->place = &place;
    while (!e && place.more) {
        x->turn = !x->turn;
        arena_done(&x->pages[x->turn]);
        arena_init(&x->pages[x->turn], NULL, 0);
        if (store_look_run(x->store, page_run, x))
            e = err_why(x->ret_why, ERR_IO, "table %s cannot be read (see the log)", x->table->name);
        else
            e = put(x, x->text.p ? x->text.p : "", x->text.n);
    }
    x->place = NULL;
    return e;
}

static enum err put_table(struct export *x, bool first)
{
    const enum personal_owner owner = x->table->owner;
    enum err e = ERR_NONE;
    fprintf(x->out, "%s\n\"%s\": [", first ? "" : ",", x->table->name);
    x->empty = true;
    if (owner == PERSONAL_ACCOUNT || owner == PERSONAL_EMAIL)
        e = put_rows(x, owner == PERSONAL_EMAIL ? x->person.email : id_str(&x->account));
    else if (store_look_run(x->store, owners_run, x))
        e = err_why(x->ret_why, ERR_IO, "table %s cannot be read (see the log)", x->table->name);
    else
        for (size_t i = 0; !e && i < x->owner_count; i++)
            e = put_rows(x, id_str(&x->owners[i]));
    return e ? e : put(x, "]", 1);
}

static enum err put_document(struct export *x)
{
    bool first = true;
    enum err e = put(x, "{", 1);
    for (size_t i = 0; !e && i < personal_table_count; i++) {
        x->table = &personal_tables[i];
        if (x->table->owner == PERSONAL_NOTHING)
            continue;
        e = put_table(x, first);
        first = false;
    }
    if (e)
        return e;
    fprintf(x->out, ",\n\"not_included\": {");
    first = true;
    for (size_t i = 0; i < personal_table_count; i++)
        if (personal_tables[i].owner == PERSONAL_NOTHING) {
            fprintf(x->out, "%s\n\"%s\": \"%s\"", first ? "" : ",", personal_tables[i].name, personal_tables[i].why);
            first = false;
        }
    e = put(x, "}}\n", 3);
    return e || !fflush(x->out) ? e : err_why(x->ret_why, ERR_IO, "writing: %s", strerrordesc_np(errno));
}

/* Writes beside the file, and gives it its name when it is whole and durable. */
static enum err put_file(struct export *x, const char *path)
{
    char *partial = mem_printf("%s.partial", path);
    const int fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    enum err e = ERR_NONE;
    if (fd < 0 || fchmod(fd, 0600) || !(x->out = fdopen(fd, "w"))) {
        e = err_why(x->ret_why, ERR_IO, "%s: %s", partial, strerrordesc_np(errno));
        if (fd >= 0)
            close(fd);
        free(partial);
        return e;
    }
    e = put_document(x);
    if (!e && fsync(fd))
        e = err_why(x->ret_why, ERR_IO, "%s: %s", partial, strerrordesc_np(errno));
    if (fclose(x->out) && !e)
        e = err_why(x->ret_why, ERR_IO, "%s: %s", partial, strerrordesc_np(errno));
    if (!e && (rename(partial, path) || !file_sync_directory_of(path)))
        e = err_why(x->ret_why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    if (e)
        (void)unlink(partial);
    free(partial);
    return e;
}

static enum err write_export(struct export *x, const char *path)
{
    enum err e = store_look_run(x->store, find_run, x);
    if (e)
        return err_why(x->ret_why, e,
                       e == ERR_ACCOUNT_NOT_FOUND ? "no such account" : "the store cannot be read (see the log)");
    x->out = stdout;
    return path ? put_file(x, path) : put_document(x);
}

enum err export_account(const struct config *config, const char *account, const char *path, char **ret_why)
{
    struct export x = {.config = config, .name = account, .text = BUF(PAGE_MAX), .ret_why = ret_why};
    if (path && access(path, F_OK) == 0)
        return err_why(ret_why, ERR_USAGE, "%s: File exists", path);
    enum err e = store_look(config, &x.store, ret_why);
    if (e)
        return e;
    arena_init(&x.arena, NULL, 0);
    arena_init(&x.pages[0], NULL, 0);
    arena_init(&x.pages[1], NULL, 0);
    e = datadir_check_master_key(config, x.store, ret_why);
    if (!e)
        e = write_export(&x, path);
    arena_done(&x.pages[0]);
    arena_done(&x.pages[1]);
    arena_done(&x.arena);
    buf_done(&x.text);
    store_close(x.store);
    return e;
}
