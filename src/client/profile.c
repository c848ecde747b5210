#include "client/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

#define PROFILE_MAX     16384 /* bytes of the file */
#define PROFILE_NAME    32
#define NAME_CHARACTERS "-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

bool profile_is_name(const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && n <= PROFILE_NAME && strspn(name, NAME_CHARACTERS) == n;
}

/* The directory, which the caller frees. NULL without a home. */
static char *profile_directory(void)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && *config == '/')
        return mem_printf("%s/portero", config);
    return home && *home == '/' ? mem_printf("%s/.config/portero", home) : NULL;
}

/* The path, which the caller frees; NULL and *ret_why without a home. */
static char *profile_path(const char *name, const char *extension, char **ret_why)
{
    char *directory = profile_directory();
    char *path = directory ? mem_printf("%s/%s.%s", directory, name, extension) : NULL;
    if (!path)
        *ret_why = mem_strdup("neither XDG_CONFIG_HOME nor HOME is set");
    free(directory);
    return path;
}

/* ---- reading ---- */

static char *profile_member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? mem_strdup(text) : NULL;
}

static enum err read_profile_text(int fd, const char *path, struct buf *text, char **ret_why)
{
    struct stat st;
    char part[4096];
    ssize_t n = 0;
    if (fstat(fd, &st) != 0)
        return err_why(ret_why, ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_mode & (S_IRWXG | S_IRWXO))
        return err_why(ret_why, ERR_IO, "%s: others may read it; chmod 600 it, and log in again if it was read", path);
    while (!text->full && (n = read(fd, part, sizeof part)) > 0)
        buf_put(text, part, (size_t)n);
    crypto_wipe(part, sizeof part);
    if (n < 0 || text->full)
        return err_why(ret_why, ERR_IO, "%s: %s", path, n < 0 ? strerror(errno) : "too long");
    return ERR_NONE;
}

static enum err parse_profile(const char *name, const char *path, struct str text, struct profile *ret, char **ret_why)
{
    json_t *object = NULL;
    char *ca_file;
    struct profile p = {0};
    enum err e = ERR_NONE;
    if (json_read(text, &object))
        return err_why(ret_why, ERR_IO, "%s: not JSON; log in again", path);
    ca_file = profile_path(name, "pem", ret_why);
    p.url = profile_member(object, "url");
    p.key = profile_member(object, "key");
    p.email = profile_member(object, "email");
    p.pin = profile_member(object, "pin");
    p.scopes = profile_member(object, "scopes");
    if (ca_file && access(ca_file, F_OK) == 0)
        p.ca_file = mem_strdup(ca_file);
    if (!ca_file)
        e = ERR_IO;
    else if (!p.url || !p.key)
        e = err_why(ret_why, ERR_IO, "%s: url or key is missing; log in again", path);
    free(ca_file);
    json_decref(object);
    if (e)
        profile_done(&p);
    else
        *ret = p;
    return e;
}

enum err profile_load(const char *name, struct profile *ret, char **ret_why)
{
    struct buf text = BUF(PROFILE_MAX);
    enum err e = ERR_NONE;
    char *path = profile_path(name, "json", ret_why);
    if (!path)
        return ERR_IO;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        e = ERR_NOT_FOUND;
    else if (fd < 0)
        e = err_why(ret_why, ERR_IO, "%s: %s", path, strerror(errno));
    if (!e)
        e = read_profile_text(fd, path, &text, ret_why);
    if (!e)
        e = parse_profile(name, path, buf_view(&text), ret, ret_why);
    if (fd >= 0)
        close(fd);
    if (text.p)
        crypto_wipe(text.p, text.cap);
    buf_done(&text);
    free(path);
    return e;
}

/* ---- writing ---- */

/* Creates the directories of the path, private ones. */
static enum err make_directories(const char *path, char **ret_why)
{
    enum err e = ERR_NONE;
    char *copy = mem_strdup(path);
    for (char *slash = strchr(copy + 1, '/'); slash && !e; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            e = err_why(ret_why, ERR_IO, "%s: %s", copy, strerror(errno));
        *slash = '/';
    }
    free(copy);
    return e;
}

static enum err replace_file(const char *name, const char *extension, struct str text, char **ret_why)
{
    char *path = profile_path(name, extension, ret_why);
    enum err e = path ? make_directories(path, ret_why) : ERR_IO;
    if (!e && !file_replace(path, text.p, text.n))
        e = err_why(ret_why, ERR_IO, "%s: %s", path, strerror(errno));
    free(path);
    return e;
}

static enum err remove_file(const char *name, const char *extension, char **ret_why)
{
    char *path = profile_path(name, extension, ret_why);
    enum err e = path ? ERR_NONE : ERR_IO;
    if (path && unlink(path) != 0 && errno != ENOENT)
        e = err_why(ret_why, ERR_IO, "%s: %s", path, strerror(errno));
    free(path);
    return e;
}

enum err profile_save(const char *name, const struct profile *p, struct str certificate, char **ret_why)
{
    struct buf text = BUF(PROFILE_MAX);
    buf_lit(&text, "{\"url\":");
    json_put_str(&text, str_z(p->url));
    buf_lit(&text, ",\"email\":");
    json_put_str(&text, str_z(p->email ? p->email : ""));
    if (p->scopes) {
        buf_lit(&text, ",\"scopes\":");
        json_put_str(&text, str_z(p->scopes));
    }
    buf_lit(&text, ",\"key\":");
    json_put_str(&text, str_z(p->key));
    if (p->pin) {
        buf_lit(&text, ",\"pin\":");
        json_put_str(&text, str_z(p->pin));
    }
    buf_lit(&text, "}\n");
    enum err e = certificate.p ? replace_file(name, "pem", certificate, ret_why) : remove_file(name, "pem", ret_why);
    if (!e)
        e = text.full ? err_why(ret_why, ERR_IO, "the address is too long")
                      : replace_file(name, "json", buf_view(&text), ret_why);
    if (text.p)
        crypto_wipe(text.p, text.cap);
    buf_done(&text);
    return e;
}

enum err profile_remove(const char *name, char **ret_why)
{
    enum err e = remove_file(name, "json", ret_why);
    return e ? e : remove_file(name, "pem", ret_why);
}

void profile_done(struct profile *p)
{
    if (p->key)
        crypto_wipe(p->key, strlen(p->key));
    free(p->url);
    free(p->key);
    free(p->email);
    free(p->scopes);
    free(p->ca_file);
    free(p->pin);
    *p = (struct profile){0};
}
