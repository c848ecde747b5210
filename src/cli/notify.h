/* systemd's readiness protocol (sd_notify(3)), which is one datagram. */
#pragma once
#include "base/err.h"

/* Sends `state` ("READY=1") to the socket $NOTIFY_SOCKET names: a path, or "@name" for an abstract one. ERR_NONE
 * without such a variable; ERR_IO if it could not be sent. */
enum err notify_send(const char *state) CHECKED;
