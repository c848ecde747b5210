/* A receiver of webhooks within the sandbox. Deliveries to https://receiver.test/ end here instead of in the network;
 * no host can have that name (RFC 6761, section 6.2). https://receiver.test/503 answers 503, and so on. The newest
 * RECEIVED_MAX are kept in memory, by each process for itself. Any thread. */
#pragma once
#include "base/config.h"
#include "base/str.h"

#define RECEIVED_MAX 50

/* One delivery, as a receiver sees it. */
struct received {
    int64_t at_us; /* real time */
    long status;   /* of the answer */
    struct str url, body;
    struct str signature, trace; /* lines of the head; trace may be empty */
    bool genuine;                /* the signature was made with the endpoint's secret */
};

/* Whether deliveries to the URL end here: never in production. */
bool receiver_has(const struct config *c, struct str url);

/* Keeps a copy of `r` and sets its other members; `secret` is the endpoint's. Returns the status of the answer. */
long receiver_take(struct received r, struct str secret);

/* Copies the newest `max` into `list`, newest first, and their texts into the arena. Returns their number. */
size_t receiver_list(struct arena *arena, struct received *list, size_t max);
