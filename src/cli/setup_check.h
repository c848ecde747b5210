/* The checks that `portero setup` makes once it has written a configuration: does the world around the service fit it?
 */
#pragma once
#include <sys/types.h>

#include "cli/setup.h"

struct setup_user {
    uid_t uid;
    gid_t gid;
};

/* False if this machine has no such user. */
bool setup_user(const char *name, struct setup_user *ret);
/* Writes the host of a URL, without brackets; the rest begins with ":" if there is a port. */
const char *setup_host(const char *url, char ret[static SETUP_HOST_MAX]);
/* Whether the file has a certificate for the host. */
bool setup_certificate_is_for(const char *path, const char *host);

enum setup_result { SETUP_OK, SETUP_WARNING, SETUP_FAILED };

/* Runs the checks and reports one line for each thing that was checked. They connect to the mail server, the trunk and
 * the database, but send no mail, place no call and change nothing. Returns the worst result. `user`: the service's, or
 * NULL if it is the caller's.
 */
enum setup_result setup_check(const struct config *c, const char *user,
                              void (*report)(enum setup_result r, const char *what, const char *text));
