/* `portero event stream`: the events of a building as they happen. */
#pragma once
#include "client/remote.h"

/* Prints a line for each event of the stream at this path, until it is interrupted. Returns the exit status. */
int event_stream_print(const struct remote *r, const char *path, bool json);
