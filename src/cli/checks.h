/* The checks of a configuration, as one table. `porterod serve` runs them before it starts anything, without those
 * whose faults may pass, and `porterod check-config` runs nothing else, so that the two agree. */
#pragma once
#include "base/config.h"

/* Reads the configuration with config_read and checks it. Fails with ERR_USAGE and *ret_why (caller frees), which has
 * one line for each error. Changes nothing. Binds addresses for a moment only; an address in use is no error, since the
 * running service may use it. */
enum err checks_load(const char *path, const struct config_override *overrides, size_t count, struct config **ret,
                     char **ret_why) CHECKED;
/* The same for a start, without the faults that may pass by themselves, and that the start meets again: an address that
 * this machine does not have yet, a data directory on a file system that is read-only. */
enum err checks_load_start(const char *path, const struct config_override *overrides, size_t count, struct config **ret,
                           char **ret_why) CHECKED;
/* The checks after config_read, as checks_load makes them: adds a line to `faults` for each error. */
void checks_run(const struct config *c, struct buf *faults);

/* Binds an address of the configuration for a moment. Returns errno, 0 if it is free; without IPv6, localhost:PORT is
 * 127.0.0.1 alone. `type`: SOCK_STREAM or SOCK_DGRAM. */
int checks_bind_error(const char *address, int type);
