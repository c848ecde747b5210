#include "cli/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/terminal.h"
#include "billing/erasure.h"
#include "cli/control.h"
#include "cli/datadir.h"
#include "domain/account.h"
#include "domain/work.h"
#include "privacy/personal_document.h"

#define PART_MAX (64U << 20)

struct export
{
    struct store *store;
    const struct config *config;
    FILE *out;
    const char *name;
    struct account person;
    struct arena arena;    /* of the whole export */
    struct arena parts[2]; /* of this part and of the one before, whose end it begins with */
    int turn;
    struct personal_mark mark;
    struct buf text;
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
    struct id account;
    enum err e = erasure_find(&tx, str_z(x->name), &account);
    return e ? e : account_get(&tx, &account, &x->person);
}

/* May run twice: it begins where the last part ended. */
static enum err part_run(void *arg, struct db *db)
{
    struct export *x = arg;
    struct personal_mark mark = x->mark;
    struct tx tx = tx_of(x, db, &x->parts[x->turn]);
    x->text.n = 0;
    enum err e = personal_part(&tx, &x->person.id, x->person.email, &mark, &x->text);
    if (!e)
        x->mark = mark;
    return e;
}

static enum err put_document(struct export *x)
{
    while (!personal_ended(&x->mark)) {
        x->turn = !x->turn;
        arena_done(&x->parts[x->turn]);
        arena_init(&x->parts[x->turn], NULL, 0);
        if (store_look_run(x->store, part_run, x))
            return err_why(x->ret_why, ERR_IO, "table %s cannot be read (see the log)",
                           personal_tables[x->mark.table].name);
        terminal_print_json(buf_view(&x->text), x->out);
        if (ferror(x->out))
            return err_why(x->ret_why, ERR_IO, "writing: %s", strerrordesc_np(errno));
    }
    return fflush(x->out) ? err_why(x->ret_why, ERR_IO, "writing: %s", strerrordesc_np(errno)) : ERR_NONE;
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

/* A line of the service's log says whose data was read; of this program's, if the service does not run. */
static void note_export(const struct export *x)
{
    struct buf answer = BUF(4096);
    char *socket = mem_printf("%s/%s", x->config->top_data_dir, CONTROL_SOCKET);
    char *body = mem_printf("{\"account_id\":\"%s\"}", x->person.id.text), *why = NULL;
    const struct control_request q = {
        .socket = socket, .method = "POST", .path = "/admin/accounts/exported", .body = body};
    int status = 0;
    if (control_send(&q, &status, &answer, &why) || status != 200)
        log_info("operator operation=adminNoteExport account=%s result=done", x->person.id.text);
    free(why);
    free(body);
    free(socket);
    buf_done(&answer);
}

static enum err write_export(struct export *x, const char *path)
{
    enum err e = store_look_run(x->store, find_run, x);
    if (e == ERR_ACCOUNT_NOT_FOUND)
        return err_why(x->ret_why, e, "%s (%s)", err_info(e)->message, err_info(e)->code);
    if (e)
        return err_why(x->ret_why, e, "the store cannot be read (see the log)");
    note_export(x);
    x->out = stdout;
    return path ? put_file(x, path) : put_document(x);
}

enum err export_account(const struct config *config, const void *context, char **ret_why)
{
    const struct export_command *command = context;
    const char *path = command->path;
    struct export x = {.config = config, .name = command->account, .text = BUF(PART_MAX), .ret_why = ret_why};
    if (path && access(path, F_OK) == 0)
        return err_why(ret_why, ERR_USAGE, "%s: File exists", path);
    enum err e = store_look(config, &x.store, ret_why);
    if (e)
        return e;
    arena_init(&x.arena, NULL, 0);
    arena_init(&x.parts[0], NULL, 0);
    arena_init(&x.parts[1], NULL, 0);
    e = datadir_check_master_key(config, x.store, ret_why);
    if (!e)
        e = write_export(&x, path);
    arena_done(&x.parts[0]);
    arena_done(&x.parts[1]);
    arena_done(&x.arena);
    buf_done(&x.text);
    store_close(x.store);
    return e;
}
