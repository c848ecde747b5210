/* The data directory and the master key that lives in it. */
#pragma once
#include "base/config.h"
#include "store/store.h"

/* Creates data_dir with mode 0700, or removes group and other permissions from an existing one. Refuses an existing
 * directory with such permissions that is not empty and holds no file of the service (/tmp by mistake). Fails with
 * ERR_USAGE and *ret_why (caller frees); with ERR_IO if its file system is read-only. */
enum err datadir_prepare(const struct config *c, char **ret_why) CHECKED;

/* Fails as datadir_prepare would, and changes nothing. */
enum err datadir_check(const struct config *c, char **ret_why) CHECKED;

/* Refuses to serve from an existing data_dir of another user, who could not open the files that root would make there.
 * Fails as datadir_prepare. */
enum err datadir_check_owner(const struct config *c, char **ret_why) CHECKED;

/* Sets the configured master keys (crypto_set_master). In the sandbox an empty secrets.master_key means the file
 * master.key in data_dir, which is created at the first start with mode 0600; in production it is an error. `needed`:
 * the store has sealed secrets, so a missing file is an error. Errors as above. */
enum err datadir_master_key(const struct config *c, bool needed, char **ret_why) CHECKED;
/* Sets the master keys and checks that a started store has them; a store without a key takes the current one.
 * *ret_rekey: its secrets are still sealed with the previous one. Errors as above. */
enum err datadir_fit_master_key(const struct config *c, struct store *store, bool *ret_rekey, char **ret_why) CHECKED;
/* Fails if the store has other keys than the configuration (store_look), and changes nothing but the keys set. */
enum err datadir_check_master_key(const struct config *c, struct store *store, char **ret_why) CHECKED;
/* Fails if datadir_master_key would reject the keys themselves, and changes nothing. A missing master.key of the
 * sandbox is no error. */
enum err datadir_master_key_check(const struct config *c, char **ret_why) CHECKED;
