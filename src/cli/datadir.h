/* The data directory and the master key that lives in it. */
#pragma once
#include "base/config.h"

/* Makes data_dir (mode 0700) if it is not there, and takes other users' rights off it if it is; of a directory that
 * holds only what is not the service's (/tmp by mistake) it does not, and refuses. ERR_USAGE with *ret_why
 * (owned by the caller) where that fails. */
enum err datadir_prepare(const struct config *c, char **ret_why) CHECKED;

/* Refuses as datadir_prepare would, and changes nothing. */
enum err datadir_check(const struct config *c, char **ret_why) CHECKED;

/* Gives the configured master keys to base/crypto.h. In the sandbox an empty secrets.master_key means the file
 * master.key in data_dir, made at first start with mode 0600; in production it is refused. `needed`: the store has
 * secrets already, so that a new key is of no use: a missing file is refused. Errors as above. */
enum err datadir_master_key(const struct config *c, bool needed, char **ret_why) CHECKED;
/* Refuses keys that datadir_master_key would refuse for their own sake, and changes nothing; a key that the sandbox has
 * yet to make is fine. */
enum err datadir_master_key_check(const struct config *c, char **ret_why) CHECKED;
