/* The checks that `porterod setup` makes once it has written a configuration: does the world around the service fit it?
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
#define SETUP_TEXT_MAX 600
/* Whether the user of the service can read the file; NULL: the user of this process. */
bool setup_can_read(const char *user, const char *path, char ret_why[static SETUP_TEXT_MAX]);
/* Whether the file has a certificate that is valid now, and for the host. */
bool setup_certificate_fits(const char *path, const char *host, char ret_why[static SETUP_TEXT_MAX]);
/* An address of this machine that others may reach, "192.0.2.7"; false if it has none. */
bool setup_own_address(char ret[static SETUP_HOST_MAX]);
/* Whether the name is, on this machine, an address that no other machine can reach it by. */
bool setup_is_known_here_only(const char *host);

enum setup_result { SETUP_OK, SETUP_WARNING, SETUP_FAILED };

/* Runs the checks and reports one line for each thing that was checked. They connect to the mail server, the trunk and
 * the database, but send no mail, place no call and change nothing. Returns the worst result. `user`: the service's,
 * or NULL if it is the caller's. `path`: of the configuration.
 */
enum setup_result setup_check(const struct config *c, const char *path, const char *user,
                              void (*report)(enum setup_result r, const char *what, const char *text));
