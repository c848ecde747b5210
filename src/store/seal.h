/* The checksum of a copy of the SQLite store: a line behind its last page, which SQLite does not read. It finds what
 * happened to the bytes since, such as a flipped bit in a telephone number, which no check of SQLite's sees. It is no
 * signature: who can write the file can seal it again. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define SEAL_LEN 86 /* bytes of the line */

struct seal_sum {
    char hex[65];
};

/* Appends the line to the database that is open, to read and write, as fd. `rest` is called after each portion that was
 * read. Fails with ERR_IO and errno. */
enum err seal_write(int fd, int (*rest)(void *arg), void *arg) CHECKED;
/* The checksum in the line of a file, which is not compared. False with errno. */
bool seal_read(int fd, struct seal_sum *ret);

struct seal {
    bool sealed;   /* false: by a program before checksums, and the file ends with its last page */
    int64_t bytes; /* without the line */
};

/* Compares the line with the file. Fails with ERR_IO and *ret_why, which begins with `name` (caller frees): the bytes
 * are other ones, or too few or too many for a database, or cannot be read. */
enum err seal_check(int fd, const char *name, struct seal *ret, char **ret_why) CHECKED;
/* The same for a file that is no database, and must have the line. */
enum err seal_check_file(int fd, const char *name, int64_t *ret_bytes, char **ret_why) CHECKED;
