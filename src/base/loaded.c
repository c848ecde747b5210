#include "base/loaded.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config_table.h"
#include "base/config_text.h"
#include "base/crypto.h"

#define FILE_MAX (1U << 20)

static struct {
    const struct config *config; /* with its digest, set before threads start */
    unsigned char configuration[SHA256_LEN];
    pthread_mutex_t lock; /* of what follows */
    bool served;
    unsigned char certificate[SHA256_LEN]; /* of the file */
    char path[LOADED_PATH_MAX], fingerprint[LOADED_FINGERPRINT_MAX];
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- configuration ---- */

/* An unreadable secret is not the one that was read. */
static void add_secret(struct buf *all, const char *value, struct arena *a)
{
    struct str secret = STR_NONE;
    char *why = NULL;
    if (*value && !config_secret_of("", value, a, &secret, &why)) {
        unsigned char of_secret[SHA256_LEN];
        crypto_sha256(secret, of_secret);
        buf_put(all, of_secret, sizeof of_secret);
        crypto_wipe((char *)(uintptr_t)secret.p, secret.n);
    } else {
        buf_char(all, why ? '?' : '-');
    }
    free(why);
}

static void digest_settings(const struct config *c, const char *text, struct arena *a,
                            unsigned char ret[static SHA256_LEN])
{
    struct buf all = BUF(2 * FILE_MAX);
    config_text_words(text, &all);
    for (const struct config_row *r = config_rows; r->key; r++)
        if (r->kind == CONFIG_SECRET)
            add_secret(&all, *(const char *const *)(const void *)((const char *)c + r->offset), a);
    for (size_t i = 0; i < c->peer_count; i++)
        add_secret(&all, c->peers[i].password, a);
    crypto_sha256(buf_view(&all), ret);
    if (all.n)
        crypto_wipe(all.p, all.n);
    buf_done(&all);
}

void loaded_configuration(const struct config *c)
{
    struct arena a;
    arena_init(&a, NULL, 0);
    digest_settings(c, c->text, &a, loaded.configuration);
    loaded.config = c;
    arena_done(&a);
}

bool loaded_configuration_is_current(void)
{
    const struct config *c = loaded.config;
    struct config_text text;
    struct arena a;
    const char *unused;
    unsigned char now[SHA256_LEN];
    if (!c || !*c->text)
        return true;
    FILE *f = fopen(c->file, "re");
    arena_init(&a, NULL, 0);
    const bool read = f && config_text_read(f, &a, &text, &unused);
    if (read)
        digest_settings(c, text.p, &a, now);
    const bool current = read && crypto_equal(now, loaded.configuration, sizeof now);
    if (f)
        fclose(f);
    arena_done(&a);
    return current;
}

/* ---- certificate ---- */

static bool digest_of_file(const char *path, unsigned char ret[static SHA256_LEN])
{
    struct buf text = BUF(FILE_MAX);
    char part[BUFSIZ];
    FILE *f = fopen(path, "re");
    const bool found = f;
    for (size_t n; f && (n = fread(part, 1, sizeof part, f)) > 0;)
        buf_put(&text, part, n);
    if (f)
        fclose(f);
    crypto_sha256(buf_view(&text), ret);
    buf_done(&text);
    return found;
}

void loaded_certificate(const char *path, const char *fingerprint)
{
    unsigned char file[SHA256_LEN];
    (void)digest_of_file(path, file);
    pthread_mutex_lock(&loaded.lock);
    snprintf(loaded.path, sizeof loaded.path, "%s", path);
    snprintf(loaded.fingerprint, sizeof loaded.fingerprint, "%s", fingerprint);
    memcpy(loaded.certificate, file, sizeof file);
    loaded.served = true;
    pthread_mutex_unlock(&loaded.lock);
}

bool loaded_certificate_get(struct loaded_certificate *ret)
{
    unsigned char then[SHA256_LEN], now[SHA256_LEN];
    pthread_mutex_lock(&loaded.lock);
    const bool served = loaded.served;
    memcpy(ret->path, loaded.path, sizeof ret->path);
    memcpy(ret->fingerprint, loaded.fingerprint, sizeof ret->fingerprint);
    memcpy(then, loaded.certificate, sizeof then);
    pthread_mutex_unlock(&loaded.lock);
    ret->current = served && digest_of_file(ret->path, now) && memcmp(now, then, sizeof now) == 0;
    return served;
}
