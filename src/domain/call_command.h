/* Commands of residents to calls in progress, without a telephone: the interface between the routes and
 * the user agent that has the call. */
#pragma once
#include "base/err.h"
#include "base/id.h"
#include "base/str.h"

#define CALL_COMMAND_WAIT_US INT64_C(3000000) /* the longest wait for the thread or the node that has the call */

enum call_command_kind {
    CALL_COMMAND_OPEN,   /* send the release tone to the call box, as key 9 does; no effect while it is sent */
    CALL_COMMAND_LISTEN, /* a browser listens to the visitor */
    CALL_COMMAND_ANSWER, /* it takes the call */
    CALL_COMMAND_LEAVE   /* it leaves; if it took the call, that ends it */
};

struct call_command {
    enum call_command_kind kind;
    struct id building_id, call_id, account_id;
    struct id key_id;      /* of OPEN and LISTEN, as the next: who asks */
    bool person;           /* by the website's session, not by a key of a program */
    struct id listener_id; /* of ANSWER and LEAVE */
    struct str offer;      /* of LISTEN: SDP */
};

/* All of LISTEN. */
struct call_command_result {
    struct id listener_id;
    bool answered;   /* someone talks to the visitor already */
    char *answer;    /* SDP, which the caller frees */
    const char *why; /* of a failure: a constant, or NULL */
};

/* The performer of commands: ERR_NOT_FOUND means that it does not have the call. */
typedef enum err call_commander(void *arg, const struct call_command *command, struct call_command_result *ret);
