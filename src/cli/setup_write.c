/* Writes what `portero setup` was told: keys, secrets, the data directory and the configuration. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "cli/checks.h"
#include "cli/complain.h"
#include "cli/setup.h"
#include "cli/setup_check.h"
#include "http/tls_self_signed.h"

#define FILE_MAX 65536

/* ---- files ---- */

/* Gives a file of the service's to its user: `group` for the configuration, which the service only reads. */
static bool hand_over(int fd, bool group)
{
    struct setup_user u;
    return geteuid() != 0 || !setup_user(SETUP_USER, &u) || fchown(fd, group ? 0 : u.uid, u.gid) == 0;
}

static bool write_file(const char *path, const char *text, size_t n, mode_t mode)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    bool written = fd >= 0 && fchmod(fd, mode) == 0 && hand_over(fd, mode & 040) && write(fd, text, n) == (ssize_t)n &&
                   fsync(fd) == 0;
    if (fd >= 0 && close(fd))
        written = false;
    if (!written)
        complain("%s: %s", path, strerror(errno));
    return written;
}

static const char *path_of(struct setup *s, const char *name)
{
    return arena_printf(&s->arena, "%s/%s", s->directory, name).p;
}

/* An existing key is kept: what the store has sealed with it could not be opened without it. */
static bool make_master_key(struct setup *s)
{
    const char *path = path_of(s, "master.key");
    unsigned char key[SHA256_LEN];
    char text[2 * SHA256_LEN + 2];
    if (access(path, F_OK) == 0) {
        printf("kept     %s\n", path);
        return true;
    }
    crypto_random(key, sizeof key);
    hex_encode(key, sizeof key, text);
    text[2 * SHA256_LEN] = '\n';
    const bool written = write_file(path, text, sizeof text - 1, 0600);
    crypto_wipe(key, sizeof key);
    crypto_wipe(text, sizeof text);
    if (written)
        printf("written  %s: keep a copy elsewhere, without it a backup cannot be used\n", path);
    return written;
}

/* Keeps a certificate for the name, and makes it again for another. */
static bool make_certificate(struct setup *s)
{
    const char *certificate = path_of(s, "tls.pem"), *key = path_of(s, "tls.key");
    if (strcmp(s->answers[Q_CERTIFICATE], SETUP_SELF_SIGNED) != 0)
        return true;
    if (access(key, F_OK) || !setup_certificate_is_for(certificate, s->host)) {
        if (tls_self_signed_for(s->host, certificate, key)) {
            complain("%s: cannot be written", certificate);
            return false;
        }
        const int fd = open(key, O_RDONLY | O_CLOEXEC);
        const bool given = fd >= 0 && hand_over(fd, false);
        if (fd >= 0)
            close(fd);
        if (!given)
            return false;
        printf("written  %s and %s\n", certificate, key);
    }
    s->answers[Q_CERTIFICATE] = certificate;
    s->answers[Q_KEY] = key;
    return true;
}

static bool make_secrets(struct setup *s)
{
    if (strcmp(s->answers[Q_STORE], SETUP_SQLITE) == 0)
        s->answers[Q_STORE] = "";
    for (int i = 0; i < QUESTIONS; i++) {
        const struct setup_row *q = &setup_rows[i];
        if (q->secret == SETUP_OPEN || !*s->answers[i])
            continue;
        const char *path = path_of(s, q->name);
        if (!write_file(path, s->answers[i], strlen(s->answers[i]), 0600))
            return false;
        s->answers[i] = arena_printf(&s->arena, "file:%s", path).p;
        printf("written  %s\n", path);
    }
    return true;
}

/* The directory above that of the data must exist: it may be a mount that is missing. */
static bool make_data_dir(struct setup *s)
{
    const char *path = s->answers[Q_DATA_DIR];
    if (mkdir(path, 0700)) {
        if (errno == EEXIST)
            return true;
        complain("%s: %s", path, strerror(errno));
        return false;
    }
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool given = fd >= 0 && hand_over(fd, false);
    if (fd >= 0)
        close(fd);
    return given;
}

/* ---- the configuration ---- */

static void put_value(struct buf *out, const struct config_row *row, const char *text)
{
    if (row->kind != CONFIG_CIDRS) {
        buf_printf(out, "\"%s\"", text);
        return;
    }
    const char *separator = "";
    buf_char(out, '{');
    for (struct str rest = str_z(text), one; rest.p; separator = ", ") {
        one = str_trim(str_cut(rest, ',', &rest));
        buf_printf(out, "%s\"%.*s\"", separator, STR_ARG(one));
    }
    buf_char(out, '}');
}

static void put_answers(struct buf *out, const struct setup *s, const char *section, const char *indent)
{
    for (int i = 0; i < QUESTIONS; i++) {
        const struct setup_row *q = &setup_rows[i];
        if (!q->section || strcmp(q->section, section) != 0 || !*s->answers[i])
            continue;
        buf_printf(out, "%s%s = ", indent, q->key);
        put_value(out, setup_key(q), s->answers[i]);
        buf_char(out, '\n');
    }
}

static void put_section(struct buf *out, const struct setup *s, const char *section, const char *fixed)
{
    buf_printf(out, "\n%s {\n%s", section, fixed);
    put_answers(out, s, section, "    ");
    if (strcmp(section, "voice") == 0 && *s->answers[Q_PBX]) {
        buf_str(out, STR("    peer pbx {\n"));
        put_answers(out, s, "peer", "        ");
        if (*s->answers[Q_PBX_USER])
            buf_str(out, STR("        register = true\n"));
        buf_str(out, STR("    }\n"));
    }
    buf_str(out, STR("}\n"));
}

static void compose(struct setup *s, struct buf *out)
{
    buf_str(
        out,
        STR("# Written by `portero setup`. portero.conf(5) has all keys; check changes with `portero check-config`.\n"
            "mode = production\n"));
    put_answers(out, s, "top", "");
    put_section(out, s, "listen", "    http = \"\"\n");
    put_section(out, s, "tls", "");
    put_section(out, s, "store", *s->answers[Q_STORE] ? "    engine = postgresql\n" : "    engine = sqlite\n");
    put_section(out, s, "secrets",
                arena_printf(&s->arena, "    master_key = \"file:%s\"\n", path_of(s, "master.key")).p);
    put_section(out, s, "mail", "    provider = smtp\n");
    put_section(out, s, "voice", "");
    put_section(out, s, "billing", "    provider = none\n");
    put_section(out, s, "numbers", "    provider = pool\n");
    put_section(out, s, "sms", *s->answers[Q_PBX] ? "    provider = call\n" : "    provider = none\n");
}

bool setup_may_write(const char *path)
{
    struct buf faults = BUF(CONFIG_FAULTS_MAX);
    if (access(path, F_OK))
        return true;
    struct config *c = config_read(path, NULL, 0, &faults);
    const bool sandbox = c && !c->production && !faults.n;
    buf_done(&faults);
    config_free(c);
    if (!sandbox)
        complain("%s exists; --force replaces it, --check only repeats the checks", path);
    return sandbox;
}

/* Writes the configuration next to its place, checks it as the service would, and puts it in place. */
static struct config *write_configuration(struct setup *s)
{
    const char *fresh = arena_printf(&s->arena, "%s.new", s->path).p,
               *old = arena_printf(&s->arena, "%s.old", s->path).p;
    struct buf text = BUF(FILE_MAX);
    struct config *c = NULL;
    char *why = NULL;
    compose(s, &text);
    bool written = write_file(fresh, text.p, text.n, 0640);
    buf_done(&text);
    if (written && checks_load(fresh, NULL, 0, &c, &why)) {
        complain_lines(why);
        free(why);
        written = false;
    }
    if (written && rename(s->path, old) && errno != ENOENT)
        written = false;
    if (written && rename(fresh, s->path) == 0) {
        printf("written  %s\n", s->path);
        return c;
    }
    unlink(fresh);
    config_free(c);
    return NULL;
}

struct config *setup_write(struct setup *s)
{
    if (mkdir(s->directory, 0755) && errno != EEXIST) {
        complain("%s: %s", s->directory, strerror(errno));
        return NULL;
    }
    if (!make_master_key(s) || !make_certificate(s) || !make_secrets(s) || !make_data_dir(s))
        return NULL;
    return write_configuration(s);
}
