/* A login that `portero login` keeps: the address of a service and a key for it, in the user's own configuration
 * directory. */
#pragma once
#include "base/err.h"
#include "base/str.h"

#define PROFILE_DEFAULT "default" /* the name of a login that is not given one */

struct profile {
    char *url;     /* without a trailing slash */
    char *key;     /* secret */
    char *email;   /* whose account it is */
    char *scopes;  /* of the key, separated by commas; NULL: an earlier program did not keep them */
    char *ca_file; /* path of a certificate to trust besides the system's; NULL: none */
    char *pin;     /* the only public key that is accepted (remote.h); NULL: none */
};

/* Whether it is a name for a profile: 1 to 32 letters, digits, '-' and '_'. */
bool profile_is_name(const char *name);
/* Reads NAME.json below $XDG_CONFIG_HOME/portero, or ~/.config/portero. Fails with ERR_NOT_FOUND if there is no such
 * profile; with ERR_IO and *ret_why (caller frees) if it cannot be read, is not valid, or others may read it. The
 * caller releases it with profile_done. */
enum err profile_load(const char *name, struct profile *ret, char **ret_why) CHECKED;
/* Writes the profile, mode 0600 in a directory with mode 0700, and next to it NAME.pem with the certificate, unless
 * that is STR_NONE. p->ca_file is ignored. Fails with ERR_IO and *ret_why. */
enum err profile_save(const char *name, const struct profile *p, struct str certificate, char **ret_why) CHECKED;
/* Deletes the files of the profile; a missing file is not an error. */
enum err profile_remove(const char *name, char **ret_why) CHECKED;
void profile_done(struct profile *p);
