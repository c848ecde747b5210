/* One administrative request to the running service. */
#pragma once
#include <stdbool.h>

/* Sends the request to the control socket in data_dir and prints the response or the error. body: JSON, or NULL.
 * Returns the exit status. */
int admin_ask(const char *data_dir, const char *method, const char *path, const char *body, bool as_json);
