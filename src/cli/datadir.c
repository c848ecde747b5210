#include "cli/datadir.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <openssl/crypto.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "cli/control.h"
#include "domain/master.h"
#include "domain/work.h"

#define KEY_HEX_LEN (2 * SHA256_LEN)

static bool is_ours(const char *name)
{
    static const char *const names[] = {"portero.db", "portero.lock", CONTROL_SOCKET, "master.key", "tls.key"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* Whether the directory is empty or was used as a data directory before. */
static bool may_restrict(const char *dir)
{
    GDir *d = g_dir_open(dir, 0, NULL);
    bool empty = true, ours = false;
    const char *name;
    if (!d)
        return false;
    while ((name = g_dir_read_name(d)) != NULL) {
        empty = false;
        ours = ours || is_ours(name);
    }
    g_dir_close(d);
    return empty || ours;
}

/* Only what lies in the path and its modes is the configuration's: a disk may be writable or there again. */
static enum err refuse_directory(const char *dir, int error, char **ret_why)
{
    const bool configured =
        error == EACCES || error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG;
    return err_why(ret_why, configured ? ERR_USAGE : ERR_IO, "data_dir %s: %s", dir, strerror(error));
}

/* Checks an existing directory. */
static enum err check_directory(const char *dir, const struct stat *found, char **ret_why)
{
    if (!S_ISDIR(found->st_mode))
        return err_why(ret_why, ERR_USAGE, "data_dir %s: not a directory", dir);
    if (found->st_mode & (S_ISVTX | S_IWOTH))
        return err_why(ret_why, ERR_USAGE, "data_dir %s: shared with all users, like /tmp; use a separate directory",
                       dir);
    if (found->st_mode & 077 && !may_restrict(dir))
        return err_why(
            ret_why, ERR_USAGE,
            "data_dir %s: accessible to other users and not yet used as a data directory; use a separate directory",
            dir);
    return access(dir, R_OK | W_OK | X_OK) < 0 ? refuse_directory(dir, errno, ret_why) : ERR_NONE;
}

enum err datadir_check(const struct config *c, char **ret_why)
{
    const char *dir = c->top_data_dir;
    struct stat found;
    if (stat(dir, &found) == 0)
        return check_directory(dir, &found, ret_why);
    if (errno != ENOENT)
        return refuse_directory(dir, errno, ret_why);
    char *above = g_path_get_dirname(dir);
    int error = access(above, W_OK | X_OK) == 0 ? 0 : errno;
    g_free(above);
    return error ? refuse_directory(dir, error, ret_why) : ERR_NONE;
}

enum err datadir_prepare(const struct config *c, char **ret_why)
{
    const char *dir = c->top_data_dir;
    struct stat found;
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return err_why(ret_why, ERR_USAGE, "data_dir %s: %s", dir, strerror(errno));
    if (stat(dir, &found) < 0)
        return err_why(ret_why, ERR_USAGE, "data_dir %s: %s", dir, strerror(errno));
    enum err e = check_directory(dir, &found, ret_why);
    if (!e && found.st_mode & 077 && chmod(dir, 0700) < 0)
        e = err_why(ret_why, ERR_USAGE, "data_dir %s: accessible to other users, and its mode cannot be changed: %s",
                    dir, strerror(errno));
    return e;
}

enum err datadir_check_owner(const struct config *c, char **ret_why)
{
    const char *dir = c->top_data_dir;
    struct stat found;
    if (stat(dir, &found) < 0 || found.st_uid == geteuid())
        return ERR_NONE;
    char names[1024];
    struct passwd entry, *owner = NULL;
    (void)getpwuid_r(found.st_uid, &entry, names, sizeof names, &owner);
    return err_why(ret_why, ERR_USAGE, "data_dir %s: belongs to user %s; run the service as that user", dir,
                   owner ? owner->pw_name : "of another name");
}

static bool write_private(const char *path, const char *text, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write(fd, text, n) == (ssize_t)n && fsync(fd) == 0;
    if (fd >= 0 && close(fd) < 0)
        written = false;
    return written;
}

static bool sync_directory(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return synced;
}

/* Creates a random key in hex, durable before it is used: secrets sealed with a lost key cannot be opened. If two
 * services start at the same time, the first to link the file wins. */
static enum err make_key_file(const char *dir, const char *path, char **ret_why)
{
    unsigned char key[SHA256_LEN];
    char text[KEY_HEX_LEN + 2], temporary[4096];
    crypto_random(key, sizeof key);
    hex_encode(key, sizeof key, text);
    crypto_wipe(key, sizeof key);
    text[KEY_HEX_LEN] = '\n';
    snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid());
    bool made = write_private(temporary, text, KEY_HEX_LEN + 1) && (link(temporary, path) == 0 || errno == EEXIST) &&
                sync_directory(dir);
    crypto_wipe(text, sizeof text);
    enum err e = made ? ERR_NONE
                      : err_why(ret_why, ERR_USAGE, "%s: the master key cannot be written: %s", path, strerror(errno));
    (void)unlink(temporary);
    return e;
}

/* The configured key, or `file:` with the path of the sandbox's key file, which is created unless `needed`. */
static enum err key_source(const struct config *c, bool needed, struct arena *a, const char **ret, char **ret_why)
{
    if (*c->secrets_master_key) {
        *ret = c->secrets_master_key;
        return ERR_NONE;
    }
    if (c->production)
        return err_why(ret_why, ERR_USAGE, "secrets.master_key is required in production");
    struct str source = arena_printf(a, "file:%s/master.key", c->top_data_dir);
    const char *path = source.p + strlen("file:");
    if (access(path, F_OK) < 0) {
        if (needed)
            return err_why(ret_why, ERR_USAGE,
                           "%s: not found, and the store has secrets sealed with this key: restore the file, or set "
                           "secrets.master_key to its key",
                           path);
        enum err e = make_key_file(c->top_data_dir, path, ret_why);
        if (e)
            return e;
    }
    *ret = source.p;
    return ERR_NONE;
}

static enum err parse_key(const char *name, struct str text, unsigned char ret[static SHA256_LEN], char **ret_why)
{
    char hex[KEY_HEX_LEN + 1] = "";
    size_t n = 0;
    if (text.n == KEY_HEX_LEN)
        memcpy(hex, text.p, KEY_HEX_LEN);
    bool read = OPENSSL_hexstr2buf_ex(ret, SHA256_LEN, &n, hex, '\0') == 1 && n == SHA256_LEN;
    crypto_wipe(hex, sizeof hex);
    return read ? ERR_NONE : err_why(ret_why, ERR_USAGE, "%s must be 64 hexadecimal characters", name);
}

static enum err read_master_key(const char *name, const char *source, struct arena *a,
                                unsigned char ret[static SHA256_LEN], char **ret_why)
{
    struct str text = STR_NONE;
    enum err e = config_secret_of(name, source, a, &text, ret_why);
    if (!e) {
        e = parse_key(name, text, ret, ret_why);
        crypto_wipe((char *)text.p, text.n);
    }
    return e;
}

enum err datadir_master_key(const struct config *c, bool needed, char **ret_why)
{
    unsigned char current[SHA256_LEN], previous[SHA256_LEN];
    const bool two = *c->secrets_previous_master_key;
    const char *source = NULL;
    struct arena arena;
    arena_init(&arena, NULL, 0);
    enum err e = key_source(c, needed, &arena, &source, ret_why);
    if (!e)
        e = read_master_key("secrets.master_key", source, &arena, current, ret_why);
    if (!e && two)
        e = read_master_key("secrets.previous_master_key", c->secrets_previous_master_key, &arena, previous, ret_why);
    if (!e)
        crypto_set_master(current, two ? previous : NULL);
    crypto_wipe(current, sizeof current);
    crypto_wipe(previous, sizeof previous);
    arena_done(&arena);
    return e;
}

static enum err ask_needed(struct tx *tx, void *arg)
{
    return master_is_needed(tx, arg);
}

static enum err claim(struct tx *tx, void *arg)
{
    return master_claim(tx, arg);
}

enum err datadir_fit_master_key(const struct config *c, struct store *store, bool *ret_rekey, char **ret_why)
{
    struct arena arena;
    struct work work = {.store = store, .config = c, .arena = &arena};
    bool needed = false;
    arena_init(&arena, NULL, 0);
    enum err e = work_read(&work, ask_needed, &needed);
    if (e)
        e = err_why(ret_why, ERR_USAGE, "the store cannot be read");
    if (!e)
        e = datadir_master_key(c, needed, ret_why);
    if (!e && work_write(&work, claim, ret_rekey))
        e = err_why(ret_why, ERR_USAGE, "%.*s", STR_ARG(work.why.p ? work.why : STR("the store cannot be written")));
    arena_done(&arena);
    return e;
}

struct verification {
    struct work work;
    enum err (*ask)(struct tx *tx, bool *ret);
    bool answer;
};

static enum err verify(void *arg, struct db *db)
{
    struct verification *v = arg;
    struct tx tx = work_tx(&v->work, db);
    return v->ask(&tx, &v->answer);
}

enum err datadir_check_master_key(const struct config *c, struct store *store, char **ret_why)
{
    struct arena arena;
    struct verification v = {.work = {.store = store, .config = c, .arena = &arena}, .ask = master_is_needed};
    arena_init(&arena, NULL, 0);
    enum err e = store_look_run(store, verify, &v);
    const bool needed = !e && v.answer;
    if (needed)
        e = datadir_master_key(c, true, ret_why);
    else if (e)
        e = err_why(ret_why, ERR_IO, "the store cannot be read");
    v.ask = master_fits;
    if (!e && needed && (store_look_run(store, verify, &v) || !v.answer))
        e = err_why(ret_why, ERR_USAGE, "the store's secrets are sealed with another master key");
    arena_done(&arena);
    return e;
}

enum err datadir_master_key_check(const struct config *c, char **ret_why)
{
    struct arena arena;
    unsigned char key[SHA256_LEN];
    arena_init(&arena, NULL, 0);
    struct str own = arena_printf(&arena, "file:%s/master.key", c->top_data_dir);
    const bool given = *c->secrets_master_key;
    enum err e = ERR_NONE;
    if (given || (!c->production && access(own.p + strlen("file:"), F_OK) == 0))
        e = read_master_key("secrets.master_key", given ? c->secrets_master_key : own.p, &arena, key, ret_why);
    if (!e && *c->secrets_previous_master_key)
        e = read_master_key("secrets.previous_master_key", c->secrets_previous_master_key, &arena, key, ret_why);
    crypto_wipe(key, sizeof key);
    arena_done(&arena);
    return e;
}
