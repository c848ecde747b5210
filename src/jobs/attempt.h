/* One attempt of a delivery: the signed request (event/envelope.h) and its result. */
#pragma once
#include "base/buf.h"
#include "domain/delivery.h"
#include "event/envelope.h"
#include "net/poster.h"

#define ATTEMPT_BODY_MAX  65536
#define ATTEMPT_TRACE_MAX 80
#define TRACE_ID_LEN      32

struct attempt {
    struct net_post post;
    struct id account_id;
    struct delivery_result result; /* failure is set by attempt_new if nothing can be sent */
    char *url;
    struct buf signed_text;                                           /* the signature's time, a period, and the body */
    char signature[ENVELOPE_SIGNATURE_MAX], trace[ATTEMPT_TRACE_MAX]; /* lines of the head; trace may be "" */
    char lines[ENVELOPE_LINES][ENVELOPE_LINE_MAX];                    /* further ones, or "" */
    char trace_id[TRACE_ID_LEN + 1];                                  /* for the log; "" without a trace */

    /* For jobs/endpoint.c. */
    struct endpoint *endpoint;
    int64_t began_us; /* monotonic */
    struct attempt *previous, *next;
};

/* Makes the request. Keeps no reference to d. */
struct attempt *attempt_new(const struct delivery *d);
/* Delivers to the sandbox's receiver, if that has the URL. */
bool attempt_receive(struct attempt *a, const struct delivery *d, const struct config *c);
void attempt_free(struct attempt *a);
/* Sets the result from the response, or the failure, in a->post. */
void attempt_end(struct attempt *a);
