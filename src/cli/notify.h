/* systemd's readiness protocol (sd_notify(3)), which is one datagram. */
#pragma once
#include "base/err.h"

/* Sends `state` ("READY=1") to the socket in $NOTIFY_SOCKET: a path, or "@name" for an abstract socket. ERR_NONE
 * without that variable. Fails with ERR_IO and errno. */
enum err notify_send(const char *state) CHECKED;
