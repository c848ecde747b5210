/* Socket activation: listening sockets that systemd has opened (sd_listen_fds(3)). They stay open while the service
 * restarts, so that connections wait instead of being refused. */
#pragma once
#include "base/config.h"

/* Takes the sockets that $LISTEN_FDS passes to this process, by FileDescriptorName=: https, http and metrics replace
 * the address of the same key in section listen. SIP cannot: libre opens its sockets itself. Must be called before
 * other processes are started. Fails with ERR_USAGE and *ret_why (caller frees) if a socket has another name, is given
 * twice or does not listen for TCP. */
enum err activation_take(struct config *c, char **ret_why) CHECKED;
