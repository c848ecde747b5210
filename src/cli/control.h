/* The operator's side of the control socket: HTTP over data_dir/portero.sock, to the service that runs there. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

#define CONTROL_SOCKET "portero.sock"

struct control_request {
    const char *socket; /* path */
    const char *method; /* "POST" */
    const char *path;   /* "/admin/keys", with a query if any */
    const char *body;   /* JSON, NULL for none */
};

/* Sends the request and waits for its answer. ERR_IO with *ret_why (owned by the caller) if no service answers there;
 * whatever the service answers is a success: its status and body. */
enum err control_send(const struct control_request *q, int *ret_status, struct buf *ret_body, char **ret_why) CHECKED;
