/* One attempt of a delivery: its request, signed (contract, Events), and how it ended. */
#pragma once
#include "base/buf.h"
#include "domain/delivery.h"
#include "net/poster.h"

#define ATTEMPT_BODY_MAX   65536
#define ATTEMPT_HEADER_MAX 128

struct attempt {
    struct net_post post;
    struct delivery_result result; /* failure is set at once if there is nothing to send */
    struct lane *lane;             /* the lanes', as is the rest */
    int64_t began_us;              /* monotonic */
    struct attempt *previous, *next;
    char *url;
    struct buf signed_text; /* the signature's time, a period, and the body */
    char header[ATTEMPT_HEADER_MAX];
};

/* Makes the request: nothing of d is kept. */
struct attempt *attempt_new(const struct delivery *d);
void attempt_free(struct attempt *a);
/* Takes the answer, or what went wrong, from a->post. */
void attempt_end(struct attempt *a);
