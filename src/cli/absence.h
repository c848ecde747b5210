/* The time in which the store is not there yet: the listeners of HTTP answer that, with 503, and GET /v1/health as
 * ever. SIP is not served: who calls is sent to another node, or hears a refusal. */
#pragma once
#include <stddef.h>

#include "base/config.h"
#include "jobs/readiness.h"

#define ABSENCE_TEXT 400 /* bytes of a reason */

struct absence;

/* Serves the listeners of http_server_new. c must outlive it. `readiness` (which has no store) is for `porterod
 * health`. ret_why as in http_server_new. */
enum err absence_begin(const struct config *c, const char *control_path, struct readiness *readiness,
                       struct absence **ret, char **ret_why) CHECKED;
/* Closes the listeners, for the service to open them. NULL is allowed. */
void absence_end(struct absence *a);

/* Sets why the store is not there; NULL: it is. Any thread, as the next. */
void absence_note(const char *why);
/* Writes the reason. Returns false, and writes nothing, if the store is not absent. */
bool absence_reason(char *ret, size_t size);
