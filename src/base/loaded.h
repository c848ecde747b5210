/* The state of the files that the process has read: whether they have changed since. One for the process; any thread.
 */
#pragma once
#include "base/config.h"

#define LOADED_FINGERPRINT_MAX 96 /* "AB:CD:…", SHA-256 */
#define LOADED_PATH_MAX        4096

/* Notes the configuration, with the files of its secrets. Once, before threads start; `c` must outlive the process's
 * threads. */
void loaded_configuration(const struct config *c);
/* Whether the configuration's file and the files of its secrets are as they were. Comments and blanks do not count.
 * Also true if nothing was noted, or if no file was read. */
bool loaded_configuration_is_current(void);

/* Notes the certificate for HTTPS that is served from now on. */
void loaded_certificate(const char *path, const char *fingerprint);
struct loaded_certificate {
    char path[LOADED_PATH_MAX], fingerprint[LOADED_FINGERPRINT_MAX];
    bool current; /* the file is as it was */
};
/* False if none was noted. */
bool loaded_certificate_get(struct loaded_certificate *ret);
