#include "store/seal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/mem.h"

#define PORTION (1 << 20)
#define WORDS   "portero copy sha256 "

/* The header of a database (sqlite.org, fileformat2.html, 1.3). */
#define HEADER_LEN   100
#define MAGIC        "SQLite format 3" /* and NUL */
#define AT_PAGE_SIZE 16
#define AT_PAGES     28

_Static_assert(SEAL_LEN == sizeof WORDS + 2 * SHA256_LEN + 1, "the words, a hash, and an end of line before and after");

struct line {
    char text[SEAL_LEN + 1];
};

/* The line for the first `bytes` of the file. */
static bool make_line(int fd, int64_t bytes, int (*rest)(void *arg), void *arg, struct line *ret)
{
    unsigned char sum[SHA256_LEN];
    char hex[2 * SHA256_LEN + 1], *portion = mem_bytes(PORTION);
    struct digest *d = crypto_digest_begin();
    int64_t at = 0;
    ssize_t n = 1;
    while (at < bytes && n > 0) {
        n = pread(fd, portion, bytes - at < PORTION ? (size_t)(bytes - at) : PORTION, at);
        crypto_digest_add(d, (struct str){portion, n > 0 ? (size_t)n : 0});
        at += n;
        if (rest)
            (void)rest(arg);
    }
    crypto_digest_end(d, sum);
    free(portion);
    hex_encode(sum, sizeof sum, hex);
    (void)snprintf(ret->text, sizeof ret->text, "\n" WORDS "%s\n", hex);
    return at == bytes;
}

/* The length that the database says to have; 0: it is none. */
static int64_t database_bytes(int fd)
{
    unsigned char header[HEADER_LEN];
    if (pread(fd, header, sizeof header, 0) != sizeof header || memcmp(header, MAGIC, sizeof MAGIC) != 0)
        return 0;
    const int told = header[AT_PAGE_SIZE] << 8 | header[AT_PAGE_SIZE + 1], size = told == 1 ? 65536 : told;
    if (size < 512 || (size & (size - 1))) /* such a page may make up for the length of a line */
        return 0;
    uint32_t pages = 0;
    for (int i = 0; i < 4; i++)
        pages = pages << 8 | header[AT_PAGES + i];
    return (int64_t)pages * size;
}

enum err seal_write(int fd, int (*rest)(void *arg), void *arg)
{
    struct stat found;
    struct line line = {0};
    if (fstat(fd, &found) < 0 || !make_line(fd, found.st_size, rest, arg, &line))
        return ERR_IO;
    const ssize_t n = pwrite(fd, line.text, SEAL_LEN, found.st_size);
    if (n >= 0 && n < SEAL_LEN)
        errno = ENOSPC;
    return n == SEAL_LEN ? ERR_NONE : ERR_IO;
}

bool seal_read(int fd, struct seal_sum *ret)
{
    struct stat found;
    struct line line = {0};
    *ret = (struct seal_sum){0};
    if (fstat(fd, &found) < 0)
        return false;
    errno = EINVAL;
    if (pread(fd, line.text, SEAL_LEN, found.st_size - SEAL_LEN) != SEAL_LEN)
        return false;
    memcpy(ret->hex, line.text + sizeof WORDS, sizeof ret->hex - 1);
    return true;
}

/* Compares the line behind the first `bytes` of the file. */
static enum err compare(int fd, int64_t bytes, const char *name, char **ret_why)
{
    struct line line = {0}, there = {0};
    if (pread(fd, there.text, SEAL_LEN, bytes) != SEAL_LEN || !make_line(fd, bytes, NULL, NULL, &line))
        return err_why(ret_why, ERR_IO, "%s: %s", name, strerrordesc_np(errno));
    if (strcmp(there.text, line.text) != 0)
        return err_why(ret_why, ERR_IO, "%s: damaged: its bytes are not those that were copied (SHA-256)", name);
    return ERR_NONE;
}

enum err seal_check_file(int fd, const char *name, int64_t *ret_bytes, char **ret_why)
{
    struct stat found;
    if (fstat(fd, &found) < 0)
        return err_why(ret_why, ERR_IO, "%s: %s", name, strerrordesc_np(errno));
    *ret_bytes = found.st_size - SEAL_LEN;
    return *ret_bytes < 0 ? err_why(ret_why, ERR_IO, "%s: damaged: it is cut off", name)
                          : compare(fd, *ret_bytes, name, ret_why);
}

enum err seal_check(int fd, const char *name, struct seal *ret, char **ret_why)
{
    struct stat found;
    if (fstat(fd, &found) < 0)
        return err_why(ret_why, ERR_IO, "%s: %s", name, strerrordesc_np(errno));
    ret->bytes = database_bytes(fd);
    ret->sealed = ret->bytes != found.st_size;
    if (!ret->bytes)
        return err_why(ret_why, ERR_IO, "%s: not a copy of a store: file is not a database", name);
    if (!ret->sealed)
        return ERR_NONE;
    if (found.st_size != ret->bytes + SEAL_LEN)
        return err_why(ret_why, ERR_IO, "%s: damaged: it has another length than when it was made", name);
    return compare(fd, ret->bytes, name, ret_why);
}
