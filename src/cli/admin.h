/* The client's side of the operator's operations: one request to the service of a data directory. */
#pragma once
#include <stdbool.h>

/* Sends the request to the control socket in data_dir and prints the answer, or what went wrong. body: JSON, NULL
 * without one. Returns the exit status. */
int admin_ask(const char *data_dir, const char *method, const char *path, const char *body, bool as_json);
