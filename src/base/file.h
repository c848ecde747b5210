/* Files that must survive a crash. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Makes names in the directory of `path` durable: after a rename, link or unlink. False with errno on failure. */
bool file_sync_directory_of(const char *path);
/* Replaces the file by n bytes, whole or not at all, with mode 0600, and makes it durable. Writes `path`.new first,
 * which no failure leaves behind. False with errno on failure. */
bool file_replace(const char *path, const void *text, size_t n);
/* If the process is root, gives the open file to the owner of the directory of `path`: a command that root runs must
 * leave files that the service can use. False with errno on failure. */
bool file_give_away(int fd, const char *path);
