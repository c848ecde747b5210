/* The listener of listen.metrics: GET /metrics and GET /ready over plain HTTP, on a thread that neither requests nor
 * calls use, with few connections. No answer waits for the store: the page shows what was counted, and readiness has an
 * end. */
#pragma once
#include "base/config.h"
#include "jobs/readiness.h"

struct metrics_server;

/* Opens the listener and serves it. c is not kept. ret_why as in http_server_new. */
enum err metrics_server_start(const struct config *c, struct readiness *readiness, struct metrics_server **ret,
                              char **ret_why) CHECKED;
const char *metrics_server_address(const struct metrics_server *m); /* "127.0.0.1:9464" */
/* Must be called before readiness_stop. NULL is allowed, as in the next. */
void metrics_server_stop(struct metrics_server *m);
/* Must follow readiness_stop. */
void metrics_server_free(struct metrics_server *m);
