/* Writes what `porterod setup` was told: keys, secrets, the data directory and the configuration. Each file is written
 * next to its place, and all that was put in place is taken back if a later one fails. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "cli/checks.h"
#include "cli/setup.h"
#include "cli/setup_check.h"
#include "client/complain.h"
#include "http/tls_self_signed.h"

/* ---- files ---- */

static const char *with_end(struct setup *s, const char *path, const char *end)
{
    return arena_printf(&s->arena, "%s%s", path, end).p;
}

static bool failed(const char *path)
{
    complain("%s: %s", path, strerror(errno));
    return false;
}

/* Gives a file of the service's to its user: `group` for the configuration, which the service only reads. */
static bool hand_over(const struct setup *s, int fd, bool group)
{
    struct setup_user u;
    return !s->user || (setup_user(s->user, &u) && fchown(fd, group ? 0 : u.uid, u.gid) == 0);
}

static struct setup_file *note_file(struct setup *s, const char *path, const char *note)
{
    struct setup_file *f = &s->files[s->file_count++];
    *f = (struct setup_file){.path = path, .note = note};
    return f;
}

/* Puts PATH.new in place; the former file becomes PATH.old. */
static bool put_in_place(struct setup *s, const char *path, const char *note)
{
    const char *fresh = with_end(s, path, ".new"), *old = with_end(s, path, ".old");
    const bool replaced = rename(path, old) == 0;
    if ((!replaced && errno != ENOENT) || rename(fresh, path)) {
        (void)failed(path);
        if (replaced && rename(old, path))
            complain("%s: the former file is %s", path, old);
        unlink(fresh);
        return false;
    }
    note_file(s, path, note)->replaced = replaced;
    return true;
}

static bool write_file(struct setup *s, const char *path, struct str text, mode_t mode, const char *note)
{
    const char *fresh = with_end(s, path, ".new");
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    bool written = fd >= 0 && fchmod(fd, mode) == 0 && hand_over(s, fd, mode & 040) &&
                   write(fd, text.p, text.n) == (ssize_t)text.n && fsync(fd) == 0;
    if (fd >= 0 && close(fd))
        written = false;
    if (!written) {
        (void)failed(path);
        unlink(fresh);
        return false;
    }
    return put_in_place(s, path, note);
}

/* Takes back what was put in place, last first. */
static void take_back(struct setup *s)
{
    while (s->file_count) {
        const struct setup_file *f = &s->files[--s->file_count];
        const int e = f->directory  ? rmdir(f->path)
                      : f->replaced ? rename(with_end(s, f->path, ".old"), f->path)
                                    : unlink(f->path);
        if (e)
            (void)failed(f->path);
    }
}

/* Of what is replaced, only the configuration is kept: the others are secrets. */
static void report_files(struct setup *s)
{
    for (size_t i = 0; i < s->file_count; i++) {
        const struct setup_file *f = &s->files[i];
        if (f->replaced && strcmp(f->path, s->path) != 0)
            unlink(with_end(s, f->path, ".old"));
        (void)file_sync_directory_of(f->path);
        printf("written  %s%s%s\n", f->path, f->note ? ": " : "", f->note ? f->note : "");
    }
}

static bool make_directory(struct setup *s, const char *path, mode_t mode, bool of_service)
{
    if (mkdir(path, mode))
        return errno == EEXIST || failed(path);
    note_file(s, path, NULL)->directory = true;
    const int fd = of_service ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    const bool given = !of_service || (fd >= 0 && hand_over(s, fd, false)) || failed(path);
    if (fd >= 0)
        close(fd);
    return given;
}

/* ---- the parts ---- */

static bool make_config_directory(struct setup *s)
{
    return make_directory(s, s->directory, 0755, false);
}

/* An existing key is kept: what the store has sealed with it could not be opened without it. */
static bool make_master_key(struct setup *s)
{
    const char *path = setup_path(s, "master.key");
    unsigned char key[SHA256_LEN];
    char text[2 * SHA256_LEN + 2];
    if (!s->fresh)
        return true;
    if (access(path, F_OK) == 0) {
        printf("kept     %s\n", path);
        return true;
    }
    crypto_random(key, sizeof key);
    hex_encode(key, sizeof key, text);
    text[2 * SHA256_LEN] = '\n';
    const bool written = write_file(s, path, str_n(text, sizeof text - 1), 0600,
                                    "keep a copy elsewhere, without it a backup cannot be used");
    crypto_wipe(key, sizeof key);
    crypto_wipe(text, sizeof text);
    return written;
}

/* Keeps a certificate that is for the name, and makes it again for another. */
static bool make_certificate(struct setup *s)
{
    const char *certificate = setup_path(s, "tls.pem"), *key = setup_path(s, "tls.key");
    const char *fresh = with_end(s, certificate, ".new"), *fresh_key = with_end(s, key, ".new");
    char unused[SETUP_TEXT_MAX];
    if (strcmp(s->answers[Q_CERTIFICATE], SETUP_SELF_SIGNED) != 0 ||
        (access(key, F_OK) == 0 && setup_certificate_fits(certificate, s->host, unused)))
        return true;
    const int fd = tls_self_signed_for(s->host, fresh, fresh_key) ? -1 : open(fresh_key, O_RDONLY | O_CLOEXEC);
    const bool made = (fd >= 0 && hand_over(s, fd, false)) || failed(certificate);
    if (fd >= 0)
        close(fd);
    if (made && put_in_place(s, certificate, NULL) && put_in_place(s, key, NULL))
        return true;
    unlink(fresh);
    unlink(fresh_key);
    return false;
}

static bool make_secrets(struct setup *s)
{
    for (int i = 0; i < QUESTIONS; i++) {
        const char *text = s->answers[i];
        const bool typed = setup_rows[i].secret != SETUP_OPEN && *text && !setup_is_reference(text) &&
                           !(i == Q_STORE && strcmp(text, SETUP_SQLITE) == 0);
        if (typed && setup_is_changed(s, i) &&
            !write_file(s, setup_path(s, setup_rows[i].name), str_z(text), 0600, NULL))
            return false;
    }
    return true;
}

/* The parent of the data directory must exist: it may be a mount that is missing. */
static bool make_data_dir(struct setup *s)
{
    return make_directory(s, s->answers[Q_DATA_DIR], 0700, true);
}

static bool make_configuration(struct setup *s)
{
    const struct str text = setup_text(s, true);
    if (s->fresh || !str_eq(text, s->base))
        return write_file(s, s->path, text, 0640, NULL);
    printf("kept     %s\n", s->path);
    return true;
}

static bool (*const parts[])(struct setup *s) = {make_config_directory, make_master_key, make_certificate,
                                                 make_secrets,          make_data_dir,   make_configuration};

/* Makes all, and checks it as the service would; or takes all back. */
static struct config *write_all(struct setup *s)
{
    struct config *c = NULL;
    char *why = NULL;
    size_t i = 0;
    while (i < sizeof parts / sizeof *parts && parts[i](s))
        i++;
    const bool made = i == sizeof parts / sizeof *parts;
    if (made && checks_load(s->path, NULL, 0, &c, &why))
        complain_lines(why);
    free(why);
    if (c)
        report_files(s);
    else
        take_back(s);
    return c;
}

/* Somebody at a terminal repairs what failed. The answers stay. */
static bool may_try_again(const struct setup *s)
{
    if (!s->interactive)
        return false;
    printf("All is as before. Repair that, in another terminal, and press Enter to try again; Ctrl-C gives up: ");
    fflush(stdout);
    for (int c; (c = getchar()) != EOF;)
        if (c == '\n')
            return true;
    putchar('\n');
    return false;
}

struct config *setup_write(struct setup *s)
{
    struct config *c;
    sigset_t ends, before;
    sigemptyset(&ends);
    for (size_t i = 0; i < 4; i++)
        sigaddset(&ends, (int[]){SIGINT, SIGTERM, SIGHUP, SIGQUIT}[i]);
    do { /* no signal ends it halfway */
        sigprocmask(SIG_BLOCK, &ends, &before);
        c = write_all(s);
        sigprocmask(SIG_SETMASK, &before, NULL);
    } while (!c && may_try_again(s));
    return c;
}
