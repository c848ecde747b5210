/* The client of the control socket: HTTP over data_dir/portero.sock. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

#define CONTROL_SOCKET "portero.sock"

struct control_request {
    const char *socket; /* path */
    const char *method; /* "POST" */
    const char *path;   /* "/admin/keys", with the query */
    const char *body;   /* JSON, NULL: no body */
    long wait_ms;       /* for the response; 0: a minute */
};

/* Sends the request and waits for the response, whatever its status. Fails with ERR_IO and *ret_why (caller frees) if
 * no service responds. */
enum err control_send(const struct control_request *q, int *ret_status, struct buf *ret_body, char **ret_why) CHECKED;
